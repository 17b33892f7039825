"""What a warm process remembers of visits: bounded, gone in time, and right whoever writes (contract §6)."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from stepweave import clock as times
from stepweave.adapters.memory import MemoryBlobs, MemoryItems
from stepweave.execution.envelope import success
from stepweave.execution.lineage import VisitFact
from stepweave.execution.run import Run
from stepweave.execution.visit import VisitBody
from stepweave.services.context_index import KEPT, MOST_VISITS, VisitIndex
from stepweave.services.memory import RunMemory
from stepweave.store.runs import Runs
from tests.unit.services.stage import Clock

RUN = Run("0000c0de", "drawn", 1, 1, "RUNNING", "2030-01-01T00:00:00.000Z")
OTHER = replace(RUN, run_id="0000beef")


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def memory() -> RunMemory:
    return RunMemory(Runs(MemoryItems(), MemoryBlobs()))


@pytest.fixture
def index(clock: Clock, memory: RunMemory) -> VisitIndex:
    return VisitIndex(clock, memory)


def fact(number: int, order: int | None = 1, sources: Sequence[str] = ()) -> VisitFact:
    return VisitFact(f"v{number}", f"n{number}", 1, order, tuple(sources))


def known(index: VisitIndex, run: Run, *numbers: int) -> list[str]:
    return sorted(index.recall(run, [f"v{number}" for number in numbers]))


def ended(clock: Clock, run: Run = RUN) -> Run:
    return replace(run, status="SUCCESS", ended_at=times.to_json(clock.now()))


def test_what_was_remembered_of_one_run_is_recalled_for_it_alone(index: VisitIndex) -> None:
    index.remember(RUN, [fact(1), fact(2)])
    assert index.recall(RUN, ["v1", "v3"]) == {"v1": fact(1)}
    assert known(index, OTHER, 1, 2) == []


def test_an_end_replaces_what_was_known_before_it_and_nothing_replaces_an_end(index: VisitIndex) -> None:
    index.remember(RUN, [fact(1, order=None)])
    index.remember(RUN, [fact(1, order=7)])
    index.remember(RUN, [fact(1, order=None), fact(1, order=9)])
    assert index.recall(RUN, ["v1"]) == {"v1": fact(1, order=7)}


def test_of_one_run_200_visits_are_remembered(index: VisitIndex) -> None:
    assert MOST_VISITS == 200
    index.remember(RUN, [fact(number) for number in range(MOST_VISITS + 50)])
    assert len(index.recall(RUN, [f"v{number}" for number in range(MOST_VISITS + 50)])) == MOST_VISITS
    index.remember(OTHER, [fact(1)])
    assert known(index, OTHER, 1) == ["v1"]


def test_with_too_many_bytes_the_run_asked_about_longest_ago_is_forgotten(clock: Clock, memory: RunMemory) -> None:
    index = VisitIndex(clock, memory, most_bytes=25 * 400)
    runs = [replace(RUN, run_id=f"{number:08x}") for number in range(3)]
    for run in runs[:2]:
        index.remember(run, [fact(number) for number in range(10)])
    known(index, runs[0], 1)
    index.remember(runs[2], [fact(number) for number in range(10)])
    assert [bool(known(index, run, 1)) for run in runs] == [True, False, True]


def test_many_sources_count_too(clock: Clock, memory: RunMemory) -> None:
    index = VisitIndex(clock, memory, most_bytes=50_000)
    index.remember(RUN, [fact(1)])
    index.remember(OTHER, [fact(1, sources=[f"v{number}" for number in range(600)])])
    assert known(index, RUN, 1) == known(index, OTHER, 1) == []


def test_half_an_hour_after_the_end_of_a_run_all_of_it_is_forgotten(
    index: VisitIndex, clock: Clock, memory: RunMemory
) -> None:
    assert timedelta(minutes=30) == KEPT
    over = ended(clock)
    index.remember(over, [fact(1)])
    memory.remember(RUN.run_id, "v1", VisitBody({}, success("ok", {})))
    clock.pass_by(KEPT.total_seconds() - 1)
    assert known(index, over, 1) == ["v1"]
    assert memory.body(RUN.run_id, "v1") is not None
    clock.pass_by(1)
    assert known(index, over, 1) == []
    assert memory.body(RUN.run_id, "v1") is None
    index.remember(over, [fact(1)])
    assert known(index, over, 1) == []


def test_a_run_that_nobody_asks_about_is_forgotten_as_soon_as_another_is_asked_about(
    index: VisitIndex, clock: Clock
) -> None:
    index.remember(RUN, [fact(1)])
    clock.pass_by(KEPT.total_seconds() + 1)
    known(index, OTHER, 1)
    assert index._runs == {}
    assert index._size == 0


def test_what_is_forgotten_leaves_room_for_as_much(clock: Clock, memory: RunMemory) -> None:
    index = VisitIndex(clock, memory, most_bytes=10 * 400)
    for round_ in range(20):
        run = replace(RUN, run_id=f"{round_:08x}")
        index.remember(run, [fact(number) for number in range(10)])
        assert len(index.recall(run, [f"v{number}" for number in range(10)])) == 10
        clock.pass_by(KEPT.total_seconds() + 1)


def test_a_body_that_is_larger_than_a_quarter_of_the_memory_is_not_kept() -> None:
    memory = RunMemory(Runs(MemoryItems(), MemoryBlobs()), most_bytes=4_000)
    large: Any = VisitBody({}, success("ok", {"x": "x" * 2_000}))
    memory.remember("r", "large", large)
    memory.remember("r", "small", VisitBody({}, success("ok", {})))
    assert memory.body("r", "large") is None
    assert memory.body("r", "small") is not None
