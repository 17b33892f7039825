"""A real browser, once for all tests: Chromium as the system has it, driven by Playwright."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from stepweave.api.viewer import BUILT
from tests.browser.served import Served
from tests.functional.api.stack import Stack

ARTEFACTS = Path(__file__).parents[2] / ".tools" / "screenshots"
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
CHROMIUMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")

Open = Callable[..., Page]
Keep = Callable[[Page, str], None]

PATIENCE = 30_000
"""Milliseconds after which a test gives up, on a machine that is busy."""

expect.set_options(timeout=PATIENCE)


def ended(page: Page, status: str = "completed") -> None:
    """Waits until the page shows that its run has ended."""
    expect(page.locator(f"[data-run-status={status}]")).to_be_visible()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """One browser, so one process; and none for the quick tests."""
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.xdist_group("browser"))
            item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    program = next(filter(None, map(shutil.which, CHROMIUMS)), None)
    assert program, "no Chromium is on the path: install it (Debian: apt-get install chromium)"
    assert (BUILT / "index.html").is_file(), "the run viewer is not built: run `make viewer`"
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=program, args=FLAGS)
        yield opened
        opened.close()


@pytest.fixture
def settings() -> dict[str, Any]:
    """Those of the deployment that a test sets otherwise."""
    return {}


@pytest.fixture
def served(settings: dict[str, Any]) -> Iterator[Served]:
    stack = Stack(**settings)
    served = Served(stack)
    served.start()
    with stack.driven():
        yield served
    served.close()


@pytest.fixture
def open_page(browser: Browser, served: Served) -> Iterator[Open]:
    """`open_page(path, …)`: a new tab there, with a key unless `key=None`; other options are those of the context.

    A test ends with a failure where a page has thrown an error.
    """
    contexts: list[BrowserContext] = []
    faults: list[str] = []

    def opened(path: str, *, key: str | None = "admin", **options: Any) -> Page:
        context = browser.new_context(
            **{"viewport": {"width": 1280, "height": 800}, "locale": "en-US", "reduced_motion": "reduce", **options}
        )
        contexts.append(context)
        if key is not None:
            secret = served.stack.admin_key if key == "admin" else key
            context.add_init_script(f"sessionStorage.setItem('stepweave.key', '{secret}')")
        page = context.new_page()
        page.set_default_timeout(PATIENCE)
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.goto(served.url + path)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert faults == []


@pytest.fixture
def keep() -> Keep:
    """Keeps a picture of a page, for people to look at."""

    def kept(page: Page, name: str) -> None:
        ARTEFACTS.mkdir(parents=True, exist_ok=True)
        page.screenshot(path=ARTEFACTS / f"{name}.png", full_page=True)

    return kept
