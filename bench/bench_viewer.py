"""The run viewer in Chromium: how much script a run's page loads, and how long 5,000 events take to a page at rest."""

import json
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import viewer_run as run
from measuring import Times, median_ms, percentile_ms
from playwright.sync_api import Browser, sync_playwright
from report import Column, Goal, Section
from starlette.applications import Starlette
from starlette.testclient import TestClient

from stepweave.api.viewer import Viewer

LIMIT_MS, LIMIT_KB = 1500, 250
_FLAGS = ("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run")
_AT_REST = """(visits) => new Promise((done) => {
  const shown = () => document.querySelectorAll('[data-visit][data-status=completed]').length === visits
  let still = 0
  const look = (before) => requestAnimationFrame(() => {
    const now = document.getElementsByTagName('*').length
    still = shown() && now === before ? still + 1 : 0
    if (still === 3) done(performance.now())
    else look(now)
  })
  look(0)
})"""
"""Milliseconds since the navigation began until three frames in a row have changed nothing."""


def measure(turns: int) -> Section:
    times = Times()
    kilobytes = 0.0
    with _served() as url, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=_FLAGS)
        for turn in range(-1, turns):
            took, kilobytes = _load(browser, url)
            if turn >= 0:
                times.wall.append(took / 1000)
        browser.close()
    took = median_ms(times.wall)
    return Section(
        "viewer",
        f"The run viewer, {run.EVENTS:,} events of {run.VISITS} visits, from the navigation to a page at rest, ms",
        [
            Column("what", "", "text"),
            Column("wall", "median"),
            Column("p99", "p99"),
            Column("script", "script, KB gzip", "count"),
        ],
        rows=[{"what": "first load of a run", "wall": took, "p99": percentile_ms(times.wall, 99), "script": kilobytes}],
        goals=[
            Goal("replaying the run to a page at rest", took, LIMIT_MS, " ms"),
            Goal("script of the first load", kilobytes, LIMIT_KB, " KB"),
        ],
    )


def _load(browser: Browser, url: str) -> tuple[float, float]:
    """Milliseconds, and kilobytes of compressed script; nothing is cached before."""
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    page = context.new_page()
    sizes: list[int] = []
    page.on(
        "response",
        lambda answer: sizes.append(int(answer.headers["content-length"])) if answer.url.endswith(".js") else None,
    )
    page.goto(f"{url}/ui/runs/{run.RUN_ID}?viewToken=bench", wait_until="commit")
    took = float(page.evaluate(_AT_REST, run.VISITS))
    context.close()
    return took, sum(sizes) / 1000


@contextmanager
def _served() -> Iterator[str]:
    """The built files by the code that serves them, and canned answers of the API."""
    files = TestClient(Starlette(routes=Viewer([]).routes()))
    path = f"/api/v1/runs/{run.RUN_ID}"
    canned: dict[str, tuple[str, bytes]] = {
        f"{path}/graph": _answer(run.graph()),
        f"{path}/state": _answer(run.state()),
        f"/api/v1/workflows/long/runs/{run.RUN_ID}": _answer(run.result()),
        f"{path}/stream": ("text/event-stream", run.stream()),
    }

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            bare = self.path.partition("?")[0]
            if bare in canned:
                kind, content = canned[bare]
                headers = {"Content-Type": kind}
                status = 200
            else:
                with files.stream("GET", bare, headers={"Accept-Encoding": "gzip"}) as answer:
                    status, content = answer.status_code, b"".join(answer.iter_raw())
                    headers = {n: v for n, v in answer.headers.items() if n != "content-length"}
            self.send_response(status)
            for name, value in {**headers, "Content-Length": str(len(content))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _answer(data: Any) -> tuple[str, bytes]:
    return "application/json", json.dumps({"code": "OK", "message": "", "data": data}).encode()
