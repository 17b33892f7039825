"""Ending before the platform does (architecture: an agent near its time limit goes on in the next invocation)."""

from collections.abc import Callable

_SHARE = 0.2
_SECONDS = 30.0
_LAST_SECONDS = 10.0


class OutOfTime(Exception):
    """The platform is about to end this process."""


class Deadline:
    """`remaining` gives the seconds until the platform ends the process; how many there are at all is what it gives
    at first."""

    def __init__(self, remaining: Callable[[], float]) -> None:
        self._remaining = remaining
        whole = remaining()
        self._margin = max(_SHARE * whole, min(_SECONDS, whole / 2))
        self._last = min(_LAST_SECONDS, self._margin / 2)

    @property
    def is_near(self) -> bool:
        """Whether a turn that begins now might not end in time."""
        return self._remaining() < self._margin

    def check(self) -> None:
        """Raises `OutOfTime` when there is just time left to store what there is."""
        if self._remaining() < self._last:
            raise OutOfTime
