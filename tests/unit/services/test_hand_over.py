"""A chain stays far below the history limit of an execution (protocol.md, Cost): 2,000 steps, then another goes on."""

from dataclasses import replace

import pytest

from stepweave import ids
from stepweave.execution.step import Step
from stepweave.services.settling import HAND_OVER_STEPS
from tests.unit.services.stage import RUN_ID, Stage

FIRST = ids.first_chain(RUN_ID)


def staged(steps: int) -> Stage:
    """A chain that has done so many steps and stands at `work1`."""
    stage = Stage(("in", "work1"), ("work1", "work2"), ("work2", "out"))
    stage.chains.running[FIRST] = replace(Step.from_json(stage.chains.running[FIRST]), steps=steps).to_json()
    return stage


def test_steps_are_counted() -> None:
    stage = staged(7)
    assert stage.step(FIRST).steps == 8


@pytest.mark.parametrize(("steps", "owner"), [(HAND_OVER_STEPS - 2, FIRST), (HAND_OVER_STEPS - 1, None)])
def test_the_step_that_would_be_the_2000th_is_done_by_a_new_chain(steps: int, owner: str | None) -> None:
    stage = staged(steps)
    stage.step(FIRST)
    expected = owner or ids.forked_chain(RUN_ID, stage.visit("work2").visit_uuid)
    assert stage.visit("work2").owner == expected
    assert list(stage.chains.running) == [expected]


def test_the_new_chain_begins_to_count_anew_and_ends_the_run() -> None:
    stage = staged(HAND_OVER_STEPS - 1)
    stage.step(FIRST)
    (step,) = stage.chains.running.values()
    assert step["steps"] == 0
    stage.drive()
    assert stage.run.status == "SUCCESS"
