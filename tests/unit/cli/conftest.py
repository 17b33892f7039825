from collections.abc import Iterator
from pathlib import Path

import pytest

from stepweave_local import stream
from tests.builders.command_line import CommandLine
from tests.unit.cli.fake_server import FakeServer, fake_server


@pytest.fixture
def server() -> Iterator[FakeServer]:
    with fake_server() as running:
        yield running


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Waiting for a server takes no time."""
    monkeypatch.setattr("stepweave_local.client.time.sleep", lambda _: None)
    monkeypatch.setattr(stream.follow, "__kwdefaults__", {"after": 0, "sleep": lambda _: None})


@pytest.fixture
def lonely(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> CommandLine:
    """The command in an empty directory, without any server."""
    return CommandLine(tmp_path, monkeypatch, capsys)


@pytest.fixture
def cli(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], server: FakeServer
) -> CommandLine:
    """The command, pointed at the fake server."""
    return CommandLine(tmp_path, monkeypatch, capsys, **server.environment)
