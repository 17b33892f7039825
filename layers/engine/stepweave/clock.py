"""The one source of time: everything that happens in a run is told in the same clock (ruff bans the others)."""

import time
from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    def now(self) -> datetime:
        """The time of day, UTC, aware."""
        ...

    def monotonic(self) -> float:
        """Seconds that only grow; for durations."""
        ...

    def sleep(self, seconds: float) -> None: ...


class SystemClock:
    def now(self) -> datetime:
        return datetime.now(UTC)

    def monotonic(self) -> float:
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)


def to_json(moment: datetime) -> str:
    """ISO 8601, UTC, milliseconds, `Z` (contract §1)."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def month_of(moment: datetime) -> str:
    """`YYYY-MM`, UTC: what a time in JSON begins with."""
    return to_json(moment)[:7]


def month_before(month: str) -> str:
    year, number = map(int, month.split("-"))
    return f"{year:04}-{number - 1:02}" if number > 1 else f"{year - 1:04}-12"


def from_json(text: str) -> datetime:
    return datetime.fromisoformat(text)
