"""What stops a command: one sentence for the person, and the exit status for the script."""

from collections.abc import Mapping, Sequence
from typing import Any

from stepweave.errors import StepweaveError
from stepweave.texts import Text

RUN_FAILED = 1
"""The command did what it should; what it looked at is not well: a run failed, a definition is invalid."""
CANNOT = 2
"""The command could not do what it should: wrong usage, no server, a refusal."""
INTERRUPTED = 130
"""Ctrl-C, as shells tell it."""

Problem = Mapping[str, Any]
"""One problem of a definition, as the API tells it (contract §2)."""


class CommandError(StepweaveError):
    """The command cannot go on; the text says what is wrong and what to do about it."""

    code = "COMMAND_FAILED"

    def to_json(self) -> dict[str, Any]:
        """What `--json` prints in place of a result, without the message."""
        return {"code": self.code}


class Unreachable(CommandError):
    """No server answers, or what answers is not stepweave."""

    code = "UNREACHABLE"


class ServerRefused(CommandError):
    """The server answered with an error of the contract (§4); `problems` come with `GRAPH_INVALID`."""

    def __init__(self, text: Text, refusal: str, status: int, problems: Sequence[Problem] = ()) -> None:
        super().__init__(text)
        self.refusal = refusal
        self.status = status
        self.problems = problems

    def to_json(self) -> dict[str, Any]:
        told: dict[str, Any] = {"code": self.refusal, "http": self.status}
        return told | {"problems": list(self.problems)} if self.problems else told
