"""Reading server-sent events, piece by piece as they come."""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Message:
    """One block of an SSE body; a block of comments only is empty, and still a sign of life."""

    event: str = ""
    id: int | None = None
    data: str = ""
    retry_ms: int | None = None


class MessageTooLong(Exception):
    """A block has more bytes than the reader takes."""


class MessageReader:
    """Lines end with LF or CRLF: `str.splitlines` would also break at separators that stand inside JSON text. A block
    that no empty line has followed yet is not given. `most_bytes` bounds a block."""

    def __init__(self, most_bytes: int | None = None) -> None:
        self._most_bytes = most_bytes
        self._bytes = 0
        self._line: list[bytes] = []
        self._block: list[bytes] = []

    def feed(self, chunk: bytes) -> list[Message]:
        """The blocks that `chunk` completes. Raises `MessageTooLong` once all blocks before the long one were given."""
        messages: list[Message] = []
        first, *others = chunk.split(b"\n")
        self._take(first)
        for piece in others:
            line = b"".join(self._line).removesuffix(b"\r")
            self._line.clear()
            if line:
                self._block.append(line)
            elif self._block:
                messages.append(_message(self._block))
                self._block = []
            if not line:
                self._bytes = 0
            self._take(piece)
        if self._is_too_long and not messages:
            raise MessageTooLong
        return messages

    @property
    def _is_too_long(self) -> bool:
        return self._most_bytes is not None and self._bytes > self._most_bytes

    def _take(self, piece: bytes) -> None:
        self._bytes += len(piece)
        self._line.append(piece)


def _message(block: Iterable[bytes]) -> Message:
    fields: dict[str, str] = {}
    data: list[str] = []
    for line in block:
        name, _, value = line.decode("utf-8", "replace").partition(":")
        value = value.removeprefix(" ")
        if name == "data":
            data.append(value)
        else:
            fields[name] = value
    return Message(fields.get("event", ""), _number(fields.get("id")), "\n".join(data), _number(fields.get("retry")))


def _number(text: str | None) -> int | None:
    return int(text) if text is not None and text.isascii() and text.isdecimal() else None
