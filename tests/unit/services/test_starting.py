"""Starting a run: what follows from its inputs is there at once, whatever the store answers (services/starting.py)."""

from collections.abc import Sequence
from typing import Any

import pytest

from stepweave import ids
from stepweave.adapters.memory import MemoryChains, MemoryItems
from stepweave.errors import RunAlreadyStarted
from stepweave.execution.run import Run
from stepweave.items import OutcomeUnknown, Put, Write, WriteConflict
from stepweave.scheduling.decision import Bounds
from stepweave.services.starting import FIRST_CHECK
from tests.unit.services.stage import RUN_ID, Stage

LINE = (("in", "work"), ("work", "out"))
FIRST = ids.first_chain(RUN_ID)


class Counting(MemoryItems):
    """Counts transactions; `fault` is raised by the first that has events, before it or after it."""

    def __init__(self, when: str = "", fault: type[Exception] | None = None) -> None:
        super().__init__()
        self.transactions = 0
        self._when = when
        self._fault = fault

    def transact(self, writes: Sequence[Write], *, token: str | None = None) -> None:
        starts = any(isinstance(write, Put) and write.table == "events" for write in writes)
        fault, self._fault = (self._fault, None) if starts else (None, self._fault)
        if fault is not None and self._when == "before":
            raise fault
        super().transact(writes, token=token)
        self.transactions += starts
        if fault is not None:
            raise fault


def test_one_transaction_starts_the_run_and_tells_its_first_events() -> None:
    items = Counting()
    stage = Stage(*LINE, items=items)
    assert items.transactions == 1
    told = [(event["type"], event.get("nodeId"), event.get("status")) for event in stage.events()]
    assert told == [
        ("node_status", "in", "RUNNING"),
        ("node_status", "in", "SUCCESS"),
        ("visit_recorded", None, None),
        ("node_status", "work", "RUNNING"),
    ]
    assert [(chain, step["nodeId"], step["kind"]) for chain, step in stage.chains.running.items()] == [
        (FIRST, "work", "effect")
    ]


def test_a_run_without_an_effect_has_ended_when_it_has_started_and_no_chain_was_needed() -> None:
    stage = Stage(("in", "in2"), ("in2", "out"))
    assert (stage.run.status, stage.run.running, stage.run.closing) == ("SUCCESS", 0, False)
    assert stage.events()[-1]["type"] == "workflow_complete"
    assert stage.chains.names == set()


def test_of_a_fork_each_branch_gets_a_chain() -> None:
    stage = Stage(("in", "work1"), ("in", "work2"), ("work1", "out"), ("work2", "out"))
    fork = ids.forked_chain(RUN_ID, stage.visit("work2").visit_uuid)
    assert set(stage.chains.running) == {FIRST, fork}
    stage.drive()
    assert stage.run.status == "SUCCESS"


def test_what_does_not_fit_into_one_transaction_is_left_to_the_chain() -> None:
    wide = [edge for number in range(12) for edge in (("in", f"work{number}"), (f"work{number}", "out"))]
    stage = Stage(*wide, bounds=Bounds(items=12, size=1_000_000))
    assert 1 < len(stage.engine.store.visits(RUN_ID)) < 14
    [(chain, step)] = stage.chains.running.items()
    assert (chain, step["nodeId"], step["kind"]) == (FIRST, "", "flow")
    stage.drive()
    assert stage.run.status == "SUCCESS"


@pytest.mark.parametrize(
    ("when", "fault"), [("before", WriteConflict), ("before", OutcomeUnknown), ("after", OutcomeUnknown)]
)
@pytest.mark.parametrize("arrows", [LINE, (("in", "out"),)])
def test_a_start_whose_outcome_is_unknown_happens_once(
    when: str, fault: type[Exception], arrows: tuple[tuple[str, str], ...]
) -> None:
    items = Counting(when, fault)
    stage = Stage(*arrows, items=items)
    assert items.transactions == 1
    stage.drive()
    assert stage.run.status == "SUCCESS"
    assert len([event for event in stage.events() if event["type"] == "visit_recorded"]) == len(arrows) + 1


def test_a_second_start_is_refused_though_it_read_the_run_before_the_first() -> None:
    stage = Stage(*LINE)
    seen: Run = stage.created
    with pytest.raises(RunAlreadyStarted):
        stage.engine.starting.start(seen)
    assert len(stage.events()) == 4


class Deaf(MemoryChains):
    """The process dies before it can start a chain."""

    deaf = True

    def start(self, name: str, step: dict[str, Any]) -> None:
        if self.deaf:
            raise Killed
        super().start(name, step)


class Killed(BaseException): ...


def test_a_process_that_dies_before_it_starts_the_chain_leaves_it_to_the_sweep() -> None:
    chains = Deaf()
    stage = Stage(*LINE, chains=chains, starts=False)
    with pytest.raises(Killed):
        stage.engine.starting.start(stage.created)
    assert (stage.run.status, chains.running) == ("RUNNING", {})
    chains.deaf = False
    stage.clock.pass_by(FIRST_CHECK.total_seconds())
    stage.engine.sweep.sweep()
    stage.drive()
    assert stage.run.status == "SUCCESS"
