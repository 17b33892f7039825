"""Working conditions for a node under test: keeps what it streams and saves, ends the run or the process when told to."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from stepweave.agents.models import ModelSettings, OpenedModel, open_model
from stepweave.agents.script import Play
from stepweave.errors import ValidationFailed
from stepweave.execution.cost import Price
from stepweave.execution.skill import Skill
from stepweave.execution.work import RunEnded


@dataclass
class SteppingClock:
    """Each of the two clocks moves on by a second each time somebody looks at it."""

    seconds: int = 0
    monotonic_seconds: float = 0.0

    def now(self) -> datetime:
        self.seconds += 1
        return datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=self.seconds)

    def monotonic(self) -> float:
        self.monotonic_seconds += 1.0
        return self.monotonic_seconds

    def sleep(self, seconds: float) -> None:
        raise AssertionError("a node never sleeps by the clock: it would keep others from streaming")


@dataclass(frozen=True)
class ModelsOf:
    """The models of a deployment with these settings and prices."""

    settings: ModelSettings
    prices: Mapping[str, Price] = field(default_factory=dict)

    def open(self, name: str, play: Play) -> OpenedModel:
        return open_model(name, play, self.settings)

    def price(self, name: str) -> Price | None:
        return self.prices.get(name)


@dataclass
class MemoryWorkspace:
    """Files in memory; only paths that begin with a letter and hold no `..` are inside."""

    files: dict[str, bytes] = field(default_factory=dict)

    def paths(self) -> Iterable[tuple[str, int]]:
        return [(path, len(content)) for path, content in sorted(self.files.items())]

    def has(self, path: str) -> bool:
        return self._checked(path) in self.files

    def read(self, path: str) -> bytes | None:
        return self.files.get(self._checked(path))

    def write(self, path: str, content: bytes) -> None:
        self.files[self._checked(path)] = content

    def _checked(self, path: str) -> str:
        if not path[:1].isalpha() or ".." in path:
            raise ValidationFailed(f"{path} leaves the workspace")
        return path


@dataclass(frozen=True)
class WrittenSkills:
    """Skills with their files."""

    skills: Mapping[str, Skill] = field(default_factory=dict)
    files: Mapping[str, bytes] = field(default_factory=dict)

    def get(self, name: str) -> Skill | None:
        return self.skills.get(name)

    def read(self, skill: Skill, path: str) -> bytes | None:
        return self.files.get(path)


@dataclass
class RecordingWork:
    """`ends_at_event` and `ends_at_tick` count from 1: there `RunEnded` is raised (or `raises`); `dies_at` counts all
    calls of `emit` and `save`, and there `raises` is raised before anything has an effect.

    `saves` holds every state that was saved, as JSON text: what is no JSON cannot be saved.
    """

    tries: int = 0
    language: Any = "zh"
    models: Any = field(default_factory=lambda: ModelsOf(ModelSettings()))
    trace_limit: int = 65536
    workspace: Any = field(default_factory=MemoryWorkspace)
    skills: Any = field(default_factory=WrittenSkills)
    private_hosts: bool = False
    bridge: Any = None
    context_query: Any = None
    saved: Any = None
    answers: Mapping[str, Any] = field(default_factory=dict)
    ends_at_event: int | None = None
    ends_at_tick: int | None = None
    dies_at: int | None = None
    seconds_left: Any = lambda: 900.0
    raises: Exception = field(default_factory=RunEnded)
    clock: Any = field(default_factory=SteppingClock)
    events: list[tuple[str, str, Any]] = field(default_factory=list)
    tool_names: list[str | None] = field(default_factory=list)
    saves: list[str] = field(default_factory=list)
    ticks: int = 0
    calls: int = 0

    def emit(self, kind: Any, content: str, *, tool_name: str | None = None, data: Any = None) -> None:
        self._count()
        self.events.append((kind, content, data))
        self.tool_names.append(tool_name)
        if len(self.events) == self.ends_at_event:
            raise self.raises

    def save(self, state: Mapping[str, Any]) -> None:
        self._count()
        self.saves.append(json.dumps(state, allow_nan=False))

    def tick(self) -> None:
        self.ticks += 1
        if self.ticks == self.ends_at_tick:
            raise self.raises

    def remaining(self) -> float:
        seconds: float = self.seconds_left()
        return seconds

    def streamed(self, kind: str = "thinking") -> list[str]:
        return [content for event, content, _ in self.events if event == kind]

    def kinds(self) -> list[str]:
        return [kind for kind, _, _ in self.events]

    def _count(self) -> None:
        self.calls += 1
        if self.calls == self.dies_at:
            raise self.raises
