"""What several attempts of a node left behind, as one visit tells it (contract §3)."""

from stepweave.execution.outcome import Outcome, failed, succeeded
from stepweave.execution.trace import trace
from stepweave.execution.visit import VisitBody
from stepweave.services.retries import _joined


def attempt(thinking: str) -> VisitBody:
    outcome = failed("e", trace=trace(thinking, limit=10), logs=({"message": thinking},))
    return VisitBody({}, outcome.envelope, outcome.logs, "e")


def last(thinking: str) -> Outcome:
    return succeeded("ok", {"result": "r"}, trace=trace(thinking, limit=10), logs=({"message": thinking},))


def test_what_all_attempts_thought_stands_in_their_order() -> None:
    joined = _joined(last("c"), [attempt("a"), attempt("b")], 10)
    assert joined.envelope["trace"] == {"thinking": "abc", "tool_calls": []}
    assert [entry["message"] for entry in joined.logs] == ["a", "b", "c"]
    assert joined.envelope["data"] == {"result": "r"}


def test_the_joined_trace_is_cut_to_the_limit_again() -> None:
    joined = _joined(last("c" * 8), [attempt("a" * 8)], 10)
    assert joined.envelope["trace"] == {"thinking": "a" * 8 + "cc", "tool_calls": [], "truncated": True}


def test_that_one_attempt_was_cut_is_not_forgotten() -> None:
    joined = _joined(last("c"), [attempt("a" * 11)], 100)
    assert joined.envelope["trace"]["truncated"] is True
