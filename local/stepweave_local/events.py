"""What comes over a run's stream (contract §5)."""

from dataclasses import dataclass
from typing import Any

TERMINAL = frozenset({"workflow_complete", "workflow_error"})


@dataclass(frozen=True, slots=True)
class Event:
    id: int
    type: str
    data: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Interrupted:
    """The connection is gone; it is tried again in so many seconds."""

    seconds: float
