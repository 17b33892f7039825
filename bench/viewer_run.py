"""A run of 200 visits in 5,000 events, as the API would tell it: what a viewer has to show."""

import json
from collections.abc import Iterator
from typing import Any

VISITS, EVENTS = 200, 5000
RUN_ID = "a3f9b2c1"
_NODES = 8
_TIME = "2026-01-01T00:00:00Z"
_TEXT = "The **leaf** is steeped for `{n}` minutes.\n\n- one\n- two\n\n"
_OF_A_VISIT = EVENTS // VISITS
_FIXED = 7  # its beginning, a step, a to-do list, a call and its result, its end, its record


def graph() -> dict[str, Any]:
    nodes = [{"id": f"n{n}", "type": "agent", "label": f"Node {n}", "position": None} for n in range(_NODES)]
    edges = [{"source": f"n{n}", "target": f"n{n + 1}", "sourceHandle": None} for n in range(_NODES - 1)]
    told = {
        "runId": RUN_ID,
        "workflow": "long",
        "workflowId": 1,
        "version": 1,
        "title": "A long run",
        "mode": "AGENTIC",
    }
    return told | {"nodes": nodes, "edges": edges}


def state() -> dict[str, Any]:
    return {"runId": RUN_ID, "status": "SUCCESS", "currentPause": None, "pauses": []}


def result() -> dict[str, Any]:
    return {"runId": RUN_ID, "status": "SUCCESS", "startedAt": _TIME, "completedAt": _TIME, "nodes": []}


def stream() -> bytes:
    events = [*_events()]
    assert len(events) == EVENTS
    lines = (
        f"event: {event['type']}\nid: {number}\ndata: {json.dumps(event)}\n\n" for number, event in enumerate(events, 1)
    )
    return "".join(lines).encode()


def _events() -> Iterator[dict[str, Any]]:
    for number in range(VISITS):
        yield from _visit(number, _OF_A_VISIT - (number == VISITS - 1))
    output = {"status": 200, "message": "done", "data": {"report": _TEXT.format(n=0)}}
    yield {"type": "workflow_complete", "runId": RUN_ID, "success": True, "output": output, "workingDirFiles": []}


def _visit(number: int, events: int) -> Iterator[dict[str, Any]]:
    node = f"n{number % _NODES}"
    about = {"runId": RUN_ID, "nodeId": node, "visitUuid": f"00000000-0000-4000-8000-{number:012d}"}

    def told(kind: str, content: str, tool: str | None = None, **data: Any) -> dict[str, Any]:
        return {"type": "node_stream", **about, "kind": kind, "content": content, "toolName": tool, **data}

    todo = [{"text": "read", "status": "done"}]
    output = {"status": 200, "message": "ok", "data": {"report": _TEXT.format(n=number)}}
    yield {"type": "node_status", **about, "status": "RUNNING", "nodeType": "agent", "nodeLabel": f"Node {node}"}
    yield told("step", '{"iteration": 1}', data={"iteration": 1})
    yield told("todo_update", json.dumps(todo), "todo", data=todo)
    yield told("tool_call", '{"path": "tea.md"}', "read_file", data={"path": "tea.md"})
    yield told("tool_result", '{"text": "tea"}', "read_file", data={"text": "tea"})
    for delta in range(events - _FIXED):
        yield told("thinking", _TEXT.format(n=delta))
    yield {"type": "node_status", **about, "status": "SUCCESS", "output": output, "error": None, "logs": []}
    record = {
        **about,
        "nodeType": "agent",
        "nodeLabel": f"Node {node}",
        "iterSeq": number // _NODES + 1,
        "fromVisitUuid": None,
        "fromNodeId": None,
        "variablesJson": '{"topic": "tea"}',
        "outputJson": json.dumps(output),
        "logsJson": "[]",
        "decisionJson": None,
        "status": "SUCCESS",
        "errorMsg": None,
        "sortOrder": number + 1,
        "offCanvas": False,
    }
    yield {"type": "visit_recorded", "runId": RUN_ID, "visit": record}
