"""A zip of files of any size and number, made while it is sent."""

import zipfile
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime

_REGULAR_FILE = 0o100644 << 16
_UNIX = 3
_GATHERED_BYTES = 64 * 1024
_QUICK = 1
"""Of zlib's levels: a gateway waits for 30 seconds only, and better ones win little for much time."""


def zip_stream(
    files: Iterable[tuple[str, int]], open_file: Callable[[str], Iterator[bytes] | None], moment: datetime
) -> Iterator[bytes]:
    """The archive piece by piece: the files in the order given, all of them with the time `moment`.

    Names are UTF-8, sizes beyond 4 GB are told as ZIP64. A file that is gone when its turn comes is left out.
    """
    sink = _Sink()
    with zipfile.ZipFile(sink, "w") as archive:
        for path, size in files:
            content = open_file(path)
            if content is None:
                continue
            with archive.open(_Entry(path, size, moment), "w") as entry:
                for piece in content:
                    entry.write(piece)
                    if sink.size >= _GATHERED_BYTES:
                        yield sink.take()
            if sink.size >= _GATHERED_BYTES:
                yield sink.take()
    yield sink.take()


class _Entry(zipfile.ZipInfo):
    """A regular file. `size` decides whether it is written as ZIP64, before its content is known."""

    def __init__(self, path: str, size: int, moment: datetime) -> None:
        super().__init__(path, moment.timetuple()[:6])
        self.compress_type = zipfile.ZIP_DEFLATED
        self._compresslevel = _QUICK  # public from Python 3.13 on
        self.create_system = _UNIX
        self.external_attr = _REGULAR_FILE
        self.file_size = size


class _Sink:
    """A file that can only be written: what was written is taken from it and sent."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self.size = 0

    def write(self, content: bytes) -> int:
        self._pieces.append(bytes(content))
        self.size += len(content)
        return len(content)

    def flush(self) -> None:
        """Nothing is held back here."""

    def close(self) -> None:
        """What was not taken is still there."""

    def take(self) -> bytes:
        content = b"".join(self._pieces)
        self._pieces.clear()
        self.size = 0
        return content
