"""A key of one workflow never sees, starts, answers or downloads what belongs to another: every call is tried."""

from typing import Any

import pytest

from tests.functional.api.definitions import asking, echo
from tests.functional.api.stack import Stack
from tests.functional.api.walking import calls

SECRET = "the-tea-of-others"

BODIES: dict[str, Any] = {
    "/api/v1/workflows/{workflow}/runs": {"variables": {"topic": "x"}},
    "/api/v1/workflows/{workflow}/runs/{runId}/uploads": {"files": [{"path": "a", "size": 1}]},
    "/api/workflows/{workflow}/run": {"variables": {"topic": "x"}},
    "/api/chat/sessions": {"workflow": "echo"},
    "/api/chat/sessions/{sid}/runs": {"message": "x", "variables": {"topic": "x"}},
    "/api/keys": {"name": "x"},
    "/mcp": {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": "workflow_context_list", "arguments": {"runId": "{runId}"}},
    },
}


def all_that_is_stored(stack: Stack) -> str:
    return repr({key: item for key, item in stack.items._items.items() if not key.partition.startswith("count#")})


@pytest.mark.parametrize("state", ["created", "asking", "done"])
def test_a_key_of_another_workflow_reaches_nothing_by_any_call(stack: Stack, state: str) -> None:
    stack.save(asking())
    stack.save(echo("mine"))
    bound = stack.app.state.api.keys.create("bound", ["run"], ["mine"]).secret
    workflow, names = "echo", {"topic": SECRET}
    if state == "asking":
        workflow, names = "asking", {"extra": SECRET}
    run_id = stack.create_run(workflow, variables=names)
    if state != "created":
        stack.data("POST", f"/api/v1/workflows/{workflow}/runs/{run_id}/start")
        stack.drive()
    sid = stack.data("POST", "/api/chat/sessions", {"workflow": "echo"}, admin=True)["sessionId"]
    pause = stack.data("GET", f"/api/v1/runs/{run_id}/state")["currentPause"]
    resume = {"clarifyId": pause["clarifyId"] if pause else "clar-000000000000", "answer": "x"}
    (key_id,) = [key.key_id for key in stack.app.state.api.keys.listed() if key.name == "runs"]
    values = {"workflow": workflow, "runId": run_id, "nodeId": "in", "id": run_id, "sid": sid, "keyId": key_id}
    before = all_that_is_stored(stack)
    tried = 0
    for method, pattern, path in calls(stack.app, values | {"name": "x"}):
        body = BODIES.get(pattern, {}) if method in ("POST", "PUT") else None
        if pattern.endswith("/resume"):
            body = resume
        if pattern == "/mcp":
            body["params"]["arguments"]["runId"] = run_id
        headers = {"Accept": "application/json, text/event-stream"} if pattern == "/mcp" else {}
        response = stack.call(method, path, body, key=bound, headers=headers)
        tried += 1
        assert SECRET not in response.text, (method, path)
        if pattern == "/api/v1/workflows":
            assert [item["name"] for item in response.json()["data"]["items"]] == ["mine"]
        elif pattern == "/mcp":
            assert response.json()["result"]["isError"]
        else:
            assert response.status_code in (401, 404), (method, path, response.text)
            assert "UNAUTHORIZED" in response.text or "RUN_NOT_FOUND" in response.text, (method, path)
            assert response.headers["content-type"].startswith(("application/json", "text/event-stream"))
    assert tried > 40
    assert all_that_is_stored(stack) == before


def test_the_same_calls_with_a_key_of_the_workflow_do_reach_it(stack: Stack) -> None:
    """The walk above would prove nothing where the calls are wrong."""
    bound = stack.app.state.api.keys.create("bound", ["run"], ["echo"]).secret
    run_id = stack.finish_run("echo", variables={"topic": SECRET})
    values = {"workflow": "echo", "runId": run_id, "nodeId": "say", "id": run_id, "sid": "x", "keyId": "x", "name": "x"}
    seen = 0
    for method, pattern, path in calls(stack.app, values):
        if method == "GET" and pattern.startswith("/api/v1/"):
            response = stack.call(method, path, key=bound)
            assert response.status_code == 200, (path, response.text)
            seen += SECRET in response.text
    assert seen >= 6
