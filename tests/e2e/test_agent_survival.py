"""An agent outlives its processes: killed while it streams, after a tool's result, after a question, after the answer."""

from collections import Counter
from typing import Any

from tests.e2e.conftest import Up
from tests.e2e.processes import kill, lambda_workers
from tests.e2e.server import Server

MILLISECONDS = 600
"""How long the model says nothing after its first word in a turn: there the process is killed."""

KILLED_AT = (("thinking", "one. "), ("thinking", "two. "), ("clarify_request", None), ("thinking", "three. "))
"""Kinds of events, of thoughts with their content."""


def agent() -> dict[str, Any]:
    wait = {"delayMs": MILLISECONDS}
    write = {"tool": {"name": "write_file", "args": {"path": "notes.md", "content": "tea"}}}
    return {
        "type": "agent",
        "model": "scripted:inline",
        "prompt": "go",
        "tools": ["write_file"],
        "script": [
            [{"thinking": "one. "}, wait, write],
            [{"thinking": "two. "}, wait, {"ask": {"question": "Which?"}}],
            [{"thinking": "three. "}, wait, {"text": "so $answer"}],
        ],
    }


def test_an_agent_goes_on_wherever_its_process_is_killed(up: tuple[Up, Server]) -> None:
    _, server = up
    nodes = {"in": {"type": "userInput"}, "agent": agent(), "out": {"type": "output"}}
    workflow = server.save(nodes, [["in", "agent"], ["agent", "out"]])
    run_id = server.start(workflow)
    left = list(KILLED_AT)
    ids: list[int] = []
    streamed: list[dict[str, Any]] = []
    for number, event in server.events(run_id, seconds=120):
        ids.append(number)
        if event["type"] != "node_stream":
            continue
        streamed.append(event)
        if left and left[0] in {(event["kind"], event["content"]), (event["kind"], None)}:
            del left[0]
            workers = lambda_workers(server.pid)
            assert workers
            kill(workers)
            if event["kind"] == "clarify_request":
                body = {"clarifyId": event["data"]["clarifyId"], "answer": "be it"}
                assert server.data("POST", f"/api/v1/runs/{run_id}/resume", body)["accepted"]
    assert left == []
    assert ids == list(range(1, len(ids) + 1))
    assert event["type"] == "workflow_complete", event
    assert event["output"]["data"]["result"] == "so be it"
    told = Counter((each["kind"], each["toolName"]) for each in streamed)
    assert told["tool_call", "write_file"] == told["tool_result", "write_file"] == 1
    assert told["clarify_request", None] == told["tool_result", "clarify"] == 1
    iterations = [each["data"]["iteration"] for each in streamed if each["kind"] == "step"]
    assert iterations == [1, 1, 2, 2, 3, 3]
    result = server.data("GET", f"/api/v1/workflows/{workflow}/runs/{run_id}")
    assert [(node["nodeId"], len(node["visits"])) for node in result["nodes"]] == [("in", 1), ("agent", 1), ("out", 1)]
