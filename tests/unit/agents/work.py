"""Working conditions for a node under test: keeps what it streams, ends the run when told to."""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from stepweave.agents.models import ModelSettings, OpenedModel, open_model
from stepweave.agents.script import Play
from stepweave.execution.work import RunEnded


@dataclass
class SteppingClock:
    """Moves on by a second each time somebody looks."""

    seconds: int = 0

    def now(self) -> datetime:
        self.seconds += 1
        return datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=self.seconds)

    def monotonic(self) -> float:
        self.seconds += 1
        return float(self.seconds)

    def sleep(self, seconds: float) -> None:
        raise AssertionError("a node never sleeps by the clock: it would keep others from streaming")


@dataclass(frozen=True)
class ModelsOf:
    """The models of a deployment with these settings."""

    settings: ModelSettings

    def open(self, name: str, play: Play) -> OpenedModel:
        return open_model(name, play, self.settings)


@dataclass
class RecordingWork:
    """`ends_at_event` and `ends_at_tick` count from 1: there `RunEnded` is raised (or `raises`)."""

    tries: int = 0
    language: Any = "zh"
    models: Any = field(default_factory=lambda: ModelsOf(ModelSettings()))
    trace_limit: int = 65536
    ends_at_event: int | None = None
    ends_at_tick: int | None = None
    raises: Exception = field(default_factory=RunEnded)
    clock: Any = field(default_factory=SteppingClock)
    events: list[tuple[str, str, Any]] = field(default_factory=list)
    ticks: int = 0

    def emit(self, kind: Any, content: str, *, tool_name: str | None = None, data: Any = None) -> None:
        self.events.append((kind, content, data))
        if len(self.events) == self.ends_at_event:
            raise self.raises

    def tick(self) -> None:
        self.ticks += 1
        if self.ticks == self.ends_at_tick:
            raise self.raises

    def remaining(self) -> float:
        return 900.0

    def streamed(self, kind: str = "thinking") -> list[str]:
        return [content for event, content, _ in self.events if event == kind]
