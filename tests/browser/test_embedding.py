"""The page of a run inside a page of another origin (contract §4, seed §17.1)."""

from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Keep, Open
from tests.browser.definitions import showcase
from tests.browser.served import Served
from tests.builders.listening import on_loopback

PARENT = """<!doctype html><title>parent</title><iframe width="900" height="600"></iframe><script>
  window.heard = []
  addEventListener('message', (event) => window.heard.push({origin: event.origin, ...event.data}))
</script>"""


class Parent:
    """Another origin: the same machine under another name."""

    def __init__(self, url: str) -> None:
        self.url = url.replace("127.0.0.1", "localhost")


class Page(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(PARENT.encode())

    def log_message(self, *_: object) -> None:
        return


@pytest.fixture
def parent() -> Iterator[Parent]:
    with on_loopback(Page, Parent) as listening:
        yield listening


@pytest.fixture
def settings(parent: Parent, request: pytest.FixtureRequest) -> dict[str, Any]:
    return {"embed_origins": getattr(request, "param", parent.url)}


def embed(served: Served, open_page: Open, parent: Parent, token: str, run_id: str) -> Any:
    page = open_page("/ui", key=None)
    page.goto(parent.url)
    address = f"{served.url}/ui/runs/{run_id}?embed=1&viewToken={token}"
    page.evaluate("(address) => { document.querySelector('iframe').src = address }", address)
    return page


def test_a_run_is_followed_and_answered_in_a_frame(served: Served, open_page: Open, parent: Parent, keep: Keep) -> None:
    served.save(showcase())
    run_id = served.start_run("showcase", topic="tea")
    page = embed(served, open_page, parent, served.view_token(run_id, resume=True), run_id)
    frame = page.frame_locator("iframe")
    dock = frame.get_by_role("complementary", name="Your answer is needed")
    expect(dock).to_be_visible()
    for place in ("banner", "navigation"):
        expect(frame.get_by_role(place)).to_have_count(0)  # type: ignore[arg-type]
    expect(frame.get_by_role("button", name="Cancel", exact=True)).to_have_count(0)
    keep(page, "embedded")
    page.wait_for_function("heard.some(({type, waiting}) => type === 'stepweave:state' && waiting === 1)")
    dock.get_by_label("v1.0（生产 · production）").check()
    dock.get_by_role("button", name="Confirm").click()
    page.wait_for_function("heard.some(({status}) => status === 'completed')")
    heard = page.evaluate("heard")
    assert {message["origin"] for message in heard} == {served.url}
    assert {message["runId"] for message in heard if message["type"] == "stepweave:state"} == {run_id}
    heights = [message["height"] for message in heard if message["type"] == "stepweave:height"]
    assert max(heights) > 600


def test_a_fresh_token_from_the_parent_opens_the_page_again(served: Served, open_page: Open, parent: Parent) -> None:
    served.save(showcase(ask=False))
    run_id = served.start_run("showcase", topic="tea")
    page = embed(served, open_page, parent, "0" * 48, run_id)
    page.wait_for_function("heard.some(({type}) => type === 'stepweave:token-expired')")
    page.evaluate(
        "([viewToken, origin]) => frames[0].postMessage({type: 'stepweave:token', viewToken}, origin)",
        [served.view_token(run_id), served.url],
    )
    expect(page.frame_locator("iframe").locator("[data-run-status=completed]")).to_be_visible()


@pytest.mark.parametrize("settings", [None, "https://portal.example.com"], indirect=True)
def test_who_is_not_named_cannot_frame_it_and_hears_nothing(served: Served, open_page: Open, parent: Parent) -> None:
    served.save(showcase(ask=False))
    run_id = served.start_run("showcase", topic="tea")
    page = open_page("/ui", key=None)
    page.goto(parent.url)
    address = f"{served.url}/ui/runs/{run_id}?embed=1&viewToken={served.view_token(run_id)}"
    with page.expect_event("console", lambda told: "frame-ancestors" in told.text):
        page.evaluate("(address) => { document.querySelector('iframe').src = address }", address)
    expect(page.frame_locator("iframe").locator("[data-run-status]")).to_have_count(0)
    assert page.evaluate("heard") == []


def test_a_token_that_may_only_look_cannot_answer(served: Served, open_page: Open) -> None:
    served.save(showcase())
    run_id = served.start_run("showcase", topic="tea")
    page = open_page(f"/ui/runs/{run_id}?viewToken={served.view_token(run_id)}", key=None)
    dock = page.get_by_role("complementary", name="Your answer is needed")
    dock.get_by_label("v1.0（生产 · production）").check()
    dock.get_by_role("button", name="Confirm").click()
    expect(dock.get_by_role("alert")).to_contain_text("may look at the run, not answer")
