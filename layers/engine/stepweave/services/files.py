"""The files of runs for outside (contract §4): how many, as a zip, uploads before the start, and their end."""

from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import Any

from stepweave import clock as times
from stepweave.clock import Clock
from stepweave.errors import PayloadTooLarge, RunAlreadyStarted, RunNotFound, ValidationFailed
from stepweave.execution.run import Run
from stepweave.execution.workspace import normal_path
from stepweave.graph.problem import quoted
from stepweave.ports import BlobStore
from stepweave.services import wire
from stepweave.services.zipping import zip_stream
from stepweave.store.runs import Runs
from stepweave.store.workspace import Workspaces
from stepweave.texts import Text

UPLOAD_BYTES = 5 * 1024**3
"""The most that object storage takes in one PUT."""

_ADDRESS_SECONDS = 3600
_TOLD_BYTES = 1_000_000


class Files:
    """`records_kept` is how long the rest of a run outlives its end."""

    def __init__(
        self, runs: Runs, workspaces: Workspaces, blobs: BlobStore, clock: Clock, records_kept: timedelta
    ) -> None:
        self._records_kept = records_kept
        self._runs = runs
        self._workspaces = workspaces
        self._blobs = blobs
        self._clock = clock

    def summary(self, run: Run) -> dict[str, int]:
        """`fileCount` and `totalBytes`, without what is ignored; nothing once the files have expired."""
        sizes = [size for _, size in self._paths(run)] if not self.have_expired(run) else []
        return {"fileCount": len(sizes), "totalBytes": sum(sizes)}

    def zip(self, run: Run) -> Iterator[bytes]:
        """All files that are not ignored, in the order of their paths. Raises `RunNotFound` when they have expired.

        Of one run that has ended it is always the same.
        """
        self._refuse_if_expired(run)
        created = times.from_json(run.created_at)
        return zip_stream(self._paths(run), self._workspaces.of(run.run_id).open, created)

    def zip_address(self, run: Run) -> str:
        """Where the same zip can be read for an hour, of any size: it is made anew each time, as files may change."""
        content = self.zip(run)
        with self._blobs.writer(_zip_place(run), "application/zip") as writer:
            for piece in content:
                writer.write(piece)
        return self._blobs.download_url(_zip_place(run), _ADDRESS_SECONDS, zip_disposition(run))

    def uploads(self, run: Run, wanted: Sequence[tuple[str, int]]) -> list[dict[str, Any]]:
        """For each path and size an address to PUT the file to, before the run starts.

        Raises `RunAlreadyStarted`, `RunNotFound`, `ValidationFailed`, `PayloadTooLarge`.
        """
        if run.status != "CREATED":
            raise RunAlreadyStarted(
                Text(
                    f"运行 {run.run_id} 已启动，不能再上传文件",
                    f"run {run.run_id} has been started: files are uploaded before that",
                )
            )
        self._refuse_if_expired(run)
        paths = check_paths([path for path, _ in wanted])
        for path, size in zip(paths, (size for _, size in wanted), strict=True):
            if size > UPLOAD_BYTES:
                raise PayloadTooLarge(
                    Text(f"文件 {quoted(path)} 超过 5 GB", f"file {quoted(path)} is larger than 5 GB")
                )
        place = self._workspaces.of(run.run_id)
        expires_at = times.to_json(self._clock.now() + timedelta(seconds=_ADDRESS_SECONDS))
        return [
            {
                "path": path,
                "url": place.upload_url(path, size, _ADDRESS_SECONDS),
                "headers": {"Content-Length": str(size)},
                "expiresAt": expires_at,
            }
            for path, (_, size) in zip(paths, wanted, strict=True)
        ]

    def have_expired(self, run: Run) -> bool:
        return run.files_expire_at is not None and run.files_expire_at <= self._clock.now()

    def expire_due(self, limit: int) -> int:
        """For the sweep: deletes the files of runs whose time is over; gives the number of these runs."""
        due = self._runs.due_for_expiry(times.to_json(self._clock.now()), limit)
        return sum(self.expire(run.run_id) for run in due)

    def expire(self, run_id: str) -> bool:
        """Deletes a run's files if their time is over; records stay (contract §4). What named the run may be stale,
        so the run is read again; one that has started meanwhile keeps its files."""
        run = self._runs.get(run_id)
        if run is None or not self.have_expired(run):
            return False
        self._workspaces.of(run_id).clear()
        self._blobs.delete([_zip_place(run)])
        forgotten_at = run.records_expire_at(self._records_kept)
        assert forgotten_at is not None, "a run whose files have expired does not run"
        self._runs.expired(run_id, check_at=times.to_json(forgotten_at))
        return True

    def _paths(self, run: Run) -> list[tuple[str, int]]:
        return self._workspaces.of(run.run_id).paths()

    def _refuse_if_expired(self, run: Run) -> None:
        if self.have_expired(run):
            raise RunNotFound(
                Text(
                    f"运行 {run.run_id} 的文件已过期并被清理",
                    f"the files of run {run.run_id} have expired and are gone",
                )
            )


def told_paths(paths: Sequence[tuple[str, int]]) -> list[str]:
    """The paths as an event tells them: of very many only the first, so that it fits into an answer."""
    told: list[str] = []
    room = _TOLD_BYTES
    for path, _ in paths:
        room -= wire.size(path) + 1
        if room < 0:
            break
        told.append(path)
    return told


def check_paths(raw: Sequence[str]) -> list[str]:
    """The normalised paths. Raises `ValidationFailed` when one is no path, stands twice, or lies inside another."""
    paths = [normal_path(path) for path in raw]
    seen: set[str] = set()
    for path in paths:
        if path in seen:
            raise ValidationFailed(
                Text(f"文件路径 {quoted(path)} 重复，请改名", f"two files have the path {quoted(path)}: rename one")
            )
        seen.add(path)
    for path in paths:
        parts = path.split("/")
        for length in range(1, len(parts)):
            folder = "/".join(parts[:length])
            if folder in seen:
                raise ValidationFailed(
                    Text(
                        f"{quoted(folder)} 既是文件又是 {quoted(path)} 的文件夹，请改名",
                        f"{quoted(folder)} is a file and also the folder of {quoted(path)}: rename one",
                    )
                )
    return paths


def zip_disposition(run: Run) -> str:
    """The zip's Content-Disposition, with the workflow's number."""
    return f"attachment; filename*=UTF-8''workflow-{run.workflow_id}-run-{run.run_id}.zip"


def _zip_place(run: Run) -> str:
    return f"runs/{run.run_id}/workspace.zip"
