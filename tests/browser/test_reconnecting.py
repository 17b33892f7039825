"""The server goes and comes back, the page recovers by itself (seed §15.2)."""

from playwright.sync_api import expect

from tests.browser.conftest import Keep, Open, ended
from tests.browser.definitions import showcase
from tests.browser.served import Served

RECONNECTING = "Reconnecting…"
POLLING = "The network is unstable: updating every 30 seconds"


def test_a_server_that_stops_for_a_moment_is_found_again(served: Served, open_page: Open, keep: Keep) -> None:
    served.save(showcase(delay=1000, ask=False))
    page = open_page(f"/ui/runs/{served.start_run('showcase', topic='tea')}")
    expect(page.locator("[data-node=study]")).to_be_visible()
    served.stop()
    banner = page.get_by_text(RECONNECTING)
    expect(banner).to_be_visible()
    expect(page.locator("[data-node=in]")).to_be_visible()
    keep(page, "run-reconnecting")
    served.start()
    ended(page)
    expect(banner).to_have_count(0)
    expect(page.locator("[data-node]").filter(has=page.locator("h3"))).to_have_count(6)


def test_a_server_that_stays_away_is_asked_for_every_30_seconds(served: Served, open_page: Open, keep: Keep) -> None:
    served.save(showcase())
    page = open_page("/ui", key=None)
    page.clock.install()
    run_id = served.start_run("showcase", topic="tea")
    page.goto(f"{served.url}/ui/runs/{run_id}?viewToken={served.view_token(run_id, resume=True)}")
    dock = page.get_by_role("complementary", name="Your answer is needed")
    expect(dock).to_be_visible()
    served.stop()
    banner = page.get_by_text(POLLING)
    while banner.count() == 0:
        page.clock.run_for(500)
    keep(page, "run-polling")
    served.start()
    while banner.count() > 0:
        page.clock.run_for(1000)
    dock.get_by_label("v1.0（生产 · production）").check()
    dock.get_by_role("button", name="Confirm").click()
    while page.locator("[data-run-status=completed]").count() == 0:
        page.clock.run_for(200)
