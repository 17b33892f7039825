"""Lines of the standard input, without blocking."""

import io
import os

import pytest

from stepweave_local.lines import Lines


def test_lines_come_as_they_are_written_and_none_meanwhile() -> None:
    reading, writing = os.pipe()
    with os.fdopen(reading, encoding="utf-8") as stream, os.fdopen(writing, "wb", buffering=0) as pipe:
        lines = Lines(stream)
        assert lines.next(0) is None
        pipe.write("一".encode()[:2])
        assert lines.next(0) is None
        pipe.write("一".encode()[2:] + b"\r\ntwo\nthr")
        assert [lines.next(0), lines.next(0), lines.next(0)] == ["一", "two", None]
        pipe.close()
        assert lines.next(0) == "thr"
        with pytest.raises(EOFError):
            lines.next(0)


def test_a_stream_without_a_descriptor_is_read_line_by_line() -> None:
    lines = Lines(io.StringIO("one\n\n"))
    assert [lines.next(0), lines.next(0)] == ["one", ""]
    with pytest.raises(EOFError):
        lines.next(0)
