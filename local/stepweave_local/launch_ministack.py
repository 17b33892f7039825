"""Runs MiniStack; started by `emulator.py` with the Python of MiniStack's own environment (standard library only).

Four things are added to what MiniStack does by itself. It ends when whoever started it is gone, even when that process
was killed: the end of our standard input tells. A layer is unpacked once for all workers: MiniStack unpacks it for
each worker process, which for the engine's layer of thousands of files takes seconds at every cold start. A crowd of
invocations shares some workers: MiniStack starts one for each, and a cold start takes more of a processor than a hundred
invocations of a warm worker. And queues outlive a change of the port.
"""

import hashlib
import os
import shutil
import signal
import sys
import threading
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

LARGE = 1_000_000
"""Bytes; a function's own code is small and gets a copy for each worker, as on Lambda."""

PATIENCE = 20
"""Seconds to write the state down before the process group is killed."""

CROWD = max(8, 2 * (os.cpu_count() or 1))
"""Workers of one function that are started at once. Further ones follow one by one, and only while invocations wait that
no worker has had time for in `STANDSTILL_SECONDS`: nodes that take long get a worker each, many quick ones share some."""

STANDSTILL_SECONDS = 1.0

ANY_PORT = "4566"
"""In the addresses of queues, under which they are kept: the next start, on another port, has to find them."""

_unpacking = threading.Lock()


class SharedArchive:
    """A large archive, as MiniStack uses one: it is unpacked once, into a folder named after its content."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None: ...

    def namelist(self) -> list[str]:
        """MiniStack checks each name against the disk before it unpacks; `zipfile` itself lets none escape."""
        return []

    def extractall(self, path: str) -> None:
        """Links to the shared folder, where Python also keeps the bytecode it compiles."""
        for entry in self._unpacked().iterdir():
            (Path(path) / entry.name).symlink_to(entry)

    def _unpacked(self) -> Path:
        with self._file.open("rb") as archive:
            name = hashlib.file_digest(archive, "sha256").hexdigest()
        place = Path(os.environ["STEPWEAVE_LAYERS"]) / name
        with _unpacking:
            if not place.exists():
                partial = place.with_suffix(".partial")
                shutil.rmtree(partial, ignore_errors=True)
                with zipfile.ZipFile(self._file) as archive:
                    archive.extractall(partial)
                partial.rename(place)
            os.utime(place)  # the emulator's next start keeps the latest
        return place


class _Zipfile:
    """What MiniStack's workers see as the module `zipfile`."""

    LargeFileError = zipfile.LargeZipFile  # the name it asks for does not exist

    def __getattr__(self, name: str) -> Any:
        return getattr(zipfile, name)

    @staticmethod
    def ZipFile(file: Any, *options: Any, **named: Any) -> Any:  # noqa: N802 - it stands for the class
        if isinstance(file, str) and Path(file).stat().st_size > LARGE:
            return SharedArchive(Path(file))
        return zipfile.ZipFile(file, *options, **named)


class Queue:
    """MiniStack's `acquire_worker` and `release_worker` with patience: with a crowd of workers busy, an invocation waits
    for one of them."""

    def __init__(self, acquire: Callable[..., tuple[Any, str]], release: Callable[[Any], None]) -> None:
        self._acquire = acquire
        self._release = release
        self._lock = threading.Lock()
        self._lines: dict[str, _Line] = {}

    def acquire(self, function: str, *arguments: Any, **named: Any) -> tuple[Any, str]:
        line = self._line(function)
        with line.freed:
            while True:
                worker, how = self._acquire(function, *arguments, **named, max_concurrency=CROWD)
                if worker is None and line.stands_still:
                    worker, how = self._acquire(function, *arguments, **named)
                if worker is not None:
                    line.moves(worker if how == "spawn" else None)
                    return worker, how
                line.freed.wait(STANDSTILL_SECONDS)

    def release(self, worker: Any) -> None:
        self._release(worker)
        if worker is not None:  # MiniStack has ended one that broke
            freed = self._line(worker.func_name).freed
            with freed:
                freed.notify()

    def _line(self, function: str) -> "_Line":
        with self._lock:
            return self._lines.setdefault(function, _Line())


class _Line:
    """The invocations of one function that wait for a worker; they hold `freed` when they look for one."""

    def __init__(self) -> None:
        self.freed = threading.Condition()
        self._moved = time.monotonic()
        self._started: Any = None

    def moves(self, started: Any) -> None:
        """One of them has a worker, which was `started` for it or not."""
        self._moved = time.monotonic()
        self._started = started or self._started

    @property
    def stands_still(self) -> bool:
        """Whether nobody has got a worker for a while and none is on its way: those that have one take long."""
        is_starting = self._started is not None and self._started._cold  # noqa: SLF001 - it is told nowhere else
        return not is_starting and time.monotonic() - self._moved >= STANDSTILL_SECONDS


def end_with_parent() -> None:
    """Blocks until standard input ends, then asks the process to stop, and at last insists."""
    while os.read(0, 1024):
        pass
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(PATIENCE)
    os.killpg(os.getpgid(0), signal.SIGKILL)


def main() -> None:
    threading.Thread(target=end_with_parent, daemon=True, name="end-with-parent").start()
    from ministack import app  # it reads the environment when it is imported
    from ministack.core import lambda_runtime
    from ministack.services import lambda_svc, sqs

    sqs.DEFAULT_PORT = ANY_PORT
    lambda_runtime.zipfile = _Zipfile()
    queue = Queue(lambda_svc.acquire_worker, lambda_svc.release_worker)
    lambda_svc.acquire_worker, lambda_svc.release_worker = queue.acquire, queue.release
    sys.argv = ["ministack"]
    app.main()


if __name__ == "__main__":
    main()
