"""One look at a run's log for all who read it live: a poller with a bounded memory of what it has seen."""

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable

from stepweave.api.streams import Pace
from stepweave.errors import StepweaveError
from stepweave.services.event_text import EventText

MOST_EVENTS = 5_000
MOST_BYTES = 8 * 1024 * 1024

Look = Callable[[int], Awaitable[list[EventText]]]
"""The events that are visible beyond an id."""

_MANY = 32
"""So many at once are hardly all: the next look follows without a pause."""

logger = logging.getLogger(__name__)


class Feed:
    """The events of one run beyond `start`, in one event loop. `ended`: nothing will be added any more.

    `readers` is counted by who lends the feed to them.
    """

    def __init__(self, start: int, look: Look, pace: Pace) -> None:
        self._look = look
        self._pace = pace
        self._events: deque[EventText] = deque()
        self._bytes = 0
        self._start = start
        self._last = start
        self._news = asyncio.Event()
        self._woken = asyncio.Event()
        self.ended = False
        self.readers = 0
        self._poller = asyncio.create_task(self._poll())

    def reaches_back_to(self, position: int) -> bool:
        """Whether the memory holds everything beyond `position`."""
        return position >= self._start

    def beyond(self, position: int) -> list[EventText]:
        if position >= self._last:
            return []
        skipped = max(0, position - self._start)
        return [self._events[index] for index in range(skipped, len(self._events))]

    async def news(self, seconds: float) -> None:
        """Returns when something was added, or after `seconds`."""
        try:
            await asyncio.wait_for(self._news.wait(), seconds)
        except TimeoutError:
            return

    def wake(self) -> None:
        self._woken.set()

    def close(self) -> None:
        self._poller.cancel()
        self._end()

    async def _poll(self) -> None:
        clock = asyncio.get_running_loop().time
        active = clock()
        try:
            while not self.ended:
                found = await self._seen()
                if found:
                    active = clock()
                    self._add(found)
                if len(found) < _MANY and await self._was_woken(self._pace.pause(clock() - active)):
                    active = clock()
        except Exception:
            logger.exception("a run's events cannot be followed")  # its readers end, come back, and meet the fault
        finally:
            self._end()

    async def _seen(self) -> list[EventText]:
        try:
            return await self._look(self._last)
        except StepweaveError as error:
            logger.warning("the event log cannot be read now: %s", error)
            return []

    async def _was_woken(self, seconds: float) -> bool:
        try:
            await asyncio.wait_for(self._woken.wait(), seconds)
        except TimeoutError:
            return False
        self._woken.clear()
        return True

    def _add(self, events: list[EventText]) -> None:
        for event in events:
            self._events.append(event)
            self._bytes += len(event.data)
        self._last = events[-1].id
        while len(self._events) > MOST_EVENTS or (self._bytes > MOST_BYTES and len(self._events) > 1):
            dropped = self._events.popleft()
            self._bytes -= len(dropped.data)
            self._start = dropped.id
        if events[-1].is_terminal:
            self.ended = True
        self._tell()

    def _end(self) -> None:
        self.ended = True
        self._tell()

    def _tell(self) -> None:
        """Wakes all who wait now; who waits next waits for the next news."""
        self._news.set()
        self._news = asyncio.Event()
