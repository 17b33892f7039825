"""Waiting before reading again after a lost commit: short, growing, never in step with the other writers, and not for ever."""

import random

from stepweave.clock import Clock
from stepweave.errors import Unavailable

_FIRST_SECONDS = 0.004
_LONGEST_SECONDS = 0.5
_MOST_WAITS = 200
"""A crowd has long let everybody through by then: the store is out of reach."""


class Backoff:
    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._tries = 0

    def wait(self) -> None:
        """Raises `Unavailable` after a minute or so: whoever called is to call again."""
        if self._tries >= _MOST_WAITS:
            raise Unavailable("the store lets no write through")
        longest = min(_LONGEST_SECONDS, _FIRST_SECONDS * 2**self._tries)
        self._tries += 1
        self._clock.sleep(longest * random.uniform(0.25, 1))  # noqa: S311 - spreads writers out; nothing is secret
