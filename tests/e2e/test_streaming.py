"""The function `stream` as Lambda Web Adapter runs it: its start command, a port, requests passed on (docs/streaming.md)."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.e2e.conftest import ROOT, Up, free_port
from tests.e2e.server import Server

SECONDS = 60
HELD = 2
ASK = {"question": "Which?", "options": [{"label": "Red", "value": "red"}]}


@pytest.fixture
def stream_url(up: tuple[Up, Server]) -> Iterator[str]:
    """Its base address; a stream is held open for `HELD` seconds."""
    port = free_port()
    environment = up[0].environment() | {
        "AWS_LWA_PORT": str(port),
        "STREAM_SECONDS": str(HELD),
        "PYTHONPATH": str(ROOT / "layers/engine"),  # in place of /opt/python
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
    }
    with started([str(ROOT / "functions/stream/run.sh")], environment):
        ready(f"http://127.0.0.1:{port}/")
        yield f"http://127.0.0.1:{port}"


@contextmanager
def started(command: list[str], environment: dict[str, str]) -> Iterator[None]:
    with subprocess.Popen(command, env=environment) as process:
        try:
            yield
        finally:
            process.terminate()


def ready(url: str) -> None:
    """As the adapter waits: for any answer but a server's error."""
    deadline = time.monotonic() + SECONDS
    while time.monotonic() < deadline:
        try:
            assert httpx.get(url).status_code < 500
            return
        except httpx.TransportError:
            time.sleep(0.1)
    raise AssertionError("the web server does not answer")


def connect(server: Server, url: str, last: int) -> Iterator[tuple[int, dict[str, Any]]]:
    """The events of one connection as they come; ends when the server ends it, cleanly."""
    headers = {"X-API-Key": server.key, "Last-Event-ID": str(last)}
    number = 0
    with httpx.stream("GET", url, headers=headers, timeout=SECONDS) as response:
        assert response.status_code == 200
        for line in response.iter_lines():
            if line.startswith("id:"):
                number = int(line[3:])
            elif line.startswith("data:"):
                yield number, json.loads(line[5:])


def read_on(server: Server, url: str, told: list[dict[str, Any]], found: Callable[[dict[str, Any]], bool]) -> None:
    """Connection after connection, each to its end, until what is wanted has been told; no event is lost or repeated."""
    deadline = time.monotonic() + SECONDS
    while not any(map(found, told)):
        assert time.monotonic() < deadline
        for number, event in connect(server, url, len(told)):
            told.append(event)
            assert number == len(told)


def test_a_stream_is_held_open_ends_before_the_function_does_and_is_taken_up(server: Server, stream_url: str) -> None:
    agent = {
        "type": "agent",
        "model": "scripted:inline",
        "prompt": "go",
        "script": [[{"ask": ASK}], [{"text": "$answer"}]],
    }
    nodes: dict[str, Any] = {"in": {"type": "userInput"}, "agent": agent, "out": {"type": "output"}}
    run_id = server.start(server.save(nodes, [["in", "agent"], ["agent", "out"]]))
    url = f"{stream_url}/api/v1/runs/{run_id}/stream"
    told: list[dict[str, Any]] = []
    read_on(server, url, told, lambda event: event.get("kind") == "clarify_request")
    began = time.monotonic()
    assert list(connect(server, url, len(told))) == []
    assert HELD <= time.monotonic() - began < HELD + 20, "behind a gateway it would be answered at once"
    answer = {"clarifyId": told[-1]["data"]["clarifyId"], "answer": "red"}
    assert server.data("POST", f"/api/v1/runs/{run_id}/resume", answer)["accepted"]
    read_on(server, url, told, lambda event: event["type"] == "workflow_complete")
    assert told[-1]["output"]["data"] == {"result": "red"}
    at_the_end = {"X-API-Key": server.key, "Last-Event-ID": str(len(told))}
    assert httpx.get(url, headers=at_the_end).status_code == 204
    assert httpx.get(url).status_code == 401
