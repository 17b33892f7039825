"""A run whose chains are gone goes on from the tables (protocol rule D)."""

import pytest

from stepweave import ids
from stepweave.adapters.memory import MemoryItems
from stepweave.execution.step import Step
from stepweave.items import Item, OutcomeUnknown, Update
from tests.unit.services.stage import RUN_ID, Stage

LINE = (("in", "work"), ("work", "out"))
FIRST = ids.first_chain(RUN_ID)


def redriven(stage: Stage) -> int:
    return stage.engine.redrive.redrive(RUN_ID)


def test_a_visit_whose_chain_has_ended_gets_a_new_chain_and_the_run_goes_on() -> None:
    stage = Stage(*LINE)
    stage.chains.stop(FIRST)
    assert redriven(stage) == 1
    (name,) = stage.chains.running
    assert name == stage.visit("work").owner == ids.redriven_chain(RUN_ID, stage.visit("work").visit_uuid, 1)
    stage.drive()
    assert stage.run.status == "SUCCESS"


def test_beside_living_chains_nothing_is_started() -> None:
    stage = Stage(*LINE)
    assert redriven(stage) == 0
    assert (list(stage.chains.running), stage.run.redrives) == ([FIRST], 0)


def test_only_what_is_abandoned_is_started() -> None:
    stage = Stage(("in", "work1"), ("in", "work2"), ("work1", "out"), ("work2", "out"))
    stage.chains.stop(FIRST)
    assert redriven(stage) == 1
    assert {stage.visit(name).owner for name in ("work1", "work2")} == set(stage.chains.running)


class TestAnExecutionThatCannotBeSeen:
    """A process died between the commit that opened a fork and the start of its chain, or describing lags behind."""

    @pytest.fixture
    def stage(self) -> Stage:
        stage = Stage(*LINE)
        stage.chains.names.clear()
        stage.chains.running.clear()
        return stage

    def test_is_waited_for_60_seconds(self, stage: Stage) -> None:
        stage.clock.pass_by(59)
        assert redriven(stage) == 0

    def test_and_then_believed_not_to_be_there(self, stage: Stage) -> None:
        stage.clock.pass_by(60)
        assert redriven(stage) == 1
        stage.drive()
        assert stage.run.status == "SUCCESS"

    def test_as_is_the_chain_of_a_redrive_that_was_killed_half_way(self, stage: Stage) -> None:
        stage.clock.pass_by(60)
        redriven(stage)
        stage.chains.names.clear()
        stage.chains.running.clear()
        assert redriven(stage) == 0
        stage.clock.pass_by(60)
        assert redriven(stage) == 1


def test_the_old_chain_finds_that_the_visit_is_not_its_own_any_more() -> None:
    stage = Stage(*LINE)
    step = Step.from_json(stage.chains.running[FIRST])
    stage.chains.stop(FIRST)
    redriven(stage)
    assert stage.engine.advance.step(step, FIRST, lambda: 900).kind == "end"
    assert stage.visit("work").status == "RUNNING"


class TestWithoutProgress:
    def killed(self, stage: Stage, times: int) -> None:
        for _ in range(times):
            stage.chains.running.clear()
            redriven(stage)

    def test_a_run_is_given_up_after_five_redrives_with_a_sentence_that_names_where_it_stands(self) -> None:
        stage = Stage(*LINE)
        self.killed(stage, 5)
        assert stage.run.status == "RUNNING"
        self.killed(stage, 1)
        assert stage.run.status == "FAILED"
        assert stage.run.error == "the run was given up: restarted 5 times without any progress; it stands at: work"
        last = stage.events()[-1]
        assert (last["type"], last["error"], last["failedNodeId"]) == ("workflow_error", stage.run.error, None)
        assert (stage.visit("work").status, stage.run.closing) == ("FAILED", False)

    def test_any_commit_begins_the_count_anew(self) -> None:
        stage = Stage(*LINE, acts={"work": lambda work: work.flush() or pytest.fail("killed after its commit")})
        self.killed(stage, 5)
        with pytest.raises(pytest.fail.Exception):
            stage.step(next(iter(stage.chains.running)))
        self.killed(stage, 5)
        assert stage.run.status == "RUNNING"
        assert stage.run.redrives == 10


def test_a_run_that_is_over_is_closed_instead() -> None:
    stage = Stage(*LINE)
    stage.engine.closing.close = lambda run_id: True  # type: ignore[method-assign]  # the process dies here
    stage.engine.ending.cancel(RUN_ID)
    del stage.engine.closing.close  # type: ignore[method-assign]
    assert (stage.run.closing, stage.visit("work").status) == (True, "RUNNING")
    assert redriven(stage) == 0
    assert (stage.run.closing, stage.visit("work").status) == (False, "FAILED")


class Foggy(MemoryItems):
    """Carries updates of visits out, and does not tell so the first time."""

    told = False

    def update(self, update: Update) -> Item:
        item = super().update(update)
        if "owner" in update.sets and not self.told:
            self.told = True
            raise OutcomeUnknown
        return item


def test_a_take_over_whose_outcome_is_unknown_is_looked_up() -> None:
    stage = Stage(*LINE, items=Foggy())
    stage.chains.stop(FIRST)
    assert redriven(stage) == 1
    assert list(stage.chains.running) == [stage.visit("work").owner]
