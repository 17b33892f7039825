"""A run and its files are made together, whatever the store answers (services/creating.py)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest

from stepweave.adapters.memory import MemoryBlobs, MemoryItems
from stepweave.clock import SystemClock
from stepweave.errors import Unavailable
from stepweave.items import OutcomeUnknown, Write, WriteConflict
from stepweave.services.creating import Creating
from stepweave.services.runs import NewRun, RunService
from stepweave.store.idempotency import Once
from stepweave.store.runs import Runs
from stepweave.store.workflows import Workflow, Workflows
from stepweave.store.workspace import Workspaces

WORKFLOW = Workflow("echo", 1, 1, None, "", (), ())
NEW = NewRun({}, "en")


@dataclass(frozen=True)
class Given:
    path: str = "a.txt"
    content: bytes = b"content"

    def pieces(self) -> Iterator[bytes]:
        yield self.content


class Items(MemoryItems):
    """Fails as told, once each: before the write, or after it."""

    def __init__(self, *faults: tuple[str, type[Exception]]) -> None:
        super().__init__()
        self._faults = list(faults)

    def transact(self, writes: Sequence[Write], *, token: str | None = None) -> None:
        when, fault = self._faults.pop(0) if self._faults else ("", None)
        if when == "before" and fault is not None:
            raise fault
        super().transact(writes, token=token)
        if fault is not None:
            raise fault


class World:
    def __init__(self, *faults: tuple[str, type[Exception]], ids: Sequence[str] = ("00000001", "00000002")) -> None:
        self.blobs = MemoryBlobs()
        items = Items(*faults)
        self.store = Runs(items, self.blobs)
        workspaces = Workspaces(self.blobs)
        left = iter(ids)
        self.runs = RunService(
            self.store, Workflows(items, self.blobs), SystemClock(), timedelta(days=365), lambda: next(left)
        )
        self.creating = Creating(self.runs, workspaces)

    def create(self, once: Once | None = None, *files: Any) -> str:
        return self.creating.create(WORKFLOW, NEW, once, files or [Given()]).run_id

    @property
    def names(self) -> list[str]:
        return [name for name, _ in self.blobs.list("")]


@pytest.mark.parametrize(
    "fault",
    [("before", WriteConflict), ("before", OutcomeUnknown), ("after", OutcomeUnknown)],
)
@pytest.mark.parametrize("once", [None, Once("key", "token", "print")])
def test_a_write_that_is_tried_again_makes_one_run_with_its_files(
    fault: tuple[str, type[Exception]], once: Once | None
) -> None:
    world = World(fault)
    assert world.create(once) == "00000001"
    assert world.store.get("00000001") is not None
    assert world.names == ["runs/00000001/workspace/a.txt"]


def test_a_run_that_took_the_id_meanwhile_keeps_it_and_the_files_go() -> None:
    world = World(ids=["00000001", "00000001"])

    class Slow(Given):
        def pieces(self) -> Iterator[bytes]:
            yield b"1"
            world.runs.create(WORKFLOW, NEW)

    with pytest.raises(Unavailable):
        world.create(None, Slow())
    assert world.store.get("00000001") is not None
    assert world.names == []


def test_a_file_that_cannot_be_read_any_more_leaves_nothing() -> None:
    class Broken(Given):
        def pieces(self) -> Iterator[bytes]:
            yield b"1"
            raise OSError

    world = World()
    with pytest.raises(OSError, match=r"^$"):
        world.create(None, Given("first"), Broken("second"))
    assert world.names == []
    assert world.store.get("00000001") is None


def test_a_run_without_files_is_made_as_ever() -> None:
    world = World(("before", OutcomeUnknown))
    assert world.creating.create(WORKFLOW, NEW, None, []).run_id == "00000002"
