"""Questions to people over HTTP (contract §4: state and resume)."""

import re
from typing import Any

import pytest

from tests.functional.api.definitions import asking
from tests.functional.api.stack import Stack

OPTIONS = [{"label": "Red one", "value": "red"}, {"label": "Blue one", "value": "blue"}]


@pytest.fixture
def waiting(stack: Stack) -> tuple[Stack, str, str]:
    """A run that asks; its id and that of its question."""
    stack.save(asking(question="Colour?", options=OPTIONS))
    run_id = stack.finish_run("asking")
    state = stack.data("GET", f"/api/v1/runs/{run_id}/state")
    return stack, run_id, state["currentPause"]["clarifyId"]


def resume(stack: Stack, run_id: str, body: Any, **options: Any) -> tuple[int, str]:
    response = stack.call("POST", f"/api/v1/runs/{run_id}/resume", body, **options)
    return response.status_code, response.json()["code"]


def test_the_state_tells_the_open_question_and_the_run_stays_running(waiting: tuple[Stack, str, str]) -> None:
    stack, run_id, clarify_id = waiting
    state = stack.data("GET", f"/api/v1/runs/{run_id}/state")
    pause = state["currentPause"]
    assert (state["runId"], state["status"], state["pauses"]) == (run_id, "RUNNING", [pause])
    assert re.fullmatch(r"clar-[0-9a-f]{12}", clarify_id)
    assert (pause["question"], pause["nodeId"], pause["choices"]) == ("Colour?", "ask", ["red", "blue"])
    assert (pause["options"], pause["allowCustom"], pause["placeholder"], pause["multiple"]) == (
        OPTIONS,
        False,
        "",
        False,
    )
    assert not pause["createdAt"].endswith("Z")
    assert stack.data("GET", f"/api/workflows/runs/{run_id}/state", admin=True) == state


@pytest.mark.parametrize(("path", "admin"), [("/api/v1/runs", False), ("/api/workflows/runs", True)])
def test_an_answer_lets_the_run_go_on(waiting: tuple[Stack, str, str], path: str, admin: bool) -> None:
    stack, run_id, clarify_id = waiting
    body = {"clarifyId": clarify_id, "answer": "blue"}
    told = stack.data("POST", f"{path}/{run_id}/resume", body, admin=admin)
    assert told == {"accepted": True, "runId": run_id, "clarifyId": clarify_id}
    assert stack.data("GET", f"/api/v1/runs/{run_id}/state")["currentPause"] is None
    stack.drive()
    assert stack.data("GET", f"/api/v1/workflows/asking/runs/{run_id}")["outputs"]["data"] == {"result": "blue"}


def test_checks_come_in_the_order_of_the_contract(waiting: tuple[Stack, str, str]) -> None:
    stack, run_id, clarify_id = waiting
    unknown = {"clarifyId": "clar-000000000000", "answer": "red"}
    assert resume(stack, "00000000", {"clarifyId": "x"}) == (400, "VALIDATION_FAILED")
    assert resume(stack, run_id, {}) == (400, "VALIDATION_FAILED")
    assert resume(stack, run_id, None) == (400, "VALIDATION_FAILED")
    assert resume(stack, "00000000", unknown) == (404, "RUN_NOT_FOUND")
    assert resume(stack, run_id, unknown) == (404, "CLARIFY_NOT_FOUND")
    for answer in ("green", 1, ["red"], None, {"value": "red"}):
        body = {"clarifyId": clarify_id, "answer": answer}
        assert resume(stack, run_id, body) == (400, "CLARIFY_ANSWER_INVALID")
    assert resume(stack, run_id, {"clarifyId": clarify_id, "answer": "red"}) == (200, "OK")
    assert resume(stack, run_id, {"clarifyId": clarify_id, "answer": 1}) == (409, "CLARIFY_ALREADY_ANSWERED")
    stack.drive()
    assert resume(stack, run_id, unknown) == (410, "RUN_ALREADY_FINISHED")


def test_a_run_that_has_not_started_asks_nothing(waiting: tuple[Stack, str, str]) -> None:
    stack, _, clarify_id = waiting
    created = stack.create_run("asking")
    state = stack.data("GET", f"/api/v1/runs/{created}/state")
    assert state == {"runId": created, "status": "CREATED", "currentPause": None, "pauses": []}
    assert resume(stack, created, {"clarifyId": clarify_id, "answer": "red"}) == (404, "CLARIFY_NOT_FOUND")


def test_cancelling_takes_the_question_away(waiting: tuple[Stack, str, str]) -> None:
    stack, run_id, clarify_id = waiting
    stack.data("POST", f"/api/v1/runs/{run_id}/cancel")
    assert stack.data("GET", f"/api/v1/runs/{run_id}/state")["pauses"] == []
    assert resume(stack, run_id, {"clarifyId": clarify_id, "answer": "red"}) == (410, "RUN_ALREADY_FINISHED")
