"""How events reach a reader: held open where the platform can, else in bounded answers (contract §5)."""

from dataclasses import dataclass
from typing import Protocol

from fastapi import Response

from stepweave.execution.run import Run
from stepweave.services.event_reading import Page


@dataclass(frozen=True, slots=True)
class Pace:
    """Seconds. A pause between two looks at the log is a tenth of the silence so far, between `quickest` and `slowest`.

    `keep_alive` is the longest silence on a connection, `longest` the longest connection, `held` how long a bounded
    answer waits for something to tell.
    """

    quickest: float = 0.02
    slowest: float = 1.0
    keep_alive: float = 30.0
    longest: float = 24 * 3600.0
    held: float = 25.0

    def pause(self, silence: float) -> float:
        return min(self.slowest, max(self.quickest, silence / 10))


CONTRACT_PACE = Pace()


class Streams(Protocol):
    """Live (live.py) or bounded (buffered.py)."""

    async def stream(self, run: Run, after: int, headers: dict[str, str]) -> Response:
        """The events beyond `after` as an answer; 204 where nothing can follow."""
        ...

    async def page(self, run: Run, after: int, *, limit: int, most_bytes: int, seconds: float) -> Page:
        """What follows `after`; with nothing there, waits up to `seconds` for something."""
        ...

    def wake(self, run_id: str) -> None:
        """Something has just happened in this run: whoever waits looks at once. From any thread."""
        ...
