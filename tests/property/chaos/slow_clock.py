"""Time in a world where anybody may be slow."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

_BEGINNING = datetime(2030, 1, 1, tzinfo=UTC)


class SlowClock:
    """Time passes when somebody who slept for it goes on. As anybody may be slow for any time, whoever sleeps may be
    the next to go on, and then so much time has passed for all."""

    def __init__(self, pause: Callable[[], None]) -> None:
        self._pause = pause
        self._seconds = 0.0

    def now(self) -> datetime:
        return _BEGINNING + timedelta(seconds=self._seconds)

    def monotonic(self) -> float:
        return self._seconds

    def sleep(self, seconds: float) -> None:
        wakes = self._seconds + seconds
        self._pause()
        self.reach(wakes)

    def reach(self, seconds: float) -> None:
        self._seconds = max(self._seconds, seconds)

    def pass_by(self, seconds: float) -> None:
        self._seconds += seconds
