"""The command `stepweave` as a person calls it: arguments, environment and standard input in; status and outputs out."""

import io
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from stepweave_local.main import main

_VARIABLES = ("STEPWEAVE_URL", "STEPWEAVE_API_KEY", "STEPWEAVE_ADMIN_KEY", "LC_ALL", "LC_MESSAGES")


@dataclass(frozen=True)
class Done:
    status: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


class CommandLine:
    """Calls run in `directory`, in English unless said otherwise, with nothing in the environment but what is given."""

    def __init__(
        self,
        directory: Path,
        monkeypatch: pytest.MonkeyPatch,
        capsys: pytest.CaptureFixture[str],
        **environment: str,
    ) -> None:
        self._directory = directory
        self._monkeypatch = monkeypatch
        self._capsys = capsys
        self._environment = environment

    def __call__(self, *arguments: str, stdin: str = "", **environment: str) -> Done:
        for name in _VARIABLES:
            self._monkeypatch.delenv(name, raising=False)
        for name, value in {"LANG": "en_US.UTF-8", **self._environment, **environment}.items():
            self._monkeypatch.setenv(name, value)
        self._monkeypatch.chdir(self._directory)
        self._monkeypatch.setattr("sys.stdin", io.StringIO(stdin))
        status = main(arguments)
        told = self._capsys.readouterr()
        return Done(status, told.out, told.err)
