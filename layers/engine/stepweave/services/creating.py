"""Making a run together with its files: there is either all of it, or nothing (contract §4, multipart create)."""

from collections.abc import Iterator, Sequence
from typing import Protocol

from stepweave.execution.run import Run
from stepweave.services.runs import NewRun, RunService
from stepweave.store.idempotency import Once
from stepweave.store.workflows import Workflow
from stepweave.store.workspace import RunFiles, Workspaces


class NewFile(Protocol):
    """A file that a client sent along. `path` is normalised, and no other's."""

    @property
    def path(self) -> str: ...

    def pieces(self) -> Iterator[bytes]:
        """The content, piece by piece."""
        ...


class Creating:
    def __init__(self, runs: RunService, workspaces: Workspaces) -> None:
        self._runs = runs
        self._workspaces = workspaces

    def create(self, workflow: Workflow, new: NewRun, once: Once | None, files: Sequence[NewFile]) -> Run:
        """As `RunService.create`. The run is made when all its files are stored; whatever goes wrong, and where the
        same request has made a run before, the files are deleted again."""
        if not files:
            return self._runs.create(workflow, new, once)
        run_id = self._runs.free_id()
        place = self._workspaces.of(run_id)
        try:
            _store(place, files)
            run = self._runs.create(workflow, new, once, run_id=run_id)
        except BaseException:
            place.delete([file.path for file in files])
            raise
        if run.run_id != run_id:
            place.delete([file.path for file in files])
        return run


def _store(place: RunFiles, files: Sequence[NewFile]) -> None:
    for file in files:
        with place.writer(file.path) as writer:
            for piece in file.pieces():
                writer.write(piece)
