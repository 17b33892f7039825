"""axe finds no serious problem on any page, light or dark, wide or narrow; and the keyboard reaches everything."""

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Keep, Open, ended
from tests.browser.definitions import showcase
from tests.browser.served import Served

AXE = Path(__file__).parents[2] / "web" / "node_modules" / "axe-core" / "axe.min.js"
PHONE: dict[str, Any] = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
WIDE: dict[str, Any] = {"viewport": {"width": 1920, "height": 1080}}
LOOKS: list[Any] = [
    pytest.param({**WIDE, "color_scheme": "light"}, id="wide-light"),
    pytest.param({**PHONE, "color_scheme": "dark", "locale": "zh-CN"}, id="phone-dark"),
]


def problems(page: Page) -> list[str]:
    page.evaluate(AXE.read_text(encoding="utf-8"))
    violations = page.evaluate("axe.run(document, {resultTypes: ['violations']}).then(({violations}) => violations)")
    return [
        f"{each['id']}: {node['html'][:160]} {node['failureSummary'][:200]}"
        for each in violations
        if each["impact"] in ("serious", "critical")
        for node in each["nodes"]
    ]


@pytest.mark.parametrize("look", LOOKS)
def test_axe_finds_nothing_serious(
    served: Served, open_page: Open, keep: Keep, look: dict[str, Any], request: pytest.FixtureRequest
) -> None:
    served.save(showcase())
    name = request.node.callspec.id
    page = open_page(f"/ui/runs/{served.start_run('showcase', topic='tea')}", **look)
    dock = page.locator(".sw-dock")
    expect(dock).to_be_visible()
    keep(page, f"{name}-waiting")
    assert problems(page) == []
    dock.get_by_role("radio").first.check()
    dock.locator("button[type=submit]").click()
    ended(page)
    page.locator("[data-node=study] h3 button").click()
    for panel in page.locator("[data-node=study] .sw-fold-head").all():
        panel.click()
    expect(page.locator("[data-panel=variables] table").last).to_be_visible()
    expect(page.locator("[data-panel=run-output] .katex").first).to_be_visible()
    keep(page, f"{name}-completed")
    assert problems(page) == []
    for path, ready in (
        ("", ".workflows li"),
        ("/workflows/showcase", ".start"),
        ("/workflows/showcase/runs", ".history"),
    ):
        page.goto(f"{served.url}/ui{path}")
        expect(page.locator(ready).first).to_be_visible()
        keep(page, f"{name}-{path.replace('/', '-') or 'home'}")
        assert problems(page) == []
    page.goto(f"{served.url}/ui/workflows/showcase/definition")
    expect(page.locator("[data-graph-node=out]")).to_be_visible()
    keep(page, f"{name}-definition")
    assert problems(page) == []


def test_on_touch_every_target_is_large_enough(served: Served, open_page: Open) -> None:
    served.save(showcase())
    page = open_page(f"/ui/runs/{served.start_run('showcase', topic='tea')}", **PHONE)
    expect(page.locator(".sw-dock")).to_be_visible()
    small = page.evaluate("""() => [...document.querySelectorAll('button, select, .sw-ask-option, .sw-field, a')]
      .filter((element) => !element.closest('.vue-flow') && element.getClientRects().length > 0)
      .filter((element) => element.getBoundingClientRect().height < 43.5)
      .map((element) => element.outerHTML.slice(0, 120))""")
    assert small == []


def test_no_width_scrolls_sideways(served: Served, open_page: Open) -> None:
    served.save(showcase(ask=False))
    page = open_page(f"/ui/runs/{served.start_run('showcase', topic='tea')}")
    ended(page)
    expect(page.locator("[data-graph-node=out]")).to_be_attached()
    for width in (320, 390, 768, 1080, 1920):
        page.set_viewport_size({"width": width, "height": 800})
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), width


def test_a_question_is_answered_by_the_keyboard_alone(served: Served, open_page: Open) -> None:
    served.save(showcase())
    page = open_page(f"/ui/runs/{served.start_run('showcase', topic='tea')}")
    answer = page.locator("[data-node=study]").get_by_role("button", name="Answer")
    answer.focus()
    page.keyboard.press("Enter")
    first = page.locator(".sw-dock").get_by_role("radio").first
    expect(first).to_be_focused()
    page.keyboard.press("Space")
    page.keyboard.press("Enter")
    ended(page)
    expect(page.locator("[data-node=study]")).to_contain_text("Answered: v1")
