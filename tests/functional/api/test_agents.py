"""Agents in runs, over the whole engine: what readers of the API see of their tools, questions and failures."""

import json
from collections.abc import Mapping
from typing import Any

import pytest

from tests.functional.api.definitions import definition, scripted
from tests.functional.api.stack import Stack

TODO_LIST = [{"text": "A", "status": "pending"}]


def agent(*turns: list[Mapping[str, Any]], **data: Any) -> dict[str, Any]:
    return {
        "type": "agent",
        "model": "scripted:inline",
        "instructions": "i",
        "prompt": "p",
        "tools": [],
        "script": list(turns),
        **data,
    }


def one_agent(*turns: list[Mapping[str, Any]], **data: Any) -> dict[str, Any]:
    nodes = {"in": {"type": "userInput"}, "agent": agent(*turns, **data), "out": {"type": "output"}}
    return definition("one-agent", nodes, [("in", "agent"), ("agent", "out")])


def streamed(stack: Stack, run_id: str, node_id: str, *kinds: str) -> list[tuple[str, str | None, str]]:
    return [
        (event["data"]["kind"], event["data"]["toolName"], event["data"]["content"])
        for event in stack.events(run_id)
        if event["type"] == "node_stream" and event["data"]["nodeId"] == node_id and event["data"]["kind"] in kinds
    ]


def result(stack: Stack, workflow: str, run_id: str) -> dict[str, Any]:
    found: dict[str, Any] = stack.data("GET", f"/api/v1/workflows/{workflow}/runs/{run_id}")
    return found


def answer(stack: Stack, run_id: str, **answers: Any) -> None:
    """Answers the open questions by the nodes that ask them, and lets the run go on."""
    for pause in stack.data("GET", f"/api/v1/runs/{run_id}/state")["pauses"]:
        body = {"clarifyId": pause["clarifyId"], "answer": answers[pause["nodeId"]]}
        assert stack.data("POST", f"/api/v1/runs/{run_id}/resume", body)["accepted"]
    stack.drive()


def test_a_mapping_reads_the_trace_of_an_agent(stack: Stack) -> None:
    def mapped(name: str, field: str) -> dict[str, Any]:
        return {"name": name, "type": "string", "required": True, "sourceNodeId": "agent", "sourceField": field}

    nodes = {
        "in": {"type": "userInput"},
        "agent": agent([{"thinking": "let me see"}, {"todo": TODO_LIST}], [{"text": "done"}], tools=["todo"]),
        "use": {
            **scripted("$prompt"),
            "inputs": [
                mapped("thought", "trace.thinking"),
                mapped("tool", "trace.tool_calls[0].name"),
                mapped("answer", "data.result"),
            ],
            "userPrompt": "{{thought}}|{{tool}}|{{answer}}",
        },
        "out": {"type": "output", "outputs": [{"name": "result"}]},
    }
    stack.save(definition("mapped", nodes, [("in", "agent"), ("agent", "use"), ("use", "out")]))
    run_id = stack.finish_run("mapped")
    assert result(stack, "mapped", run_id)["outputs"]["data"] == {"result": "let me seedone|todo|done"}
    assert [kind for kind, _, _ in streamed(stack, run_id, "agent", "tool_call", "todo_update", "tool_result")] == [
        *("tool_call", "todo_update", "tool_result")
    ]


def test_the_log_of_the_node_holds_what_was_streamed(stack: Stack) -> None:
    stack.save(one_agent([{"thinking": "hm"}, {"todo": TODO_LIST}], [{"text": "done"}], tools=["todo"]))
    run_id = stack.finish_run("one-agent")
    logs = stack.data("GET", f"/api/v1/workflows/one-agent/runs/{run_id}/nodes/agent/logs")["logs"]
    assert [entry["type"] for entry in logs] == [
        *("STEP", "THINKING", "TOOL_CALL", "TODO_UPDATE", "TOOL_RESULT", "STEP", "THINKING")
    ]


def test_files_that_an_agent_writes_are_those_of_the_run(stack: Stack) -> None:
    write = {"tool": {"name": "write_file", "args": {"path": "notes/a.md", "content": "你好"}}}
    read = {"tool": {"name": "read_file", "args": {"path": "notes/a.md"}}}
    stack.save(one_agent([write, read], [{"text": "$tool"}], tools=["write_file", "read_file"]))
    run_id = stack.finish_run("one-agent")
    told = json.loads(result(stack, "one-agent", run_id)["outputs"]["data"]["result"])
    assert told["text"] == "你好"
    assert result(stack, "one-agent", run_id)["workspace"]["fileCount"] == 1


def test_a_question_stops_the_agent_and_the_answer_lets_it_go_on_as_one_visit(stack: Stack) -> None:
    ask = {"question": "Which?", "options": [{"label": "one", "value": "1"}, {"label": "two", "value": "2"}]}
    stack.save(one_agent([{"thinking": "which "}, {"ask": ask}], [{"text": "using $answer"}]))
    run_id = stack.finish_run("one-agent")
    assert stack.data("GET", f"/api/v1/runs/{run_id}/state")["currentPause"]["choices"] == ["1", "2"]
    answer(stack, run_id, agent="2")
    told = result(stack, "one-agent", run_id)
    assert told["outputs"]["data"] == {"result": "using 2"}
    assert [len(node["visits"]) for node in told["nodes"] if node["nodeId"] == "agent"] == [1]
    steps = streamed(stack, run_id, "agent", "tool_call", "clarify_request", "tool_result")
    assert [(kind, name) for kind, name, _ in steps] == [
        *(("tool_call", "clarify"), ("clarify_request", None), ("tool_result", "clarify"))
    ]
    assert steps[-1][2] == "2"
    assert "".join(content for _, _, content in streamed(stack, run_id, "agent", "thinking")) == "which using 2"


def test_several_questions_of_one_turn_are_open_one_after_the_other(stack: Stack) -> None:
    stack.save(one_agent([{"ask": {"question": "A?"}}, {"ask": {"question": "B?"}}], [{"text": "$answer"}]))
    run_id = stack.finish_run("one-agent")
    asked = []
    for reply in ("one", "two"):
        [pause] = stack.data("GET", f"/api/v1/runs/{run_id}/state")["pauses"]
        asked.append(pause["question"])
        answer(stack, run_id, agent=reply)
    assert asked == ["A?", "B?"]
    assert result(stack, "one-agent", run_id)["outputs"]["data"] == {"result": "two"}
    kinds = [kind for kind, _, _ in streamed(stack, run_id, "agent", "tool_call", "clarify_request", "tool_result")]
    assert kinds == ["tool_call", "clarify_request", "tool_result"] * 2


def test_a_question_before_a_condition_lets_only_the_chosen_branch_run(stack: Stack) -> None:
    left = {"id": "yes", "conditions": [{"left": "{{result}}", "operator": "eq", "right": "yes"}]}
    nodes = {
        "in": {"type": "userInput"},
        "before": scripted("once", outputs=[{"name": "first"}]),
        "ask": agent([{"ask": {"question": "Go on?"}}], [{"text": "$answer"}]),
        "if": {"type": "condition", "branches": [left], "elseBranch": "no"},
        "then": scripted("taken", outputs=[{"name": "told"}]),
        "else": scripted("not taken", outputs=[{"name": "told"}]),
        "out": {"type": "output", "outputs": [{"name": "told"}]},
    }
    edges: list[tuple[str, ...]] = [("in", "before"), ("before", "ask"), ("ask", "if")]
    edges += [("if", "then", "yes"), ("if", "else", "no"), ("then", "out"), ("else", "out")]
    stack.save(definition("branch", nodes, edges))
    run_id = stack.finish_run("branch")
    answer(stack, run_id, ask="yes")
    told = {node["nodeId"]: node for node in result(stack, "branch", run_id)["nodes"]}
    assert (told["then"]["status"], told["else"]["status"]) == ("SUCCESS", "SKIPPED")
    assert len(told["before"]["visits"]) == 1


def test_a_provider_that_fails_after_a_question_asks_nobody_twice(stack: Stack) -> None:
    failing = [{"thinking": "so "}, {"error": "overloaded", "retryable": True}, {"text": "$answer"}]
    stack.save(one_agent([{"ask": {"question": "A?"}}], failing, retry={"maxAttempts": 2, "backoffSeconds": 0}))
    run_id = stack.finish_run("one-agent")
    answer(stack, run_id, agent="yes")
    told = result(stack, "one-agent", run_id)
    assert told["outputs"]["data"] == {"result": "yes"}
    assert len(streamed(stack, run_id, "agent", "clarify_request")) == 1
    assert len(streamed(stack, run_id, "agent", "status")) == 1
    [node] = [node for node in told["nodes"] if node["nodeId"] == "agent"]
    assert node["output"]["metadata"]["attempts"] == 2


def test_a_question_followed_by_a_failure_fails_the_run_and_says_so(stack: Stack) -> None:
    stack.save(one_agent([{"ask": {"question": "A?"}}], [{"error": "refused"}]))
    run_id = stack.finish_run("one-agent")
    answer(stack, run_id, agent="yes")
    told = result(stack, "one-agent", run_id)
    assert (told["status"], told["failedNodeId"]) == ("FAILED", "agent")
    assert "refused" in told["error"]


def test_the_steps_of_a_failed_agent_stay_in_its_log(stack: Stack) -> None:
    stack.save(one_agent([{"thinking": "hm"}, {"todo": []}], [{"todo": []}], tools=["todo"], maxSteps=2))
    run_id = stack.finish_run("one-agent")
    assert "maxSteps" in result(stack, "one-agent", run_id)["error"]
    logs = stack.data("GET", f"/api/v1/workflows/one-agent/runs/{run_id}/nodes/agent/logs")["logs"]
    assert [entry["type"] for entry in logs].count("TOOL_RESULT") == 2
    assert logs[-1]["type"] == "ERROR"


def test_cancelling_closes_the_question_for_good(stack: Stack) -> None:
    stack.save(one_agent([{"ask": {"question": "A?"}}], [{"text": "never"}]))
    run_id = stack.finish_run("one-agent")
    [pause] = stack.data("GET", f"/api/v1/runs/{run_id}/state")["pauses"]
    stack.data("POST", f"/api/v1/runs/{run_id}/cancel")
    stack.drive()
    body = {"clarifyId": pause["clarifyId"], "answer": "late"}
    assert stack.call("POST", f"/api/v1/runs/{run_id}/resume", body).json()["code"] == "RUN_ALREADY_FINISHED"
    assert result(stack, "one-agent", run_id)["error"] == "CANCELLED"


@pytest.mark.parametrize("kind", ["agent", "skill", "smartAction"])
def test_all_three_names_are_node_types(stack: Stack, kind: str) -> None:
    node = agent([{"text": "fine"}]) | {"type": kind, "instruction": "do"}
    nodes = {"in": {"type": "userInput"}, "work": node, "out": {"type": "output"}}
    stack.save(definition("kinds", nodes, [("in", "work"), ("work", "out")]))
    assert result(stack, "kinds", stack.finish_run("kinds"))["outputs"]["data"] == {"result": "fine"}
