"""Agents that are stopped from outside: cancelled, aborted by another branch, given up after their process died too often
(contract §3, §5)."""

import json
import time
from collections.abc import Mapping
from typing import Any

import pytest

from stepweave.execution.step import Step
from stepweave.runtime.chain import reason_of
from stepweave.services.visit_work import VisitWork
from tests.functional.api.definitions import definition
from tests.functional.api.stack import Stack
from tests.functional.api.test_agents import agent, one_agent, result

LONG = [step for number in range(400) for step in ({"text": f"{number} "}, {"delayMs": 25})]
"""Ten seconds of talk, which nobody waits for to the end where agents are stopped."""
WRITE = {"tool": {"name": "write_file", "args": {"path": "late.txt", "content": "late"}}}
ASK = {"ask": {"question": "Which?"}}
DEATH = {"Error": "Lambda.Unknown", "Cause": json.dumps({"errorMessage": "Runtime exited: signal: killed"})}


class Killed(BaseException):
    """The process is gone."""


def node(stack: Stack, workflow: str, run_id: str, node_id: str = "agent") -> Mapping[str, Any]:
    found: Mapping[str, Any] = next(
        each for each in result(stack, workflow, run_id)["nodes"] if each["nodeId"] == node_id
    )
    return found


def wait_for(stack: Stack, run_id: str, content: str) -> None:
    """Until somebody has streamed it."""
    while not any(content in json.dumps(event.data) for event in stack.engine.events.read(run_id, 0, 1000)):
        time.sleep(0.01)


def pauses_of(stack: Stack, run_id: str) -> list[str]:
    return [pause.status for pause in stack.engine.asks._pauses.of(run_id)]


def nothing_follows_the_end(stack: Stack, run_id: str, node_id: str) -> bool:
    events = stack.events(run_id)
    ends = [event["data"].get("status") for event in events if event["data"].get("nodeId") == node_id]
    return events[-1]["type"] == "workflow_error" and set(ends) <= {"RUNNING", None}


def test_cancel_stops_a_running_agent_in_the_middle_of_its_turn(stack: Stack) -> None:
    stack.save(one_agent([*LONG, WRITE], [{"text": "never"}], tools=["write_file"]))
    run_id = stack.start_run("one-agent")
    with stack.driven():
        wait_for(stack, run_id, '"content": "0 ')
        stack.data("POST", f"/api/v1/runs/{run_id}/cancel")
    told = node(stack, "one-agent", run_id)
    assert (told["status"], told["error"]) == ("FAILED", "CANCELLED")
    assert result(stack, "one-agent", run_id)["workspace"]["fileCount"] == 0
    assert nothing_follows_the_end(stack, run_id, "agent")
    assert stack.chains.running == {}


def test_cancel_between_two_turns_lets_no_further_turn_begin(stack: Stack, monkeypatch: pytest.MonkeyPatch) -> None:
    stack.save(one_agent([{"todo": []}], [{"text": "second"}], tools=["todo"]))
    run_id = stack.start_run("one-agent")
    save = VisitWork.save

    def cancelled_before(work: VisitWork, state: Mapping[str, Any]) -> None:
        stack.engine.ending.cancel(run_id)
        save(work, state)

    monkeypatch.setattr(VisitWork, "save", cancelled_before)
    stack.drive()
    assert not any("second" in json.dumps(event) for event in stack.events(run_id))
    assert node(stack, "one-agent", run_id)["error"] == "CANCELLED"
    assert nothing_follows_the_end(stack, run_id, "agent")


def test_cancel_closes_the_questions_of_all_branches(stack: Stack) -> None:
    nodes = {"in": {"type": "userInput"}, "a": agent([ASK], [{"text": "x"}]), "b": agent([ASK], [{"text": "x"}])}
    edges = [("in", "a"), ("in", "b"), ("a", "out"), ("b", "out")]
    stack.save(definition("two", nodes | {"out": {"type": "output"}}, edges))
    run_id = stack.finish_run("two")
    stack.data("POST", f"/api/v1/runs/{run_id}/cancel")
    stack.drive()
    assert pauses_of(stack, run_id) == ["CLOSED", "CLOSED"]
    assert stack.chains.running == {}
    assert all(nothing_follows_the_end(stack, run_id, name) for name in "ab")


def aborting(*turns: list[Mapping[str, Any]]) -> dict[str, Any]:
    """An agent, and beside it a node that fails and stops the run as soon as the agent has said `0` or asked."""
    wait = [{"tool": {"name": "read_file", "args": {"path": "go"}}}]
    fails = agent(wait, [{"error": "no luck"}], tools=["read_file"])
    nodes = {"in": {"type": "userInput"}, "agent": agent(*turns, tools=["write_file"]), "fails": fails}
    edges = [("in", "agent"), ("in", "fails"), ("agent", "out"), ("fails", "out")]
    return definition("aborting", nodes | {"out": {"type": "output"}}, edges)


@pytest.mark.parametrize(
    ("turn", "said", "pauses"), [([*LONG, WRITE], '"content": "0 ', []), ([ASK], "clarify_request", ["CLOSED"])]
)
def test_an_abort_from_a_parallel_branch_stops_the_agent(
    stack: Stack, monkeypatch: pytest.MonkeyPatch, turn: list[Any], said: str, pauses: list[str]
) -> None:
    stack.save(aborting(turn, [{"text": "never"}]))
    run_id = stack.start_run("aborting")
    save = VisitWork.save

    def after_the_agent(work: VisitWork, state: Mapping[str, Any]) -> None:
        wait_for(stack, run_id, said)
        save(work, state)

    monkeypatch.setattr(VisitWork, "save", after_the_agent)
    with stack.driven():
        wait_for(stack, run_id, "no luck")
    stack.drive()  # a chain that slept on its question was woken to its end
    told = result(stack, "aborting", run_id)
    assert (told["status"], told["failedNodeId"]) == ("FAILED", "fails")
    assert node(stack, "aborting", run_id)["status"] == "FAILED"
    assert told["workspace"]["fileCount"] == 0
    assert pauses_of(stack, run_id) == pauses
    assert nothing_follows_the_end(stack, run_id, "agent")
    assert stack.chains.running == {}


def test_an_agent_that_kills_its_process_again_and_again_fails_and_tells_what_it_had_done(
    stack: Stack, monkeypatch: pytest.MonkeyPatch
) -> None:
    turns = [[{"thinking": "let me write "}, WRITE], [{"thinking": "and "}, WRITE], [{"text": "never"}]]
    stack.save(one_agent(*turns, tools=["write_file"]))
    run_id = stack.start_run("one-agent")
    save = VisitWork.save

    def dies_after(work: VisitWork, state: Mapping[str, Any]) -> None:
        save(work, state)
        raise Killed

    [(chain, step)] = stack.chains.running.items()
    with monkeypatch.context() as deadly:
        deadly.setattr(VisitWork, "save", dies_after)
        for _ in range(2):
            with pytest.raises(Killed):
                stack.step()
    stack.chains.running[chain] = stack.engine.advance.recover(Step.from_json(step), chain, reason_of(DEATH)).to_json()
    told = result(stack, "one-agent", run_id)
    assert (told["status"], told["failedNodeId"]) == ("FAILED", "agent")
    assert "failed again and again" in told["error"]
    assert "signal: killed" in told["error"]
    [ended] = [
        event["data"]
        for event in stack.events(run_id)
        if event["type"] == "node_status" and event["data"]["status"] == "FAILED"
    ]
    assert ended["error"] == ended["output"]["message"]
    metadata = ended["output"]["metadata"]
    assert (metadata["model"], metadata["steps"]) == ("scripted:inline", 2)
    assert min(metadata["usage"].values()) > 0
    body = stack.engine.store.bodies(run_id, [ended["visitUuid"]])[ended["visitUuid"]]
    trace = body.output["trace"]  # which is for nodes and the context API, not for the outside
    assert trace["thinking"] == "let me write and "
    assert [(call["name"], call["success"]) for call in trace["tool_calls"]] == [("write_file", True)] * 2
    logs = stack.data("GET", f"/api/v1/workflows/one-agent/runs/{run_id}/nodes/agent/logs")["logs"]
    assert [entry["type"] for entry in logs] == [*(["STEP", "THINKING", "TOOL_CALL", "TOOL_RESULT"] * 2), "ERROR"]


def test_a_question_whose_chain_is_given_up_is_closed_and_the_skipped_agent_lets_the_run_go_on(stack: Stack) -> None:
    stack.save(one_agent([{"thinking": "hm "}, ASK], [{"text": "never"}], failStrategy="skip"))
    run_id = stack.finish_run("one-agent")
    [pause] = stack.data("GET", f"/api/v1/runs/{run_id}/state")["pauses"]
    [(chain, step)] = stack.chains.running.items()
    stack.chains.asleep.clear()
    following = stack.engine.advance.recover(Step.from_json(step), chain, reason_of(DEATH))
    assert following.kind == "end"
    told = node(stack, "one-agent", run_id)
    assert (told["status"], result(stack, "one-agent", run_id)["status"]) == ("SKIPPED", "SUCCESS")
    assert pauses_of(stack, run_id) == ["CLOSED"]
    body = {"clarifyId": pause["clarifyId"], "answer": "late"}
    assert stack.call("POST", f"/api/v1/runs/{run_id}/resume", body).json()["code"] == "RUN_ALREADY_FINISHED"
