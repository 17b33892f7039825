"""What outlives its run is ended without a word (protocol rule X)."""

from collections.abc import Sequence
from dataclasses import replace

from stepweave.adapters.memory import MemoryItems
from stepweave.execution.visit import PendingEdges
from stepweave.items import Key, OutcomeUnknown, Put, Update, Write
from stepweave.store import heads
from tests.unit.services.stage import RUN_ID, Stage

FORK = (("in", "work1"), ("in", "work2"), ("work1", "out"), ("work2", "out"))


def staged(items: MemoryItems | None = None) -> Stage:
    return Stage(*FORK, items=items)


def test_a_cancel_ends_every_visit_and_tells_only_the_end() -> None:
    stage = staged()
    told = len(stage.events())
    stage.engine.ending.cancel(RUN_ID)
    assert (stage.run.status, stage.run.error, stage.run.closing) == ("FAILED", "CANCELLED", False)
    assert {stage.visit(name).status for name in ("work1", "work2")} == {"FAILED"}
    assert [event["type"] for event in stage.events()[told:]] == ["workflow_error"]


def test_what_comes_too_late_is_not_heard() -> None:
    stage = staged()
    stage.engine.ending.cancel(RUN_ID)
    assert stage.drive() != []
    assert stage.events()[-1]["type"] == "workflow_error"
    assert stage.visit("work1").status == "FAILED"


def test_a_visit_that_has_ended_meanwhile_keeps_its_status_and_loses_its_pending_edges() -> None:
    """The closer read it while the commit that ended it was still becoming visible."""
    items = MemoryItems()
    stage = staged(items)
    seen = stage.visit("work1")
    pending = (PendingEdges("work1", None, 1, (2,)),)
    items.put("visits", heads.visit_to_item(replace(seen, status="SUCCESS", pending=pending)))
    closed = stage.engine.closing.close_visit(seen)
    assert closed == stage.visit("work1")
    assert (closed.status, closed.pending) == ("SUCCESS", ())


def test_while_a_visit_that_was_counted_cannot_be_seen_the_run_stays_closing() -> None:
    items = MemoryItems()
    stage = staged(items)
    unseen = heads.visit_to_item(stage.visit("work2"))
    items.delete(Key("visits", RUN_ID, unseen["sk"]))
    stage.engine.ending.cancel(RUN_ID)
    assert (stage.engine.closing.close(RUN_ID), stage.run.closing) == (False, True)
    items.put("visits", unseen)
    assert (stage.engine.closing.close(RUN_ID), stage.run.closing) == (True, False)
    assert stage.visit("work2").status == "FAILED"


class Foggy(MemoryItems):
    """Carries transactions and updates out without telling so, each the first time that it ends or closes the run."""

    def __init__(self) -> None:
        super().__init__()
        self.told: set[str] = set()

    def transact(self, writes: Sequence[Write], *, token: str | None = None) -> None:
        super().transact(writes, token=token)
        if any(isinstance(write, Put) and write.table == "events" for write in writes) and len(writes) == 2:
            self._fog("end")

    def update(self, update: Update) -> dict[str, object]:
        item = super().update(update)
        for name in ("status", "closing"):
            if name in update.sets:
                self._fog(name)
        return item

    def _fog(self, name: str) -> None:
        if name not in self.told:
            self.told.add(name)
            raise OutcomeUnknown


def test_outcomes_that_nobody_tells_change_nothing() -> None:
    items = Foggy()
    stage = staged(items)
    stage.engine.ending.cancel(RUN_ID)
    assert items.told == {"end", "status", "closing"}
    assert (stage.run.error, stage.run.closing) == ("CANCELLED", False)
    assert {stage.visit(name).status for name in ("work1", "work2")} == {"FAILED"}
