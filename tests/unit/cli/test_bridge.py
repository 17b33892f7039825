"""`stepweave bridge`: where it listens, when it refuses to, and that it ends when it is told to."""

import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from tests.builders.command_line import CommandLine

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "bridge.internal"])
def test_it_listens_beyond_loopback_with_a_token_only(lonely: CommandLine, host: str) -> None:
    done = lonely("bridge", "--host", host, HERMES_BRIDGE_TOKEN="")
    assert done.status == 2
    assert "needs HERMES_BRIDGE_TOKEN" in done.err


def test_a_port_that_is_taken_is_told(lonely: CommandLine) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = lonely("bridge", "--port", str(port))
    assert done.status == 2
    assert f"Cannot listen on 127.0.0.1:{port}" in done.err


def test_a_bad_setting_is_told_by_its_name(lonely: CommandLine) -> None:
    done = lonely("bridge", OPENAI_BASE_URL="nowhere")
    assert done.status == 2
    assert "OPENAI_BASE_URL is invalid" in done.err


@pytest.mark.slow
def test_it_answers_until_it_is_interrupted() -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "stepweave_local.main", "bridge", "--json", "--port", str(port)]
    environment = {**os.environ, "PYTHONPATH": f"{ROOT / 'layers/engine'}{os.pathsep}{ROOT / 'local'}"}
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as bridge:
        assert bridge.stdout is not None
        assert json.loads(bridge.stdout.readline()) == {"host": "127.0.0.1", "port": port}
        body = {"model": "scripted:inline", "prompt": "go", "script": [[{"text": "hi"}]]}
        answer = httpx.post(f"http://127.0.0.1:{port}/run", json=body, timeout=60, trust_env=False)
        assert "event: result" in answer.text
        bridge.send_signal(signal.SIGINT)
        assert bridge.wait(20) == 0
