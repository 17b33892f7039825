"""Whatever a model writes does nothing: no request leaves, no dialog opens, nothing is left that could act."""

from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page, expect

from tests.browser import hostile
from tests.browser.conftest import Keep, Open, ended
from tests.browser.served import Served
from tests.functional.api.definitions import definition, scripted

DANGERS = """() => {
  const allowed = new Set(['align', 'alt', 'class', 'colspan', 'href', 'rowspan', 'src', 'start', 'target', 'rel', 'title'])
  const found = []
  for (const box of document.querySelectorAll('.sw-markdown')) {
    for (const element of box.querySelectorAll('*')) {
      if (element.closest('.katex, .katex-error')) continue
      const name = element.localName
      if (/^(script|style|svg|math|form|input|button|select|iframe|object|embed|link|meta|base|video|audio|template|font)$/.test(name))
        found.push(name)
      for (const { name: attribute, value } of element.attributes)
        if (!allowed.has(attribute) && !(attribute === 'tabindex' && element.matches('pre, .sw-table, .math-block')))
          found.push(`${name} ${attribute}=${value}`)
      if (element.matches('[class~=sw-dock], [class~=topbar], [class~=gate]')) found.push(element.className)
    }
    for (const link of box.querySelectorAll('a[href]'))
      if (!/^(https?:|mailto:)/.test(link.href) || link.rel !== 'noopener noreferrer nofollow') found.push(link.outerHTML)
    for (const image of box.querySelectorAll('img')) if (!image.src.startsWith('data:image/')) found.push(image.outerHTML)
    for (const formula of box.querySelectorAll('.katex a, .katex img, .katex [id], .katex [data-a]')) found.push(formula.outerHTML)
  }
  return found
}"""


def everywhere(name: str) -> dict[str, object]:
    """The hostile text as thinking, output, label, description, tool result, to-do, question and option."""
    turns = [
        [
            {"thinking": hostile.TEXT},
            {"todo": [{"text": "<img src=x onerror=window.pwned=1>", "status": "<b>"}]},
            {"tool": {"name": "write_file", "args": {"path": "<img src=x onerror=window.pwned=1>.md", "content": "x"}}},
        ],
        [
            {
                "ask": {
                    "question": hostile.TEXT,
                    "options": [{"label": "<img src=x onerror=window.pwned=1>", "value": "a"}],
                }
            }
        ],
        [{"text": hostile.TEXT}],
    ]
    agent = {
        "type": "agent",
        "label": "<img src=x onerror=window.pwned=1>",
        "model": "scripted:inline",
        "prompt": "go",
        "tools": ["todo", "write_file"],
        "script": turns,
    }
    nodes = {"in": {"type": "userInput"}, "bad": agent, "out": {"type": "output"}}
    return definition(name, nodes, [("in", "bad"), ("bad", "out")], title="<img src=x onerror=window.pwned=1>")


def watched(page: Page, served: Served) -> list[str]:
    """What must not happen, as it happens."""
    seen: list[str] = []
    own = urlsplit(served.url).netloc

    def request(url: str) -> None:
        if urlsplit(url).scheme not in ("data", "blob") and urlsplit(url).netloc != own:
            seen.append(url)

    page.on("request", lambda told: request(told.url))
    page.on("dialog", lambda dialog: (seen.append(dialog.message), dialog.dismiss()))
    page.on("popup", lambda popup: seen.append(popup.url))
    return seen


@pytest.mark.parametrize("bypass_csp", [False, True], ids=["as it is served", "by the sanitiser alone"])
def test_hostile_text_does_nothing(served: Served, open_page: Open, keep: Keep, bypass_csp: bool) -> None:
    served.save(everywhere("hostile"))
    page = open_page("/ui", bypass_csp=bypass_csp)
    seen = watched(page, served)
    run_id = served.start_run("hostile")
    page.goto(f"{served.url}/ui/runs/{run_id}")
    dock = page.get_by_role("complementary", name="Your answer is needed")
    expect(dock.get_by_text("left open")).to_be_attached()
    assert page.evaluate(DANGERS) == []
    dock.get_by_role("radio").check()
    dock.get_by_role("button", name="Confirm").click()
    ended(page)
    page.get_by_role("button", name="Expand all").click()
    visit = page.locator("[data-node=bad]")
    for name in ("Thinking", "To do", "Tool calls", "Log", "Variables and snapshot"):
        visit.get_by_role("button", name=name).click()
    expect(visit.locator("[data-panel=variables] table").last).to_be_visible()
    more = page.get_by_role("button", name="Show all")
    while more.count() > 0:
        more.first.click()
    expect(page.locator("[data-panel=run-output] .katex").first).to_be_visible()
    assert page.evaluate(DANGERS) == []
    assert page.evaluate("window.pwned") is None
    assert page.url == f"{served.url}/ui/runs/{run_id}"
    assert seen == []
    keep(page, "hostile")


def test_text_stays_inside_its_box(served: Served, open_page: Open) -> None:
    """What is wide or tall is cut or scrolls, and never covers what is ours."""
    served.save(
        definition(
            "wide",
            {
                "in": {"type": "userInput"},
                "say": scripted(hostile.TEXT + "\n\n" + "W" * 5000),
                "out": {"type": "output"},
            },
            [("in", "say"), ("say", "out")],
        )
    )
    page = open_page(f"/ui/runs/{served.start_run('wide')}", viewport={"width": 390, "height": 844})
    ended(page)
    expect(page.locator("[data-panel=run-output] .katex").first).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def test_a_page_of_ours_cannot_be_made_to_load_from_elsewhere(served: Served, open_page: Open) -> None:
    """The policy holds by itself, should the sanitiser ever miss something."""
    page = open_page("/ui", key=None)
    blocked = page.evaluate(
        """async (stranger) => {
      const blocked = []
      document.addEventListener('securitypolicyviolation', (event) => blocked.push(event.effectiveDirective))
      const image = new Image()
      image.src = stranger + '/i.png'
      await fetch(stranger).catch(() => null)
      try { document.body.insertAdjacentHTML('beforeend', '<img>') } catch { blocked.push('trusted-types') }
      await new Promise((done) => setTimeout(done, 50))
      return blocked
    }""",
        hostile.STRANGER,
    )
    assert {"img-src", "connect-src", "trusted-types"} <= set(blocked)
