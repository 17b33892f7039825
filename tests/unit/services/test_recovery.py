"""What becomes of a visit that the platform gave up on (protocol rule V): its question, its trace, and who may say so."""

import pytest

from stepweave import clock as times
from stepweave import ids
from stepweave.execution.outcome import Asked, Outcome, failed, succeeded
from stepweave.execution.pause import Pause, Question
from stepweave.execution.step import ASK, Step
from stepweave.execution.trace import trace
from stepweave.services.recovery import CLOSED
from stepweave.services.settling import Settling
from stepweave.services.visit_work import VisitWork
from stepweave.texts import Text
from tests.unit.services.stage import RUN_ID, Act, Stage

CHAIN = ids.first_chain(RUN_ID)
LINE = (("in", "work"), ("work", "out"))
GONE = Text("进程没了", "the process is gone")


def asks(work: VisitWork) -> Outcome | Asked:
    return succeeded("ok", {}) if work.answers else Asked(Question("Which?"), "ask", {"so": "far"})


def staged(act: Act, strategy: str = "abort") -> Stage:
    """At the step of `work`."""
    return Stage(*LINE, acts={"work": act}, data={"work": {"failStrategy": strategy}})


def asking(strategy: str = "abort") -> Stage:
    """The chain is on its way to sleep on the question of `work`."""
    stage = staged(asks, strategy)
    assert stage.step(CHAIN).kind == ASK
    return stage


def recover(stage: Stage) -> Step:
    return stage.engine.advance.recover(Step.from_json(stage.chains.running[CHAIN]), CHAIN, GONE)


def the_pause(stage: Stage) -> Pause:
    [pause] = stage.engine.asks._pauses.of(RUN_ID)
    return pause


def test_the_failure_stands_in_the_log_with_its_reason() -> None:
    stage = staged(asks)
    recover(stage)
    assert (stage.run.status, stage.run.error) == ("FAILED", "node work failed: the process is gone")
    [entry] = stage.body("work").logs
    assert (entry["type"], entry["message"]) == ("ERROR", "the process is gone")
    assert entry["timestamp"] is not None


def test_attempts_of_the_node_before_are_part_of_the_trace() -> None:
    def flaky(work: VisitWork) -> Outcome:
        work.emit("thinking", "first try.")
        told = {"type": "INFO", "timestamp": None, "message": "tried", "detail": None}
        return failed("overloaded", retryable=True, trace=trace("first try."), logs=(told,))

    stage = Stage(*LINE, acts={"work": flaky}, data={"work": {"retry": {"backoffSeconds": 3}}})
    assert stage.step(CHAIN).seconds == 3
    recover(stage)
    body = stage.body("work")
    assert body.output["trace"]["thinking"] == "first try."
    assert [entry["message"] for entry in body.logs] == ["tried", "the process is gone"]


@pytest.mark.parametrize(("strategy", "status"), [("abort", "FAILED"), ("skip", "SUCCESS")])
def test_the_open_question_of_the_visit_is_closed(strategy: str, status: str) -> None:
    stage = asking(strategy)
    stage.chains.running[CHAIN] = recover(stage).to_json()
    stage.chains.running = {name: step for name, step in stage.chains.running.items() if step["kind"] != "end"}
    stage.drive()
    assert (stage.run.status, the_pause(stage).status) == (status, "CLOSED")
    assert stage.engine.asks.open(RUN_ID) == []


def test_a_recovery_that_died_half_way_is_completed_by_whoever_comes_next(monkeypatch: pytest.MonkeyPatch) -> None:
    class Killed(BaseException):
        """The process is gone."""

    def dies(*_: object) -> None:
        raise Killed

    stage = asking("skip")
    with monkeypatch.context() as death:
        death.setattr(Settling, "end", dies)
        with pytest.raises(Killed):
            recover(stage)
    assert (the_pause(stage).status, stage.visit("work").status) == ("CLOSED", "RUNNING")
    stage.chains.running.clear()
    assert stage.engine.redrive.redrive(RUN_ID) == 1
    stage.drive()
    assert (stage.visit("work").status, stage.run.status) == ("SKIPPED", "SUCCESS")
    assert stage.body("work").error == CLOSED.en


def test_a_recovery_that_comes_too_late_leaves_the_question_to_the_new_owner(monkeypatch: pytest.MonkeyPatch) -> None:
    stage = asking()
    step = Step.from_json(stage.chains.running[CHAIN])
    pauses = stage.engine.asks._pauses
    read = pauses.get

    def taken_over_meanwhile(run_id: str, clarify_id: str) -> Pause | None:
        visit = stage.visit("work")
        if visit.owner == CHAIN:
            stage.engine.store.take_over(visit, "another", times.to_json(stage.clock.now()))
        return read(run_id, clarify_id)

    monkeypatch.setattr(pauses, "get", taken_over_meanwhile)
    assert stage.engine.advance.recover(step, CHAIN, GONE).kind == "end"
    assert (the_pause(stage).status, stage.visit("work").status) == ("OPEN", "RUNNING")


def test_a_question_that_is_answered_already_stays_answered() -> None:
    stage = asking("skip")
    assert stage.engine.asks.answer(stage.run, the_pause(stage).clarify_id, "yes")
    recover(stage)
    assert (the_pause(stage).status, stage.visit("work").status) == ("ANSWERED", "SKIPPED")
