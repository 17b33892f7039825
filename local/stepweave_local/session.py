"""One run of the command: its language, where it prints, which server it talks to."""

import json
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TextIO

from rich.console import Console, RenderableType
from rich.text import Text as Words

from stepweave.errors import StepweaveError
from stepweave.texts import Language, Text
from stepweave_local.command_error import CANNOT, CommandError, ServerRefused
from stepweave_local.endpoint import Endpoint, find_endpoint
from stepweave_local.languages import environment_language
from stepweave_local.lines import Lines
from stepweave_local.tables import problem_table

if TYPE_CHECKING:
    from stepweave_local.client import Client

_FILE_WIDTH = 10_000


@dataclass(frozen=True, slots=True)
class Shared:
    """The options that every command has; given before the command or after it, after it wins."""

    endpoint: str | None = None
    key: str | None = None
    as_json: bool = False

    def over(self, earlier: "Shared") -> "Shared":
        return Shared(self.endpoint or earlier.endpoint, self.key or earlier.key, self.as_json or earlier.as_json)


@dataclass
class Session:
    """Results go to `out`; what only tells how things go, questions and errors go to `err`."""

    shared: Shared
    language: Language = field(default_factory=lambda: environment_language(os.environ))
    out: Console = field(default_factory=lambda: console(sys.stdout))
    err: Console = field(default_factory=lambda: console(sys.stderr))
    answers: Lines = field(default_factory=lambda: Lines(sys.stdin))

    @property
    def as_json(self) -> bool:
        return self.shared.as_json

    @cached_property
    def endpoint(self) -> Endpoint:
        return find_endpoint(self.shared.endpoint, self.shared.key, os.environ, Path.cwd())

    @cached_property
    def client(self) -> "Client":
        from stepweave_local.client import Client  # httpx takes longer to import than all the rest

        return Client(self.endpoint, self.language)

    def say(self, text: Text) -> str:
        return text.to(self.language)

    def show(self, data: Any, view: Callable[[], RenderableType]) -> None:
        """The command's result: as data with `--json`, else as people read it."""
        if self.as_json:
            self.print_json(data)
        else:
            self.out.print(view())

    def print_json(self, data: Any) -> None:
        """One JSON value on one line."""
        self.out.file.write(json.dumps(data, ensure_ascii=False) + "\n")
        self.out.file.flush()

    def note(self, text: Text, style: str = "dim") -> None:
        """A remark beside the result; none with `--json`."""
        if not self.as_json:
            self.err.print(Words(self.say(text), style=style))

    def tell_error(self, error: StepweaveError) -> int:
        """The sentence on stderr (with `--json` the error on stdout too); gives the exit status."""
        sentence = self.say(error.text)
        problems = error.problems if isinstance(error, ServerRefused) and not self.as_json else ()
        count = Text(f"工作流定义有 {len(problems)} 个问题：", f"The definition has {_problems(len(problems))}:")
        self.err.print(Words(self.say(count) if problems else sentence, style="red"))
        if problems:
            self.err.print(problem_table(problems, self.say))
        if self.as_json:
            told = error.to_json() if isinstance(error, CommandError) else {"code": error.code}
            self.print_json({"error": told | {"message": sentence}})
        return CANNOT

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if "client" in self.__dict__:  # the one that was used
            self.client.close()


def _problems(count: int) -> str:
    return f"{count} problem{'' if count == 1 else 's'}"


def console(stream: TextIO) -> Console:
    """Prints what it is given: no markup, no emoji names, no colours for numbers; a file gets whole lines."""
    width = None if stream.isatty() else _FILE_WIDTH
    return Console(file=stream, markup=False, emoji=False, highlight=False, width=width)
