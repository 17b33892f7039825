"""Runs MiniStack; started by `emulator.py` with the Python of MiniStack's own environment (standard library only).

Three things are added to what MiniStack does by itself. It ends when whoever started it is gone, even when that process
was killed: the end of our standard input tells. A layer is unpacked once for all workers: MiniStack unpacks it for
each worker process, which for the engine's layer of thousands of files takes seconds at every cold start. And a crowd of
invocations shares some workers: MiniStack starts one for each, and hundreds of cold starts at once stop a laptop.
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

CROWD = 16
"""Workers of one function that are started at once; further ones follow one by one, `NEXT_WORKER_SECONDS` apart."""

NEXT_WORKER_SECONDS = 5.0
_LOOK_SECONDS = 0.005

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
    """MiniStack's `acquire_worker` with patience: with a crowd of workers busy, an invocation waits for one of them."""

    def __init__(self, acquire: Callable[..., tuple[Any, str]]) -> None:
        self._acquire = acquire
        self._lock = threading.Lock()
        self._started: dict[str, float] = {}

    def __call__(self, function: str, *arguments: Any, **named: Any) -> tuple[Any, str]:
        while True:
            worker, how = self._acquire(function, *arguments, **named, max_concurrency=CROWD)
            if worker is not None:
                return worker, how
            if self._may_start(function):
                return self._acquire(function, *arguments, **named)
            time.sleep(_LOOK_SECONDS)

    def _may_start(self, function: str) -> bool:
        """Whether it is time for one worker more: invocations that take long need one each."""
        now = time.monotonic()
        with self._lock:
            if now - self._started.setdefault(function, now) < NEXT_WORKER_SECONDS:
                return False
            self._started[function] = now
            return True


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
    from ministack.services import lambda_svc

    lambda_runtime.zipfile = _Zipfile()
    lambda_svc.acquire_worker = Queue(lambda_svc.acquire_worker)
    sys.argv = ["ministack"]
    app.main()


if __name__ == "__main__":
    main()
