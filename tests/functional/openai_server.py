"""A server that speaks OpenAI's chat completions and answers as it is told, one reply a request."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any, Literal

from tests.builders.listening import on_loopback


@dataclass(frozen=True)
class Reply:
    """A stream of `deltas`, then its end; or, with a `status` that is not 200, an error.

    `stall`: the stream stands still after the deltas until the server closes. `break`: the connection is cut there.
    """

    deltas: tuple[dict[str, Any], ...] = ()
    end: Literal["done", "stall", "break"] = "done"
    finish_reason: str = "stop"
    usage: tuple[int, int] = (3, 5)
    status: int = 200
    error: str = ""


def says(*pieces: str, **rest: Any) -> Reply:
    """The pieces as text deltas."""
    return Reply(deltas=tuple({"content": piece} for piece in pieces), **rest)


def calls(*made: tuple[str, str, str], text: str = "", **rest: Any) -> Reply:
    """Calls of tools, `(id, name, arguments)`, each streamed in pieces: its name first, then its arguments in threes."""
    deltas: list[dict[str, Any]] = [{"content": text}] if text else []
    for index, (call_id, name, arguments) in enumerate(made):
        begin = {"index": index, "id": call_id, "type": "function", "function": {"name": name, "arguments": ""}}
        deltas.append({"tool_calls": [begin]})
        for start in range(0, len(arguments), 3):
            piece = {"index": index, "function": {"arguments": arguments[start : start + 3]}}
            deltas.append({"tool_calls": [piece]})
    return Reply(deltas=tuple(deltas), **{"finish_reason": "tool_calls", **rest})


def fails(status: int, error: str) -> Reply:
    return Reply(status=status, error=error)


@dataclass
class OpenAIServer:
    """`requests` are the bodies received, `keys` the keys that came with them, in order."""

    base_url: str
    replies: list[Reply]
    requests: list[dict[str, Any]] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    closing: threading.Event = field(default_factory=threading.Event)


@contextmanager
def openai_server(*replies: Reply) -> Iterator[OpenAIServer]:
    """Serves on loopback while the context is open; after the last reply it answers 418, which no test expects."""

    def told(url: str) -> OpenAIServer:
        return OpenAIServer(f"{url}/v1", list(replies))

    with on_loopback(_Handler, told, lambda server: server.closing.set()) as server:
        yield server


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        server: OpenAIServer = self.server.told  # type: ignore[attr-defined]
        server.requests.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        server.keys.append(self.headers.get("Authorization", "").removeprefix("Bearer "))
        reply = server.replies.pop(0) if server.replies else fails(418, "no reply is left")
        if reply.status != 200:
            self._answer(reply.status, {"error": {"message": reply.error, "type": "x", "code": None}})
            return
        if not server.requests[-1].get("stream"):
            self._answer(200, _whole(reply))
            return
        with suppress(OSError):  # the client has left, as it should when it is told to stop
            self._stream(reply, server)
        if reply.end != "done":
            self.close_connection = True

    def _answer(self, status: int, told: dict[str, Any]) -> None:
        body = json.dumps(told).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _stream(self, reply: Reply, server: OpenAIServer) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for delta in reply.deltas:
            self._event({"choices": [{"index": 0, "delta": delta, "finish_reason": None}]})
        if reply.end == "break":
            return
        if reply.end == "stall":
            server.closing.wait(30)
            return
        self._event({"choices": [{"index": 0, "delta": {}, "finish_reason": reply.finish_reason}]})
        read, written = reply.usage
        self._event(
            {
                "choices": [],
                "usage": {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written},
            }
        )
        self._chunk(b"data: [DONE]\n\n")
        self._chunk(b"")

    def _event(self, part: dict[str, Any]) -> None:
        whole = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m", **part}
        self._chunk(b"data: " + json.dumps(whole).encode() + b"\n\n")

    def _chunk(self, data: bytes) -> None:
        self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
        self.wfile.flush()

    def log_message(self, *_: Any) -> None:
        """Tests are quiet."""


def _whole(reply: Reply) -> dict[str, Any]:
    """The reply for a client that wants no stream: its deltas put together."""
    calls: dict[int, dict[str, Any]] = {}
    for piece in (piece for delta in reply.deltas for piece in delta.get("tool_calls", ())):
        call = calls.setdefault(piece["index"], {"type": "function", "function": {"name": "", "arguments": ""}})
        call["id"] = piece.get("id", call.get("id"))
        for name, text in piece["function"].items():
            call["function"][name] += text
    text = "".join(delta.get("content", "") for delta in reply.deltas)
    message = {"role": "assistant", "content": text} | ({"tool_calls": list(calls.values())} if calls else {})
    read, written = reply.usage
    return {
        "id": "c1",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [{"index": 0, "message": message, "finish_reason": reply.finish_reason}],
        "usage": {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written},
    }
