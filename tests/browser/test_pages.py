"""Workflows, start form, history and definitions, by an API key that stays in its tab (contract §4)."""

import json

from playwright.sync_api import expect

from tests.browser.conftest import Keep, Open, ended
from tests.browser.definitions import showcase
from tests.browser.served import Served
from tests.functional.api.definitions import echo, failing


def test_a_key_is_asked_for_and_kept_in_the_tab_alone(served: Served, open_page: Open, keep: Keep) -> None:
    served.save(echo())
    page = open_page("/ui/workflows/echo", key=None)
    urls: list[str] = []
    page.on("request", lambda request: urls.append(request.url))
    field = page.get_by_label("API key")
    field.fill("sw-wrong")
    page.get_by_role("button", name="Continue").click()
    expect(page.get_by_role("alert")).to_contain_text("the API key is missing or not valid")
    keep(page, "key")
    field.fill(served.stack.key)
    field.press("Enter")
    expect(page.get_by_role("heading", name="Start a run")).to_be_visible()
    assert not [url for url in [*urls, page.url] if served.stack.key in url]
    assert served.stack.key not in page.evaluate("JSON.stringify([{...localStorage}, document.cookie])")
    page.get_by_role("button", name="Sign out").click()
    expect(field).to_be_visible()
    assert page.evaluate("sessionStorage.length") == 0


def test_a_workflow_is_found_and_started_with_inputs_and_files(served: Served, open_page: Open, keep: Keep) -> None:
    served.save(showcase(ask=False))
    served.save(echo())
    page = open_page("/ui")
    expect(page.locator(".workflows li")).to_have_count(2)
    page.get_by_label("Search").fill("Showcase")
    expect(page.locator(".workflows li")).to_have_count(1)
    keep(page, "workflows")
    page.get_by_role("link", name="展示 · Showcase").click()
    submit = page.get_by_role("button", name="Start a run")
    page.get_by_label("count").fill("many")
    submit.click()
    expect(page.get_by_text("This is required")).to_be_visible()
    expect(page.get_by_text("This must be a number")).to_be_visible()
    expect(page.get_by_label("topic")).to_be_focused()
    keep(page, "start-form")
    page.get_by_label("topic").fill("tea")
    page.get_by_label("count").fill("7")
    page.get_by_label("tags").fill('["a"]')
    files = [{"name": "leaf.txt", "mimeType": "text/plain", "buffer": b"green"}]
    page.locator("input[type=file]").first.set_input_files(files)  # type: ignore[arg-type]
    page.get_by_label("Path of leaf.txt in the workspace").fill("data/leaf.txt")
    page.get_by_label("source").select_option("data/leaf.txt")
    submit.click()
    ended(page)
    told = page.locator("[data-node=in] [data-panel=output]")
    for value in ("tea", "7", "data/leaf.txt"):
        expect(told).to_contain_text(value)
    expect(page.get_by_role("region", name="Workspace files")).to_contain_text("data/leaf.txt")


def test_the_runs_of_a_workflow_are_filtered_and_lead_to_their_pages(
    served: Served, open_page: Open, keep: Keep
) -> None:
    served.save(failing())
    failed = served.start_run("failing")
    created = served.call("POST", "/api/v1/workflows/failing/runs", {"variables": {}})["runId"]
    page = open_page(f"/ui/runs/{failed}")
    ended(page, "failed")
    page.goto(f"{served.url}/ui/workflows/failing/runs")
    rows = page.locator(".history tbody tr")
    expect(rows).to_have_count(2)
    page.get_by_label("Status").select_option(label="Created")
    expect(rows).to_have_count(1)
    expect(rows).to_contain_text(created)
    page.get_by_label("Status").select_option(label="Failed")
    expect(rows).to_contain_text("no luck")
    keep(page, "history")
    rows.get_by_role("link").click()
    ended(page, "failed")
    page.go_back()
    expect(page.get_by_role("link", name="Runs", exact=True)).to_have_attribute("aria-current", "page")


def test_problems_of_a_definition_stand_on_the_graph_and_a_good_one_is_the_next_version(
    served: Served, open_page: Open, keep: Keep
) -> None:
    served.save(showcase())
    page = open_page("/ui/workflows/showcase/definition")
    source = page.get_by_label("Definition", exact=True)
    definition = json.loads(source.input_value())
    save = page.get_by_role("button", name="Save as a new version")
    expect(save).to_be_disabled()
    source.fill("{")
    expect(page.get_by_role("status")).to_contain_text("This is not JSON")
    broken = json.loads(json.dumps(definition))
    broken["graphData"]["nodes"][1]["type"] = "agnet"
    source.fill(json.dumps(broken))
    expect(page.locator("[data-graph-node=study]")).to_contain_text("! 1")
    expect(page.get_by_role("region", name="1 problems")).to_contain_text("agnet")
    keep(page, "definition-problems")
    save.click()
    expect(page.get_by_role("alert")).to_contain_text("1 problem")
    definition["title"] = "Another title"
    source.fill(json.dumps(definition))
    save.click()
    expect(page.get_by_role("status")).to_contain_text("Saved as version 2")
    page.get_by_label("version").select_option("1")
    expect(source).to_have_value(json.dumps(json.loads(json.dumps(showcase())), indent=2, ensure_ascii=False))
    assert served.call("GET", "/api/workflows/showcase", admin=True)["title"] == "Another title"


def test_a_definition_needs_a_key_of_scope_admin(served: Served, open_page: Open) -> None:
    served.save(echo())
    page = open_page("/ui/workflows/echo/definition", key=served.stack.key)
    expect(page.get_by_role("alert")).to_contain_text("scope admin")


def test_language_and_theme_are_chosen_and_remembered(served: Served, open_page: Open) -> None:
    page = open_page("/ui")
    page.get_by_label("Language").select_option("zh")
    expect(page.get_by_role("heading", name="工作流")).to_be_visible()
    page.get_by_label("主题").select_option("dark")
    page.reload()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    expect(page.locator("html")).to_have_attribute("lang", "zh-CN")


def test_the_first_load_of_a_run_is_light(served: Served, open_page: Open) -> None:
    """Under 250 KB of compressed script; formulas and the editor are loaded by those who need them."""
    served.save(echo())
    page = open_page("/ui", key=None)
    scripts: dict[str, int] = {}

    def loaded(response: "object") -> None:
        if response.url.endswith(".js"):
            scripts[response.url.rsplit("/", 1)[1]] = int(response.headers["content-length"])

    page.on("response", loaded)
    run_id = served.start_run("echo", topic="tea")
    page.evaluate(f"sessionStorage.setItem('stepweave.key', '{served.stack.key}')")
    page.goto(f"{served.url}/ui/runs/{run_id}")
    ended(page)
    expect(page.locator("[data-graph-node=out]")).to_be_visible()
    assert 50_000 < sum(scripts.values()) < 250_000, scripts
    assert not [name for name in scripts if name.startswith(("katex", "Definition", "Workflow"))]
