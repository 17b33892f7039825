"""A Hermes Bridge that does what it is told to, good or bad: one answer for each request, the last one for all others."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any

from tests.builders.listening import on_loopback

Reply = Callable[[BaseHTTPRequestHandler], None]


@dataclass
class FakeBridge:
    """`bodies` and `headers` are those of the requests. `left` is set when a client has gone during a reply."""

    url: str
    replies: tuple[Reply, ...]
    bodies: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    closing: threading.Event = field(default_factory=threading.Event)
    left: threading.Event = field(default_factory=threading.Event)


@contextmanager
def fake_bridge(*replies: Reply) -> Iterator[FakeBridge]:
    with on_loopback(_Handler, lambda url: FakeBridge(url, replies), lambda bridge: bridge.closing.set()) as bridge:
        yield bridge


def event(kind: str, **data: Any) -> bytes:
    return f"event: {kind}\ndata: {json.dumps(data)}\n\n".encode()


def streams(*pieces: bytes, content_type: str = "text/event-stream") -> Reply:
    """The pieces, and then the end of the connection."""

    def reply(handler: BaseHTTPRequestHandler) -> None:
        _begin(handler, content_type)
        for piece in pieces:
            handler.wfile.write(piece)
            handler.wfile.flush()

    return reply


def hangs(*pieces: bytes, between: float = 30.0, again: bytes = b"") -> Reply:
    """The pieces, and then nothing more but `again`, again and again; without pieces, not even a status line."""

    def reply(handler: BaseHTTPRequestHandler) -> None:
        bridge: FakeBridge = handler.server.told  # type: ignore[attr-defined]
        if pieces:
            streams(*pieces)(handler)
        try:
            while not bridge.closing.wait(between):
                handler.wfile.write(again)
                handler.wfile.flush()
        except OSError:
            bridge.left.set()

    return reply


def answers(status: int, content: bytes = b"", **headers: str) -> Reply:
    """No stream, but a plain HTTP answer."""

    def reply(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(status)
        for name, value in headers.items():
            handler.send_header(name, value)
        handler.send_header("Content-Length", str(len(content)))
        handler.end_headers()
        handler.wfile.write(content)

    return reply


def _begin(handler: BaseHTTPRequestHandler, content_type: str) -> None:
    handler.send_response(200)
    handler.send_header("Content-Type", content_type)
    handler.end_headers()


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        bridge: FakeBridge = self.server.told  # type: ignore[attr-defined]
        bridge.bodies.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        bridge.headers.append(dict(self.headers.items()))
        number = min(len(bridge.bodies), len(bridge.replies)) - 1
        with suppress(OSError):  # the client has left
            bridge.replies[number](self)

    def log_message(self, *_: Any) -> None:
        """Tests are quiet."""
