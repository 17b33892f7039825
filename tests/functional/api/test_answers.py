"""Answers that come when and as nobody planned: at once, twice, late, for another run, in another language (contract §4)."""

import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest

from stepweave.errors import Unavailable
from tests.functional.api.definitions import asking, definition
from tests.functional.api.stack import Stack
from tests.functional.api.test_agents import agent, result, streamed

YEAR = timedelta(days=366)


def question_of(stack: Stack, run_id: str) -> str:
    pause = stack.data("GET", f"/api/v1/runs/{run_id}/state")["currentPause"]
    return str(pause["clarifyId"])


def resume(stack: Stack, run_id: str, clarify_id: str, answer: Any, **options: Any) -> tuple[int, Any]:
    """The status of the call, and `accepted` or the code of its error."""
    body = {"clarifyId": clarify_id, "answer": answer}
    response = stack.call("POST", f"/api/v1/runs/{run_id}/resume", body, **options)
    told = response.json()
    return response.status_code, told["data"]["accepted"] if response.is_success else told["code"]


def test_two_answers_at_once_are_one_answer_and_the_other_is_told_so(stack: Stack) -> None:
    stack.save(asking())
    run_id = stack.finish_run("asking")
    clarify_id = question_of(stack, run_id)
    both = threading.Barrier(2)

    def answer(text: str) -> tuple[int, Any]:
        both.wait()
        return resume(stack, run_id, clarify_id, text)

    with ThreadPoolExecutor(2) as people:
        told = dict(zip(("one", "two"), people.map(answer, ("one", "two")), strict=True))
    assert sorted(told.values(), key=str) == [(200, True), (409, "CLARIFY_ALREADY_ANSWERED")]
    stack.drive()
    [taken] = [text for text, (status, _) in told.items() if status == 200]
    assert result(stack, "asking", run_id)["outputs"]["data"] == {"result": taken}
    assert [content for _, _, content in streamed(stack, run_id, "ask", "tool_result")] == [taken]


def test_an_answer_for_another_run_changes_neither(stack: Stack) -> None:
    stack.save(asking())
    mine, other = stack.finish_run("asking"), stack.finish_run("asking")
    clarify_id = question_of(stack, mine)
    assert resume(stack, other, clarify_id, "lost") == (404, "CLARIFY_NOT_FOUND")
    assert question_of(stack, mine) == clarify_id
    assert question_of(stack, other) != clarify_id
    assert resume(stack, mine, clarify_id, "found") == (200, True)
    stack.drive()
    assert result(stack, "asking", mine)["outputs"]["data"] == {"result": "found"}
    assert result(stack, "asking", other)["status"] == "RUNNING"


def test_an_answer_may_come_before_the_chain_sleeps(stack: Stack) -> None:
    stack.save(asking())
    run_id = stack.start_run("asking")
    while stack.data("GET", f"/api/v1/runs/{run_id}/state")["currentPause"] is None:
        assert stack.step()
    assert stack.chains.asleep == {}
    assert resume(stack, run_id, question_of(stack, run_id), "early") == (200, True)
    stack.drive()
    assert result(stack, "asking", run_id)["outputs"]["data"] == {"result": "early"}


@pytest.mark.parametrize("chain_lives", [True, False])
def test_an_answer_may_come_after_a_year(stack: Stack, chain_lives: bool) -> None:
    """Step Functions ends an execution after a year, and stepweave starts another that waits on."""
    stack.save(asking())
    run_id = stack.finish_run("asking", ttlHours=1)
    stack.clock.ahead = YEAR
    stack.engine.sweep.sweep()
    if not chain_lives:
        stack.chains.running.clear()
        stack.chains.asleep.clear()
        assert stack.engine.redrive.redrive(run_id) == 1
        stack.drive()
    pause = stack.data("GET", f"/api/v1/runs/{run_id}/state")["currentPause"]
    assert resume(stack, run_id, pause["clarifyId"], "at last") == (200, True)
    stack.drive()
    told = result(stack, "asking", run_id)
    assert (told["status"], told["outputs"]["data"]) == ("SUCCESS", {"result": "at last"})
    assert len(streamed(stack, run_id, "ask", "clarify_request")) == 1


def test_an_answer_may_come_in_another_language_and_the_run_keeps_its_own(stack: Stack) -> None:
    stack.save(asking())
    created = stack.call("POST", "/api/v1/workflows/asking/runs", {}, headers={"Accept-Language": "zh-CN"})
    run_id = created.json()["data"]["runId"]
    stack.data("POST", f"/api/v1/workflows/asking/runs/{run_id}/start")
    stack.drive()
    answer = "Grün — 🟢 \u2067أخضر\u2069 {{topic}}"
    told = resume(stack, run_id, question_of(stack, run_id), answer, headers={"Accept-Language": "en"})
    assert told == (200, True)
    stack.drive()
    outputs = result(stack, "asking", run_id)["outputs"]
    assert outputs == {"status": 200, "message": "工作流执行成功", "data": {"result": answer}}
    assert streamed(stack, run_id, "ask", "tool_result") == [("tool_result", "clarify", answer)]


@pytest.mark.parametrize("order", [("a", "b"), ("b", "a"), None], ids=["a first", "b first", "at once"])
def test_branches_that_ask_at_once_each_get_their_own_answer(stack: Stack, order: tuple[str, str] | None) -> None:
    script = [{"ask": {"question": "Which?"}}], [{"text": "$answer"}]
    nodes = {name: agent(*script, outputs=[{"name": f"of_{name}"}]) for name in ("a", "b")}
    edges = [("in", "a"), ("in", "b"), ("a", "out"), ("b", "out")]
    stack.save(definition("two", {"in": {"type": "userInput"}, **nodes, "out": {"type": "output"}}, edges))
    run_id = stack.finish_run("two")
    pauses = stack.data("GET", f"/api/v1/runs/{run_id}/state")["pauses"]
    questions = {pause["nodeId"]: pause["clarifyId"] for pause in pauses}

    def answer(name: str) -> tuple[int, Any]:
        return resume(stack, run_id, questions[name], f"for {name}")

    with stack.driven(), ThreadPoolExecutor(2 if order is None else 1) as people:
        assert list(people.map(answer, order or ("a", "b"))) == [(200, True)] * 2
    stack.drive()
    told = result(stack, "two", run_id)
    assert told["outputs"]["data"] == {"of_a": "for a", "of_b": "for b"}
    assert [len(node["visits"]) for node in told["nodes"]] == [1, 1, 1, 1]


def test_an_answer_that_wakes_nobody_is_kept_and_the_sweep_wakes(stack: Stack, monkeypatch: pytest.MonkeyPatch) -> None:
    stack.save(asking())
    run_id = stack.finish_run("asking")
    clarify_id = question_of(stack, run_id)

    def out_of_reach(token: str, step: Any) -> bool:
        raise Unavailable("Step Functions did not answer")

    with monkeypatch.context() as outage:
        outage.setattr(stack.chains, "wake", out_of_reach)
        assert resume(stack, run_id, clarify_id, "kept") == (200, False)
    assert stack.data("GET", f"/api/v1/runs/{run_id}/state")["pauses"] == []
    assert resume(stack, run_id, clarify_id, "again") == (409, "CLARIFY_ALREADY_ANSWERED")
    stack.drive()
    assert result(stack, "asking", run_id)["status"] == "RUNNING"
    assert stack.engine.sweep.sweep() == 1
    stack.drive()
    assert result(stack, "asking", run_id)["outputs"]["data"] == {"result": "kept"}
