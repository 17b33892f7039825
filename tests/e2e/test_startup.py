"""What `stepweave up` says when it cannot start: one clear sentence, and a status that scripts can see."""

import os
import socket
import subprocess
from pathlib import Path

from tests.e2e.conftest import ROOT, STEPWEAVE


def start(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(STEPWEAVE), "up", *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        env=os.environ | {"LANG": "en_US.UTF-8"},
        check=False,
    )


def test_a_port_in_use_is_told(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        ended = start("--port", str(port), "--data-dir", str(tmp_path / "data"))
    assert ended.returncode == 2
    assert ended.stderr.strip().splitlines() == [
        f"Port {port} is in use: stop what uses it, or choose another with `stepweave up --port`."
    ]


def test_a_data_directory_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("not a directory")
    ended = start("--port", "24399", "--data-dir", str(blocked / "data"))
    assert ended.returncode == 2
    assert len(ended.stderr.strip().splitlines()) == 1
    assert str(blocked) in ended.stderr
