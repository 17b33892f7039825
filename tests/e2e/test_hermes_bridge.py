"""`HERMES_ENABLED=true` on the deployed stack: agents run across `stepweave bridge`, questions to people included."""

import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from stepweave_local.deploy import STACK
from tests.e2e.conftest import ROOT, STEPWEAVE, Up, free_port
from tests.e2e.server import Server
from tests.functional.openai_server import OpenAIServer, openai_server
from tests.functional.wire_scripts import openai_replies

ASK = {"question": "Which colour?", "options": [{"label": "Red", "value": "red"}, {"label": "Blue", "value": "blue"}]}
WRITE = {"tool": {"name": "write_file", "args": {"path": "notes.md", "content": "tea"}}}
SCRIPT: list[list[dict[str, Any]]] = [[{"thinking": "hm. "}, WRITE, {"ask": ASK}], [{"text": "as you like"}]]


@contextmanager
def stepweave_bridge(**environment: str) -> Iterator[str]:
    """The command as a person starts it; its address."""
    command = [str(STEPWEAVE), "bridge", "--json", "--port", str(free_port())]
    with subprocess.Popen(
        command, cwd=ROOT, env=os.environ | environment, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        try:
            told = json.loads(process.stdout.readline())
            yield f"http://{told['host']}:{told['port']}"
        finally:
            process.terminate()


@contextmanager
def deployed_with(up: Up, function: str, **settings: str) -> Iterator[None]:
    """The environment that a function has where the template's parameters say so, until the block ends."""
    functions = up.client("lambda")
    name = f"{STACK}-{function}"
    before = functions.get_function_configuration(FunctionName=name)["Environment"]["Variables"]
    functions.update_function_configuration(FunctionName=name, Environment={"Variables": before | settings})
    try:
        yield
    finally:
        functions.update_function_configuration(FunctionName=name, Environment={"Variables": before})


@pytest.fixture
def models(up: tuple[Up, Server]) -> Iterator[OpenAIServer]:
    """A provider that only the bridge knows of."""
    with (
        openai_server(*openai_replies(SCRIPT)) as models,
        stepweave_bridge(OPENAI_BASE_URL=models.base_url, OPENAI_API_KEY="of-the-bridge") as url,
        deployed_with(up[0], "agent", HERMES_ENABLED="true", HERMES_BRIDGE_URL=url),
    ):
        yield models


def test_an_agent_asks_a_person_across_the_bridge_and_goes_on_with_the_answer(
    server: Server, models: OpenAIServer
) -> None:
    agent = {"type": "agent", "model": "openai:m", "prompt": "paint", "tools": ["write_file"]}
    nodes: dict[str, Any] = {"in": {"type": "userInput"}, "agent": agent, "out": {"type": "output"}}
    run_id = server.start(server.save(nodes, [["in", "agent"], ["agent", "out"]]))
    streamed: list[tuple[str, str | None]] = []
    for _, event in server.events(run_id):
        if event["type"] != "node_stream":
            continue
        streamed.append((event["kind"], event["toolName"]))
        if event["kind"] == "clarify_request":
            body = {"clarifyId": event["data"]["clarifyId"], "answer": "blue"}
            assert server.data("POST", f"/api/v1/runs/{run_id}/resume", body)["accepted"]
    assert event["type"] == "workflow_complete", event
    assert event["output"]["data"]["result"] == "as you like"
    assert event["workingDirFiles"] == ["notes.md"]
    assert streamed == [
        *(("step", None), ("thinking", None), ("tool_call", "write_file")),
        *(("tool_progress", "tool.started"), ("tool_progress", "tool.completed"), ("tool_result", "write_file")),
        *(("tool_call", "clarify"), ("clarify_request", None), ("tool_result", "clarify")),
        *(("step", None), ("thinking", None)),
    ]
    assert models.keys == ["of-the-bridge"] * 2
    assert [each["content"] for each in models.requests[1]["messages"] if each["role"] == "tool"][-1] == "blue"
