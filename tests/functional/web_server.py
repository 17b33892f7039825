"""A web server on loopback that answers each path as a test tells it to."""

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any

from tests.builders.listening import on_loopback

Answer = Callable[[BaseHTTPRequestHandler], None]


@dataclass
class WebServer:
    """`requests` are the paths asked for, `headers` what came with them; `closing` ends what an answer waits for."""

    base_url: str
    answers: Mapping[str, Answer]
    requests: list[str] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    closing: threading.Event = field(default_factory=threading.Event)


@contextmanager
def web_server(answers: Mapping[str, Answer]) -> Iterator[WebServer]:
    """Serves while the context is open; other paths are 404."""
    with on_loopback(_Handler, lambda url: WebServer(url, answers), lambda server: server.closing.set()) as server:
        yield server


def says(body: bytes, content_type: str = "text/plain; charset=utf-8", status: int = 200, **headers: str) -> Answer:
    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(status)
        handler.send_header("Content-Type", content_type)
        handler.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.end_headers()
        handler.wfile.write(body)

    return answer


def drips(piece: bytes, seconds: float) -> Answer:
    """A body without end: a piece, a wait, a piece, …"""

    def answer(handler: BaseHTTPRequestHandler) -> None:
        server: WebServer = handler.server.told  # type: ignore[attr-defined]
        handler.send_response(200)
        handler.send_header("Content-Type", "text/plain")
        handler.end_headers()
        while not server.closing.wait(seconds):
            handler.wfile.write(piece)
            handler.wfile.flush()

    return answer


def says_nothing(handler: BaseHTTPRequestHandler) -> None:
    """Takes the request, and that is all."""
    server: WebServer = handler.server.told  # type: ignore[attr-defined]
    server.closing.wait()


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        server: WebServer = self.server.told  # type: ignore[attr-defined]
        server.requests.append(self.path)
        server.headers.append(dict(self.headers.items()))
        with suppress(OSError):  # the client has left
            server.answers.get(self.path, says(b"not here", status=404))(self)

    def do_POST(self) -> None:
        self.do_GET()

    def log_message(self, *_: Any) -> None:
        """Tests are quiet."""
