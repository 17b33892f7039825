"""The page of a run: every panel fills while the run goes on, and a question is answered there (seed §13, §14)."""

from playwright.sync_api import Route, expect

from tests.browser.conftest import Keep, Open, ended
from tests.browser.definitions import showcase
from tests.browser.served import Served
from tests.functional.api.definitions import definition, failing, scripted


def test_panels_fill_a_question_is_answered_and_the_run_ends(served: Served, open_page: Open, keep: Keep) -> None:
    served.save(showcase(delay=150))
    run_id = served.start_run("showcase", topic="tea")
    page = open_page(f"/ui/runs/{run_id}")
    visit = page.locator("[data-node=study]")
    expect(visit.locator("[data-panel=thinking] .sw-markdown strong")).to_have_text("有什么")
    expect(page.locator("[data-graph-node=study]")).to_have_attribute("data-status", "waiting")
    expect(visit.locator("[data-panel=todo] li")).to_have_count(3)
    expect(visit.locator("[data-panel=tools] .sw-call-name")).to_have_text(
        ["todo", "list_files", "write_file", "clarify"]
    )
    expect(visit.locator("[data-panel=tools] .sw-call").nth(2)).to_contain_text('"bytes": 6')
    expect(visit.locator("[data-panel=log] li").first).to_be_visible()
    expect(page.locator("[data-graph-node=polish]")).to_have_attribute("data-status", "pending")
    dock = page.get_by_role("complementary", name="Your answer is needed")
    expect(dock.locator("strong")).to_have_text("哪一版？")
    confirm = dock.get_by_role("button", name="Confirm")
    expect(confirm).to_be_disabled()
    keep(page, "run-waiting")

    dock.get_by_label("v2.0（测试 · test）").check()
    confirm.click()
    ended(page)
    expect(dock).to_have_count(0)
    expect(visit).to_contain_text("Answered: v2")
    # Folded by themselves at the end, but for the output (seed §13.4).
    for name in ("thinking", "todo", "tools", "log"):
        expect(visit.locator(f"[data-panel={name}]")).to_have_count(0)
    expect(visit.locator("[data-panel=output] table td").first).to_have_text("green")
    expect(visit.locator("[data-panel=output] .hljs-keyword").first).to_have_text("def")
    expect(visit.locator("[data-panel=output] .katex").first).to_be_visible()
    expect(page.locator("[data-panel=run-output]")).to_contain_text("Polished.")
    expect(page.locator("[data-graph-node=extend]")).to_have_attribute("data-status", "skipped")
    expect(page.get_by_role("region", name="Workspace files")).to_contain_text("notes/tea.md")
    keep(page, "run-completed")


def test_a_reload_in_the_middle_restores_everything(served: Served, open_page: Open) -> None:
    served.save(showcase())
    page = open_page(f"/ui/runs/{served.start_run('showcase', topic='tea')}")
    dock = page.get_by_role("complementary", name="Your answer is needed")
    expect(dock).to_be_visible()
    page.reload()
    expect(dock.get_by_label("v1.0（生产 · production）")).to_be_visible()
    expect(page.locator("[data-node=study] [data-panel=todo] li")).to_have_count(3)
    dock.get_by_label("Your own answer").fill("v3")
    dock.get_by_label("Your own answer").press("Enter")
    ended(page)
    page.reload()
    ended(page)
    expect(page.locator("[data-node=study]")).to_contain_text("Answered: v3")


def test_a_question_that_was_answered_elsewhere_counts_as_answered(served: Served, open_page: Open) -> None:
    served.save(showcase())
    page = open_page(f"/ui/runs/{served.start_run('showcase', topic='tea')}")
    dock = page.get_by_role("complementary", name="Your answer is needed")
    dock.get_by_label("v1.0（生产 · production）").check()
    answered = '{"code": "CLARIFY_ALREADY_ANSWERED", "message": "answered already", "data": null}'

    def elsewhere(route: Route) -> None:
        route.fetch()
        route.fulfill(status=409, body=answered, content_type="application/json")

    page.route("**/resume", elsewhere)
    dock.get_by_role("button", name="Confirm").click()
    ended(page)
    expect(page.get_by_text("answered already")).to_have_count(0)


def test_an_answer_that_does_not_arrive_can_be_sent_again(served: Served, open_page: Open) -> None:
    served.save(showcase())
    page = open_page(f"/ui/runs/{served.start_run('showcase', topic='tea')}")
    dock = page.get_by_role("complementary", name="Your answer is needed")
    dock.get_by_label("v1.0（生产 · production）").check()
    page.route("**/resume", lambda route: route.abort(), times=1)
    dock.get_by_role("button", name="Confirm").click()
    expect(dock.get_by_role("alert")).to_be_visible()
    dock.get_by_role("button", name="Confirm").click()
    ended(page)


def test_what_a_person_opens_stays_open_and_shows_the_snapshot(served: Served, open_page: Open, keep: Keep) -> None:
    served.save(showcase(ask=False))
    page = open_page(f"/ui/runs/{served.start_run('showcase', topic='tea')}")
    ended(page)
    visit = page.locator("[data-node=study]")
    head = visit.locator("h3 button")
    expect(head).to_have_attribute("aria-expanded", "false")
    head.press("Enter")
    expect(head).to_have_attribute("aria-expanded", "true")
    thinking = visit.get_by_role("button", name="Thinking")
    expect(thinking).to_have_attribute("aria-expanded", "false")
    thinking.click()
    expect(visit.locator(".sw-thinking")).to_contain_text("Now write it down.")
    visit.get_by_role("button", name="Variables and snapshot").click()
    rows = visit.locator("[data-panel=variables] table").last.locator("tr")
    expect(rows.filter(has_text="topic")).to_contain_text("tea")
    expect(rows.filter(has_text="report").locator("details")).to_have_count(1)
    keep(page, "run-opened")


def test_the_graph_leads_to_the_visits_of_a_node(served: Served, open_page: Open) -> None:
    served.save(showcase(ask=False))
    page = open_page(f"/ui/runs/{served.start_run('showcase', topic='tea')}")
    ended(page)
    page.get_by_role("button", name="报告 · Report output Done").click()
    visit = page.locator("[data-node=out]")
    expect(visit).to_be_in_viewport()
    expect(visit.locator("h3 button")).to_be_focused()
    expect(visit.locator("h3 button")).to_have_attribute("aria-expanded", "true")


def test_a_failed_run_names_its_error_and_its_node(served: Served, open_page: Open, keep: Keep) -> None:
    served.save(failing())
    page = open_page(f"/ui/runs/{served.start_run('failing')}")
    ended(page, "failed")
    alert = page.get_by_role("alert")
    expect(alert).to_contain_text("no luck")
    alert.get_by_role("button", name="Failed at: bad").click()
    expect(page.locator("[data-node=bad] h3 button")).to_be_focused()
    keep(page, "run-failed")


def test_a_run_is_cancelled_from_its_page(served: Served, open_page: Open) -> None:
    served.save(showcase())
    page = open_page(f"/ui/runs/{served.start_run('showcase', topic='tea')}")
    page.once("dialog", lambda dialog: dialog.accept())
    page.get_by_role("button", name="Cancel", exact=True).click()
    ended(page, "failed")
    expect(page.get_by_role("alert")).to_contain_text("The run was cancelled")
    expect(page.get_by_role("complementary", name="Your answer is needed")).to_have_count(0)


def test_visits_of_one_node_are_kept_apart_and_decisions_stand_in_a_chain(
    served: Served, open_page: Open, keep: Keep
) -> None:
    decisions = [{"next": "look", "reason": f"round {number}", "isFinal": False} for number in (1, 2, 3)]
    script = [[{"decide": decision}] for decision in [*decisions, {"next": "out", "reason": "enough", "isFinal": True}]]
    nodes = {"in": {"type": "userInput"}, "look": scripted("seen", label="Look"), "out": {"type": "output"}}
    loop = definition("loop", nodes, [("in", "look"), ("look", "out")], mode="AGENTIC")
    served.save(loop | {"planner": {"model": "scripted:inline", "instructions": "go", "script": script}})
    page = open_page(f"/ui/runs/{served.start_run('loop')}")
    ended(page)
    expect(page.locator("[data-node=look] h3")).to_have_count(3)
    expect(page.locator("[data-node=look] .sw-visit-number")).to_have_text(["visit 1", "visit 2", "visit 3"])
    expect(page.get_by_role("button", name="Look llm ×3 Done")).to_be_visible()
    chain = page.locator("[data-panel=chain] li")
    expect(chain).to_have_count(4)
    expect(chain.nth(1)).to_contain_text("round 2")
    chain.nth(1).get_by_role("button", name="Look").click()
    expect(page.locator("[data-node=look]").nth(1).locator("h3 button")).to_be_focused()
    keep(page, "run-agentic")


def test_the_zip_of_the_workspace_is_asked_for_without_a_key_in_an_address(served: Served, open_page: Open) -> None:
    served.save(showcase(ask=False))
    page = open_page(f"/ui/runs/{served.start_run('showcase', topic='tea')}")
    ended(page)
    with page.expect_request("**/workspace?redirect=false") as asked:
        page.get_by_role("button", name="Download zip").click()
    assert asked.value.headers["x-api-key"] == served.stack.admin_key
    assert served.stack.admin_key not in asked.value.url
