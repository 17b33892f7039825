"""A node's own retries (contract §2, `retry`): when the next attempt comes, and what the visit tells of all of them."""

import pytest

from stepweave.execution.outcome import Outcome, failed, succeeded
from stepweave.execution.trace import trace
from stepweave.services.visit_work import VisitWork
from tests.unit.services.stage import Act, Stage

LINE = (("in", "work"), ("work", "out"))


def flaky(times: int, *, retryable: bool = True) -> Act:
    """Fails that often, thinking aloud, then succeeds."""

    def act(work: VisitWork) -> Outcome:
        word = f"attempt {work.tries + 1}."
        work.emit("thinking", word)
        told, logs = trace(word), ({"type": "INFO", "timestamp": None, "message": word, "detail": None},)
        if work.tries < times:
            return failed("overloaded", retryable=retryable, trace=told, logs=logs)
        return succeeded("ok", {"result": word}, trace=told, logs=logs)

    return act


def staged(act: Act, **retry: float) -> Stage:
    return Stage(*LINE, acts={"work": act}, data={"work": {"retry": retry}})


def test_a_short_wait_is_waited_in_the_process_and_doubles() -> None:
    stage = staged(flaky(2), backoffSeconds=0.5)
    steps = stage.drive()
    assert [step.kind for step in steps] == ["end"]
    assert [seconds for seconds in stage.clock.slept if seconds >= 0.5] == [0.5, 1.0]
    assert stage.run.status == "SUCCESS"


def test_a_long_wait_is_the_chains() -> None:
    stage = staged(flaky(2), backoffSeconds=3)
    steps = stage.drive()
    assert [(step.kind, step.seconds) for step in steps] == [("wait", 3), ("wait", 6), ("end", 0)]
    assert stage.clock.slept == []
    assert stage.run.status == "SUCCESS"


def test_part_of_a_second_is_not_waited_too_little() -> None:
    assert ("wait", 3) in [(step.kind, step.seconds) for step in staged(flaky(1), backoffSeconds=2.25).drive()]


def test_the_first_attempt_counts() -> None:
    stage = staged(flaky(9), maxAttempts=2, backoffSeconds=0)
    stage.drive()
    assert stage.run.status == "FAILED"
    assert stage.run.error == "node work failed: overloaded"
    assert stage.visit("work").tries == 1


def test_what_is_not_a_providers_fault_is_not_tried_again() -> None:
    stage = staged(flaky(1, retryable=False))
    stage.drive()
    assert (stage.run.status, stage.visit("work").tries) == ("FAILED", 0)


@pytest.mark.parametrize("backoff", [0.5, 3])
def test_the_visit_tells_of_all_attempts_whoever_made_them(backoff: float) -> None:
    stage = staged(flaky(2), backoffSeconds=backoff)
    stage.drive()
    body = stage.body("work")
    assert body.output["data"] == {"result": "attempt 3."}
    assert body.output["trace"]["thinking"] == "attempt 1.attempt 2.attempt 3."
    assert [entry["message"] for entry in body.logs] == ["attempt 1.", "attempt 2.", "attempt 3."]
    assert all(entry["timestamp"] for entry in body.logs)


def test_a_failure_after_all_attempts_tells_of_them_too() -> None:
    stage = staged(flaky(9), backoffSeconds=0)
    stage.drive()
    assert stage.body("work").output["trace"]["thinking"] == "attempt 1.attempt 2.attempt 3."


def test_readers_hear_of_each_new_attempt_and_nothing_is_taken_back() -> None:
    stage = staged(flaky(2), backoffSeconds=3)
    stage.drive()
    streamed = [(event["kind"], event["content"]) for event in stage.events() if event["type"] == "node_stream"]
    assert streamed == [
        ("thinking", "attempt 1."),
        ("status", "attempt 1 failed (overloaded); trying again in 3 s"),
        ("thinking", "attempt 2."),
        ("status", "attempt 2 failed (overloaded); trying again in 6 s"),
        ("thinking", "attempt 3."),
    ]


class Killed(BaseException):
    """The process is gone."""


def test_an_attempt_after_a_death_is_told_by_a_status_and_nothing_streamed_is_taken_back() -> None:
    alive: list[VisitWork] = []

    def act(work: VisitWork) -> Outcome:
        work.emit("thinking", "half a thou")
        if not alive:
            alive.append(work)
            work.flush()
            raise Killed
        return succeeded("ok", {})

    stage = Stage(*LINE, acts={"work": act})
    (chain,) = stage.chains.running
    with pytest.raises(Killed):
        stage.step(chain)
    stage.drive()
    streamed = [(event["kind"], event["content"]) for event in stage.events() if event["type"] == "node_stream"]
    assert streamed == [
        ("thinking", "half a thou"),
        ("status", "the process that ran the node was lost: it runs again from its beginning"),
        ("thinking", "half a thou"),
    ]
    assert stage.run.status == "SUCCESS"
