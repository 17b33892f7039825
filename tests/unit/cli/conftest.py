"""The command as a person calls it: arguments, environment and standard input in, both outputs and the status out."""

import io
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from stepweave_local import client, stream
from stepweave_local.main import main

from tests.unit.cli.fake_server import FakeServer, fake_server


@dataclass(frozen=True)
class Done:
    status: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Cli = Callable[..., Done]


@pytest.fixture
def server() -> Iterator[FakeServer]:
    with fake_server() as running:
        yield running


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Waiting for a server takes no time."""
    monkeypatch.setattr(client.time, "sleep", lambda _: None)
    monkeypatch.setattr(stream.follow, "__kwdefaults__", {"after": 0, "sleep": lambda _: None})


@pytest.fixture
def lonely(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Cli:
    """The command in an empty directory, with nothing in the environment but what a call gives."""

    def call(*arguments: str, stdin: str = "", **environment: str) -> Done:
        for name in ("STEPWEAVE_URL", "STEPWEAVE_API_KEY", "STEPWEAVE_ADMIN_KEY", "LC_ALL", "LC_MESSAGES"):
            monkeypatch.delenv(name, raising=False)
        for name, value in {"LANG": "en_US.UTF-8", **environment}.items():
            monkeypatch.setenv(name, value)
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr("sys.stdin", io.StringIO(stdin))
        status = main(arguments)
        told = capsys.readouterr()
        return Done(status, told.out, told.err)

    return call


@pytest.fixture
def cli(lonely: Cli, server: FakeServer) -> Cli:
    """The command, pointed at the fake server."""

    def call(*arguments: str, stdin: str = "", **environment: str) -> Done:
        return lonely(*arguments, stdin=stdin, **{**server.environment, **environment})

    return call
