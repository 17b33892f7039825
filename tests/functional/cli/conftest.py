"""The command and the real API over memory, in one process."""

import json
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
import uvicorn

from tests.builders.command_line import CommandLine
from tests.functional.api.stack import Stack


@pytest.fixture
def stack() -> Iterator[Stack]:
    """Chains are driven, one step at a time, while the test goes on."""
    stack, stopped = Stack(), threading.Event()

    def drive() -> None:
        while not stopped.is_set():
            if not stack.step():
                stopped.wait(0.01)

    driver = threading.Thread(target=drive)
    driver.start()
    yield stack
    stopped.set()
    driver.join()


@pytest.fixture
def cli(
    stack: Stack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[CommandLine]:
    listening = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(stack.app, log_level="warning", lifespan="off"))
    thread = threading.Thread(target=server.run, args=([listening],))
    thread.start()
    url = f"http://127.0.0.1:{listening.getsockname()[1]}"
    (tmp_path / ".stepweave").mkdir()
    dev = {"baseUrl": url, "apiKey": stack.key, "adminKey": stack.admin_key}
    (tmp_path / ".stepweave" / "dev.json").write_text(json.dumps(dev), "utf-8")
    yield CommandLine(tmp_path, monkeypatch, capsys)
    server.should_exit = True
    thread.join()
    listening.close()
