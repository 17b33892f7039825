"""The command on a real terminal: drawing, a question answered at the prompt, Ctrl-C."""

import os
import pty
import re
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from tests.unit.cli.fake_server import PAUSE, RUN_ID, FakeServer, asks, complete, running

ROOT = Path(__file__).parents[3]


class Typist:
    """Reads what a terminal shows and types into it."""

    def __init__(self, process: int, terminal: int) -> None:
        self._process = process
        self._terminal = terminal
        self._shown = b""

    def sees(self, words: str, seconds: float = 20) -> None:
        """Waits until the words have been shown."""
        deadline = time.monotonic() + seconds
        while words not in self.shown:
            assert time.monotonic() < deadline, f"{words!r} never came: {self.shown}"
            self._shown += os.read(self._terminal, 65536)

    def types(self, keys: str) -> None:
        os.write(self._terminal, keys.encode())

    @property
    def shown(self) -> str:
        text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", self._shown.decode("utf-8", "replace")).replace("\r", "")
        return re.sub(r" +\n", "\n", text)

    def leaves(self) -> int:
        """Waits for the end of the command; gives its exit status."""
        with suppress(OSError):  # how Linux tells that nobody is at the other end
            while more := os.read(self._terminal, 65536):
                self._shown += more
        return os.waitstatus_to_exitcode(os.waitpid(self._process, 0)[1])


@contextmanager
def terminal(*arguments: str, **environment: str) -> Iterator[Typist]:
    paths = os.pathsep.join(str(ROOT / folder) for folder in ("layers/engine", "local"))
    process, descriptor = pty.fork()
    if process == 0:
        surroundings = {**os.environ, **environment, "PYTHONPATH": paths, "TERM": "xterm", "LANG": "en_US.UTF-8"}
        surroundings |= {"LC_ALL": "", "COLUMNS": "100", "LINES": "30"}
        os.execve(sys.executable, [sys.executable, "-m", "stepweave_local.main", *arguments], surroundings)
    try:
        yield Typist(process, descriptor)
    finally:
        os.close(descriptor)


@pytest.fixture
def asking(server: FakeServer) -> FakeServer:
    server.knows("ask")
    server.open_questions = ["clar-review"]
    server.script = [
        running("review", "agent", "Review"),
        asks("review", "Which version?", "v1", "v2"),
        PAUSE,
        complete(answer="v2 it is"),
    ]
    return server


# The process is forked while threads of pytest's plugins may run; it executes another program at once.
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_question_is_answered_at_the_prompt(asking: FakeServer) -> None:
    with terminal("run", "ask", **asking.environment) as typist:
        typist.sees("Answer: ")
        typist.types("5\n")
        typist.sees("type a number from 1 to 2")
        typist.types("2\n")
        assert typist.leaves() == 0
    assert "? Which version?   Review\n    1  Option v1\n    2  Option v2" in typist.shown
    assert "v2 it is" in typist.shown
    [resume] = asking.called("POST", f"/api/v1/runs/{RUN_ID}/resume")
    assert resume.json["answer"] == "v2"


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_ctrl_c_at_the_prompt_leaves_the_run_and_says_how_to_come_back(asking: FakeServer) -> None:
    with terminal("run", "ask", **asking.environment) as typist:
        typist.sees("Answer: ")
        typist.types("\x03")
        assert typist.leaves() == 130
    assert f"stepweave runs watch {RUN_ID}" in typist.shown
    assert "Traceback" not in typist.shown
    assert not asking.called("POST", f"/api/v1/runs/{RUN_ID}/resume")
