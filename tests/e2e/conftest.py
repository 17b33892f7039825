"""One local stack for all end-to-end tests: `stepweave up` as a person starts it, on a free port, in a fresh directory."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import boto3
import pytest

from tests.e2e.server import Server

ROOT = Path(__file__).parents[2]
STEPWEAVE = Path(sys.executable).with_name("stepweave")
START_SECONDS = 300


class Up:
    """A `stepweave up` process."""

    def __init__(self, data_dir: Path, port: int | None = None) -> None:
        self.data_dir = data_dir
        self.port = port or free_port()
        self._process: subprocess.Popen[str] | None = None

    @property
    def log(self) -> Path:
        return self.data_dir.parent / f"up-{self.port}.log"

    def start(self) -> Server:
        ready = self.data_dir / "dev.json"
        before = ready.stat().st_mtime_ns if ready.exists() else 0
        with self.log.open("a") as log:
            self._process = subprocess.Popen(
                [str(STEPWEAVE), "up", "--port", str(self.port), "--data-dir", str(self.data_dir)],
                cwd=ROOT,
                stdout=log,
                stderr=subprocess.STDOUT,
                text=True,
                env=os.environ | {"LANG": "en_US.UTF-8"},
            )
        deadline = time.monotonic() + START_SECONDS
        while not ready.exists() or ready.stat().st_mtime_ns == before:
            if self._process.poll() is not None:
                raise AssertionError(f"stepweave up ended with {self._process.returncode}:\n{self.log.read_text()}")
            if time.monotonic() > deadline:
                raise AssertionError(f"stepweave up was not ready in time:\n{self.log.read_text()}")
            time.sleep(0.1)
        return Server.of(json.loads(ready.read_text()), self._process.pid)

    def endpoint_url(self) -> str:
        """Of every AWS service of the emulator, once the process is ready."""
        return self.environment()["AWS_ENDPOINT_URL"]

    def client(self, service: Any) -> Any:
        """A client of one AWS service of the emulator."""
        environment = self.environment()
        return boto3.client(
            service,
            endpoint_url=self.endpoint_url(),
            region_name=environment["AWS_DEFAULT_REGION"],
            aws_access_key_id=environment["AWS_ACCESS_KEY_ID"],
            aws_secret_access_key=environment["AWS_SECRET_ACCESS_KEY"],
        )

    def environment(self) -> dict[str, str]:
        """With which a process of the engine works on this stack, once it is ready."""
        told: dict[str, str] = json.loads((self.data_dir / "sam-local.json").read_text())["Parameters"]
        return {name: value.replace("host.docker.internal", "127.0.0.1") for name, value in told.items()}

    def stop(self, how: signal.Signals = signal.SIGINT) -> int:
        assert self._process is not None
        self._process.send_signal(how)
        return self._process.wait(timeout=60)

    def wait(self) -> int:
        assert self._process is not None
        return self._process.wait(timeout=60)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@pytest.fixture(scope="session")
def up(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Up, Server]]:
    process = Up(tmp_path_factory.mktemp("up") / "data")
    server = process.start()
    yield process, server
    assert process.stop() == 0


@pytest.fixture(scope="session")
def server(up: tuple[Up, Server]) -> Server:
    return up[1]
