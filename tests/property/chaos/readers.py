"""Readers of the event log, from any position to the terminal event."""

from collections.abc import Callable

from stepweave.errors import Unavailable
from stepweave.services.event_log import Event, EventLog
from tests.property.chaos.actors import Actor


class Reader:
    """`events` is what it was given so far, all of them beyond `after`."""

    def __init__(self, log: EventLog, run_id: str, after: int, limit: int, look: Callable[[Event], None]) -> None:
        self._log = log
        self._run_id = run_id
        self._limit = limit
        self._look = look
        self.after = after
        self.events: list[Event] = []
        self.actor = Actor(self._read)

    def _read(self) -> None:
        last = self.after
        while not (self.events and self.events[-1].is_terminal):
            try:
                events = self._log.read(self._run_id, last, self._limit)
            except Unavailable:
                continue
            for event in events:
                self._look(event)
                self.events.append(event)
                last = event.id
