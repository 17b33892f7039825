"""What must hold at the end of every schedule, whatever the mode of its run: the log, the counters, the way it ended."""

from collections.abc import Iterator
from typing import Any

from stepweave.execution.run import Run
from stepweave.execution.visit import Visit, VisitBody
from stepweave.services.event_log import Event
from stepweave.store.runs import Runs
from tests.property.chaos.state_machine import GIVEN_UP
from tests.property.chaos.world import RUN_ID, World

STALLED = "已放弃"  # of the sentence that gives a run up


class Examination:
    """`heads` are all visits that are stored, `left` what those left behind that did, by visit; `broken` are visits that
    the platform gave up, so that they failed whatever they do."""

    def __init__(self, world: World) -> None:
        runs = Runs(world.items, world.blobs)
        run = runs.get(RUN_ID)
        assert run is not None
        self.world = world
        self.run: Run = run
        self.heads: list[Visit] = runs.visits(RUN_ID)
        self.left: dict[str, VisitBody] = runs.bodies(RUN_ID, [visit.visit_uuid for visit in self.heads])
        self.events: list[Event] = next(each.events for each in reversed(world.finished) if each.after == 0)
        self.broken = [
            visit
            for visit in self.heads
            if visit.visit_uuid in self.left and self.left[visit.visit_uuid].error == GIVEN_UP.zh
        ]

    @classmethod
    def of(cls, world: World) -> list[str]:
        """Everything that is wrong with a world that has lived."""
        if world.wrong or not world.is_over:
            return world.wrong or ["the run never ended"]
        return list(cls(world).faults())

    def faults(self) -> Iterator[str]:
        raise NotImplementedError

    def common_faults(self) -> Iterator[str]:
        yield from self._log()
        yield from self._counters()
        yield from self._left_over()
        yield from self._terminal()
        if bool(self.world.callbacks.sent) != self.run.calls_back:
            yield "nobody is told of the end who wanted to be" if self.run.calls_back else "a callback for nobody"
        if self.world.sleepers and not self.world.weather.until:
            yield f"{self.world.sleepers} chains sleep for ever"

    def recorded(self) -> list[dict[str, Any]]:
        """The visits as their events tell them."""
        return [event.data["visit"] for event in self.events if event.type == "visit_recorded"]

    def _log(self) -> Iterator[str]:
        """The same, whole and contiguous, for every reader (contract §5)."""
        if [event.id for event in self.events] != list(range(1, self.run.last_seq + 1)):
            yield "event ids are not 1, 2, 3 …"
        for reader in self.world.finished:
            if reader.events != self.events[reader.after :]:
                yield f"readers differ, one from {reader.after}"
        if [event.id for event in self.events if event.is_terminal] != [len(self.events)]:
            yield "the terminal event is not the last and only one"

    def _counters(self) -> Iterator[str]:
        told = [visit["sortOrder"] for visit in self.recorded()]
        if told != list(range(1, len(told) + 1)) or self.run.last_sort != len(told):
            yield f"sort orders {told}, lastSort {self.run.last_sort}"
        if self.run.visits != len(self.heads):
            yield f"nVisits {self.run.visits}, there are {len(self.heads)}"
        if self.run.status == "SUCCESS" and self.run.running:
            yield f"running {self.run.running} at the end"

    def _left_over(self) -> Iterator[str]:
        if self.run.closing:
            yield "still closing"
        for visit in self.heads:
            if visit.status == "RUNNING":
                yield f"{visit.node_id} is left RUNNING"
            if visit.pending:
                yield f"{visit.node_id} is left with pending edges"

    def _terminal(self) -> Iterator[str]:
        """The last event tells how the run ended; only people and the sweep end it from outside."""
        if self.run.status == "SUCCESS":
            return
        last = self.events[-1].data
        if last["error"] != self.run.error or last["failedNodeId"] != self.run.failed_node:
            yield "the terminal event tells another end than the run"
        if self.run.error == "CANCELLED" and not self.world.begun["cancel"]:
            yield "cancelled by nobody"
        if STALLED in (self.run.error or "") and self.world.revivals >= 5:
            yield f"given up: {self.run.error}"
