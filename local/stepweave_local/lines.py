"""Lines that a person types (or a script pipes in), read without ever blocking what goes on meanwhile."""

import codecs
import os
import select
from typing import TextIO


class Lines:
    """`next(seconds)` waits so long for a line; None: none yet. Raises `EOFError` when no more will come."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._descriptor = _descriptor(stream)
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._pending = ""
        self._ended = False

    @property
    def is_terminal(self) -> bool:
        return self._stream.isatty()

    def next(self, seconds: float) -> str | None:
        if self._descriptor is None:
            return self._whole_line()
        while "\n" not in self._pending and not self._ended:
            ready, _, _ = select.select([self._descriptor], [], [], seconds)
            if not ready:
                return None
            read = os.read(self._descriptor, 4096)
            self._ended = not read
            self._pending += self._decoder.decode(read, final=self._ended)
        line, _, self._pending = self._pending.partition("\n")
        if not line and self._ended and not self._pending:
            raise EOFError
        return line.rstrip("\r")

    def _whole_line(self) -> str:
        """Where the system cannot tell whether input waits, a line is waited for."""
        line = self._stream.readline()
        if not line:
            raise EOFError
        return line.rstrip("\r\n")


def _descriptor(stream: TextIO) -> int | None:
    if os.name == "nt":  # select works on sockets only there
        return None
    try:
        return stream.fileno()
    except (OSError, ValueError):  # a stream in memory
        return None
