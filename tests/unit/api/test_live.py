"""Readers of a live stream that are slower than the events come."""

import asyncio
from typing import Any

import pytest

from stepweave.api import feed as feeds
from stepweave.api.live import LiveStreams
from stepweave.api.streams import Pace
from stepweave.execution.run import Run
from stepweave.services.event_reading import EventReading, Page
from stepweave.services.event_text import EventText

PACE = Pace(quickest=0.001, slowest=0.005, keep_alive=5)


class WrittenReading(EventReading):
    """A log that grows by hand; `own` counts the pages that readers asked for by themselves."""

    def __init__(self) -> None:
        self.events: list[EventText] = []
        self.done = False
        self.own = 0

    def add(self, count: int, *, last: bool = False) -> None:
        for _ in range(count):
            number = len(self.events) + 1
            self.events.append(EventText(number, "node_stream", b'{"n":%d}' % number))
        if last:
            self.events.append(EventText(len(self.events) + 1, "workflow_complete", b"{}"))
            self.done = True

    def page(self, run_id: str, after: int, *, limit: int, most_bytes: int) -> Page:
        self.own += 1
        events = self.events[after : after + limit]
        last = events[-1].id if events else after
        return Page(tuple(events), last, 0, "RUNNING", self.done and last == len(self.events))

    def following(self, run: Run, after: int, limit: int = 64) -> list[EventText]:
        return self.events[after : after + limit]


def a_run(last_seq: int = 0) -> Run:
    return Run("00000000", "echo", 1, 1, "RUNNING", "2026-01-01T00:00:00.000Z", last_seq=last_seq)


def ids_of(text: bytes) -> list[int]:
    return [int(line[4:]) for line in text.split(b"\n") if line.startswith(b"id: ")]


def test_a_reader_slower_than_the_memory_catches_up_by_itself_and_misses_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(feeds, "MOST_EVENTS", 10)

    async def work() -> bytes:
        reading = WrittenReading()
        streams = LiveStreams(reading, PACE)
        answer: Any = await streams.stream(a_run(), 0, {})
        chunks = answer.body_iterator
        reading.add(1)
        told: bytes = await anext(chunks)
        reading.add(50)
        await asyncio.sleep(0.1)  # the reader does not ask; the feed goes on without it
        reading.add(50, last=True)
        await asyncio.sleep(0.1)
        async for chunk in chunks:
            told += chunk
        assert reading.own > 0
        return told

    told = asyncio.run(asyncio.wait_for(work(), 10), loop_factory=asyncio.new_event_loop)
    assert ids_of(told) == list(range(1, 103))


def test_an_id_beyond_the_log_neither_keeps_the_stream_open_nor_disturbs_others() -> None:
    async def work() -> tuple[bytes, bytes]:
        reading = WrittenReading()
        reading.add(3)
        streams = LiveStreams(reading, PACE)

        async def read(after: int) -> bytes:
            answer: Any = await streams.stream(a_run(3), after, {})
            return b"".join([chunk async for chunk in answer.body_iterator])

        strange, honest = asyncio.create_task(read(10**9)), asyncio.create_task(read(3))
        await asyncio.sleep(0.05)
        reading.add(2, last=True)
        return await strange, await honest

    strange, honest = asyncio.run(asyncio.wait_for(work(), 10), loop_factory=asyncio.new_event_loop)
    assert ids_of(strange) == []
    assert ids_of(honest) == [4, 5, 6]
