"""Waiting before reading again after a lost commit: short, growing, and never in step with the other writers."""

import random

from stepweave.clock import Clock

_FIRST_SECONDS = 0.004
_LONGEST_SECONDS = 0.5


class Backoff:
    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._tries = 0

    def wait(self) -> None:
        longest = min(_LONGEST_SECONDS, _FIRST_SECONDS * 2**self._tries)
        self._tries += 1
        self._clock.sleep(longest * random.uniform(0.25, 1))  # noqa: S311 - spreads writers out; nothing is secret
