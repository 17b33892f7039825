"""A bridge on loopback that asks what came before by itself, and tells the token wherever it can (contract §6)."""

import http.client
import json
import logging
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.functional.api.definitions import definition, scripted
from tests.functional.api.stack import Stack
from tests.functional.fake_bridge import FakeBridge, answers, event, fake_bridge, streams

Told = Callable[[str], list[bytes]]
"""The events of an answer, by a bridge that knows this token."""


def query(lent: dict[str, str], route: str, **body: Any) -> tuple[int, Any]:
    """As a bridge asks: status and answer."""
    connection = http.client.HTTPConnection(urlsplit(lent["base_url"]).netloc, timeout=5)
    try:
        headers = {"X-Context-Token": lent["token"], "Content-Type": "application/json"}
        connection.request("POST", f"/internal/context/{route}", json.dumps({"runId": lent["run_id"], **body}), headers)
        response = connection.getresponse()
        return response.status, json.loads(response.read())
    finally:
        connection.close()


def lent_to(handler: BaseHTTPRequestHandler) -> dict[str, str]:
    bridge: FakeBridge = handler.server.told  # type: ignore[attr-defined]
    lent: dict[str, str] = bridge.bodies[-1]["context_query"]
    return lent


def run(bridge: FakeBridge, caplog: pytest.LogCaptureFixture, **node: Any) -> tuple[Stack, str, str]:
    """A run over an agent across the bridge; with everything that is left of it, as text."""
    stack = Stack(hermes_enabled=True, hermes_bridge_url=bridge.url)
    asker = {"type": "agent", "model": "scripted:inline", "prompt": "go", "script": [], **node}
    nodes = {"in": {"type": "userInput"}, "B": scripted("hello"), "G": asker, "out": {"type": "output"}}
    stack.save(definition("bridged", nodes, [("in", "B"), ("B", "G"), ("G", "out")]))
    with caplog.at_level(logging.DEBUG):
        run_id = stack.finish_run("bridged")
    left = [
        json.dumps(stack.events(run_id)),
        json.dumps(stack.data("GET", f"/api/v1/workflows/bridged/runs/{run_id}")),
        repr(stack.items._items),
        repr(stack.blobs._blobs),
        " ".join(str(vars(record)) for record in caplog.records),
    ]
    return stack, run_id, "\n".join(left)


def test_a_bridge_asks_as_long_as_its_request_lasts_and_no_longer(caplog: pytest.LogCaptureFixture) -> None:
    seen: list[Any] = []

    def reply(handler: BaseHTTPRequestHandler) -> None:
        lent = lent_to(handler)
        seen.append(query(lent, "output", nodeId="B"))
        seen.append(query(lent, "path", visitUuid=lent["visit_uuid"]))
        streams(event("result", text="done"))(handler)

    with fake_bridge(reply) as bridge:
        stack, run_id, _ = run(bridge, caplog)
        [body] = bridge.bodies
    assert [status for status, _ in seen] == [200, 200]
    assert seen[0][1]["data"]["data"] == {"result": "hello"}
    assert seen[1][1]["data"]["nodeIds"] == ["in", "B", "G"]
    assert body["context_query"]["run_id"] == run_id
    assert stack.engine.context_tokens.recognise([body["context_query"]["token"]]) is None
    with pytest.raises(ConnectionRefusedError):
        query(body["context_query"], "output", nodeId="B")


TELLING: dict[str, Told] = {
    "all kinds of events": lambda token: [
        event("thinking", content=f"my token is {token}"),
        event("status", content=token),
        event("tool_call", name="look", arguments={"headers": {"X-Context-Token": token}, token: 1}),
        event("tool_result", name="look", content=[f"<{token}>"]),
        event("todo_update", todos=[{"text": token}]),
        event("turn", history=["I am", token]),
        event("result", text=f"it is {token}{token}"),
    ],
    "calls": lambda token: [
        event("calls", calls=[{"callId": token, "name": token, "arguments": {"nodeId": token}}], history=[token])
    ],
    "a failure": lambda token: [event("failure", message=f"cannot ask with {token}", retryable=False)],
    "what is no event": lambda token: [f'event: result\ndata: {{"text": 1, "{token}": 2}}\n\n'.encode()],
}


@pytest.mark.parametrize("telling", TELLING)
def test_wherever_a_bridge_tells_the_token_nobody_else_is_told(telling: str, caplog: pytest.LogCaptureFixture) -> None:
    tokens: list[str] = []

    def reply(handler: BaseHTTPRequestHandler) -> None:
        tokens.append(lent_to(handler)["token"])
        last = event("result", text="at last")
        streams(*(TELLING[telling](tokens[-1]) if len(tokens) == 1 else [last]))(handler)

    with fake_bridge(reply) as bridge:
        _, _, left = run(bridge, caplog, retry={"maxAttempts": 1})
        asked = [{name: part for name, part in body.items() if name != "context_query"} for body in bridge.bodies]
    assert tokens[0] not in json.dumps(asked)
    assert tokens[0] not in left
    assert tokens[0][4:12] not in left


@pytest.mark.parametrize("status", [400, 500])
def test_a_refusal_that_quotes_the_request_tells_no_token(status: int, caplog: pytest.LogCaptureFixture) -> None:
    tokens: list[str] = []

    def reply(handler: BaseHTTPRequestHandler) -> None:
        lent = lent_to(handler)
        tokens.append(lent["token"])
        answers(status, json.dumps({"error": f"unknown field: {lent}"}).encode())(handler)

    with fake_bridge(reply) as bridge:
        stack, run_id, left = run(bridge, caplog, retry={"maxAttempts": 1})
    assert stack.engine.runs.get(run_id).status == "FAILED"
    assert "unknown field" in left
    assert tokens[0] not in left
    assert f"{tokens[0][:4]}***" in left


def test_switched_off_a_bridge_is_lent_nothing() -> None:
    with fake_bridge(streams(event("result", text="done"))) as bridge:
        stack = Stack(hermes_enabled=True, hermes_bridge_url=bridge.url, hermes_context_query_enabled=False)
        nodes = {
            "in": {"type": "userInput"},
            "G": {"type": "agent", "model": "scripted:inline", "prompt": "go", "script": []},
            "out": {"type": "output"},
        }
        stack.save(definition("bridged", nodes, [("in", "G"), ("G", "out")]))
        run_id = stack.finish_run("bridged")
        assert stack.engine.runs.get(run_id).status == "SUCCESS"
        [body] = bridge.bodies
    assert "context_query" not in body
    assert not [tool["name"] for tool in body["tools"] if tool["name"] != "clarify"]
