"""The JavaScript client, by Node's own test runner: on its own, and against the real API on a real port."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.functional.js.served import served

CLIENT = Path(__file__).parents[3] / "clients" / "js"
NODE_VERSION = 20


def node() -> str:
    """Where Node is. Not to have it is a failure: nothing of the client would be tested."""
    found = shutil.which("node")
    assert found is not None, (
        f"Node is not installed: the JavaScript client is tested with Node {NODE_VERSION} or newer"
    )
    version = subprocess.run([found, "--version"], capture_output=True, text=True, check=True).stdout.strip()
    number = int(version.removeprefix("v").partition(".")[0])
    assert number >= NODE_VERSION, f"{found} is {version}: Node {NODE_VERSION} or newer is needed"
    return found


def run_tests(files: list[Path], **environment: str) -> None:
    assert files
    told = subprocess.run(
        [node(), "--test", "--test-reporter=spec", *map(str, files)],
        cwd=CLIENT,
        env={**os.environ, "NO_COLOR": "1", **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert told.returncode == 0, told.stdout[-20_000:] + told.stderr


def test_the_client_alone() -> None:
    run_tests(sorted((CLIENT / "test" / "unit").glob("*.test.js")))


@pytest.mark.parametrize("file", sorted(path.name for path in (CLIENT / "test" / "server").glob("*.test.js")))
def test_the_client_and_the_server(file: str) -> None:
    with served() as server:
        run_tests([CLIENT / "test" / "server" / file], STEPWEAVE_TEST_SERVER=server)
