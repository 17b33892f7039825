"""A server that speaks Bedrock's ConverseStream, its event stream encoding included, one reply a request."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any
from zlib import crc32

from tests.builders.listening import on_loopback

_STRING = 7  # of the types that a header of an event may have
_ERRORS = {400: "ValidationException", 429: "ThrottlingException", 503: "ServiceUnavailableException"}

Event = tuple[str, Mapping[str, Any]]
"""Its type and its payload."""


@dataclass(frozen=True)
class BedrockReply:
    """A stream of `events`, the message's end and its usage included; or, with a `status` that is not 200, an error.

    `breaks`: after the events comes this exception, `(type, message)`, in the stream.
    """

    events: tuple[Event, ...] = ()
    breaks: tuple[str, str] | None = None
    status: int = 200
    error: str = ""


@dataclass
class BedrockServer:
    """`requests` are the bodies received, `paths` where they went, in order."""

    base_url: str
    replies: list[BedrockReply]
    requests: list[dict[str, Any]] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)


def said(index: int, **delta: Any) -> Event:
    """A piece of content block `index`: `text`, `reasoningContent` or `toolUse`."""
    return "contentBlockDelta", {"contentBlockIndex": index, "delta": delta}


def called(index: int, call_id: str, name: str, arguments: str) -> list[Event]:
    """A tool call as content block `index`, its arguments streamed in threes."""
    begin = {"contentBlockIndex": index, "start": {"toolUse": {"toolUseId": call_id, "name": name}}}
    pieces = [arguments[start : start + 3] for start in range(0, len(arguments), 3)]
    return [("contentBlockStart", begin), *(said(index, toolUse={"input": piece}) for piece in pieces)]


def stopped(index: int) -> Event:
    """The end of content block `index`."""
    return "contentBlockStop", {"contentBlockIndex": index}


def ended(reason: str, usage: tuple[int, int]) -> list[Event]:
    """The message's end, and what it has cost: tokens read and written."""
    read, written = usage
    counted = {"inputTokens": read, "outputTokens": written, "totalTokens": read + written}
    return [("messageStop", {"stopReason": reason}), ("metadata", {"usage": counted, "metrics": {"latencyMs": 1}})]


@contextmanager
def bedrock_server(*replies: BedrockReply) -> Iterator[BedrockServer]:
    """Serves on loopback while the context is open; after the last reply it answers 400, which no test expects."""
    with on_loopback(_Handler, lambda url: BedrockServer(url, list(replies))) as server:
        yield server


def encoded(headers: Mapping[str, str], payload: bytes) -> bytes:
    """One message of `application/vnd.amazon.eventstream`: lengths, headers, payload, each part with its checksum."""
    packed = b"".join(_header(name, value) for name, value in headers.items())
    lengths = (16 + len(packed) + len(payload)).to_bytes(4, "big") + len(packed).to_bytes(4, "big")
    message = lengths + crc32(lengths).to_bytes(4, "big") + packed + payload
    return message + crc32(message).to_bytes(4, "big")


def _header(name: str, value: str) -> bytes:
    text = value.encode()
    return bytes([len(name)]) + name.encode() + bytes([_STRING]) + len(text).to_bytes(2, "big") + text


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        server: BedrockServer = self.server.told  # type: ignore[attr-defined]
        server.requests.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        server.paths.append(self.path)
        reply = server.replies.pop(0) if server.replies else BedrockReply(status=400, error="no reply is left")
        if reply.status != 200:
            self._error(reply)
            return
        with suppress(OSError):  # the client has left, as it should when it is told to stop
            self._stream(reply)

    def _error(self, reply: BedrockReply) -> None:
        body = json.dumps({"message": reply.error}).encode()
        self.send_response(reply.status)
        self.send_header("Content-Type", "application/json")
        self.send_header("x-amzn-ErrorType", _ERRORS.get(reply.status, "InternalServerException"))
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _stream(self, reply: BedrockReply) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "application/vnd.amazon.eventstream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        self._event("messageStart", {"role": "assistant"})
        for kind, payload in reply.events:
            self._event(kind, payload)
        if reply.breaks is not None:
            kind, message = reply.breaks
            self._message({":message-type": "exception", ":exception-type": kind}, {"message": message})
        self._chunk(b"")

    def _event(self, kind: str, payload: Mapping[str, Any]) -> None:
        self._message({":message-type": "event", ":event-type": kind}, payload)

    def _message(self, headers: Mapping[str, str], payload: Mapping[str, Any]) -> None:
        self._chunk(encoded({**headers, ":content-type": "application/json"}, json.dumps(payload).encode()))

    def _chunk(self, data: bytes) -> None:
        self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
        self.wfile.flush()

    def log_message(self, *_: Any) -> None:
        """Tests are quiet."""
