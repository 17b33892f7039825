"""One look at a run's log for all its live readers: its memory, its pace, and what ends it."""

import asyncio
from collections.abc import Coroutine
from typing import Any

import pytest

from stepweave.api import feed as feeds
from stepweave.api.feed import Feed
from stepweave.api.streams import Pace
from stepweave.errors import Unavailable
from stepweave.services.event_text import EventText

QUICK = Pace(quickest=0.001, slowest=0.01)


class Log:
    """Events 1, 2, 3 … of ten bytes; `visible` is how many of them can be seen."""

    def __init__(self, visible: int = 0, last: int | None = None) -> None:
        self.visible = visible
        self.last = last
        self.looks = 0
        self.fault: Exception | None = None

    async def look(self, after: int) -> list[EventText]:
        self.looks += 1
        if self.fault is not None:
            raise self.fault
        numbers = range(after + 1, self.visible + 1)
        return [EventText(n, "workflow_complete" if n == self.last else "node_stream", b"0123456789") for n in numbers]


def run(work: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(work, 10), loop_factory=asyncio.new_event_loop)


def numbers(feed: Feed, position: int) -> list[int]:
    return [event.id for event in feed.beyond(position)]


def test_it_gives_what_lies_beyond_a_position_and_tells_of_news() -> None:
    async def work() -> None:
        log = Log()
        feed = Feed(0, log.look, QUICK)
        assert numbers(feed, 0) == []
        log.visible = 3
        await feed.news(5)
        assert (numbers(feed, 0), numbers(feed, 2), numbers(feed, 3), numbers(feed, 9)) == ([1, 2, 3], [3], [], [])
        feed.close()

    run(work())


def test_a_feed_that_begins_late_does_not_reach_back() -> None:
    async def work() -> None:
        feed = Feed(10, Log(visible=12).look, QUICK)
        await feed.news(5)
        assert feed.reaches_back_to(10)
        assert not feed.reaches_back_to(9)
        assert numbers(feed, 10) == [11, 12]
        feed.close()

    run(work())


@pytest.mark.parametrize(("name", "bound"), [("MOST_EVENTS", 5), ("MOST_BYTES", 50)])
def test_its_memory_is_bounded_and_the_oldest_events_go_first(
    monkeypatch: pytest.MonkeyPatch, name: str, bound: int
) -> None:
    monkeypatch.setattr(feeds, name, bound)

    async def work() -> None:
        feed = Feed(0, Log(visible=20).look, QUICK)
        await feed.news(5)
        assert not feed.reaches_back_to(14)
        assert feed.reaches_back_to(15)
        assert numbers(feed, 15) == [16, 17, 18, 19, 20]
        feed.close()

    run(work())


def test_it_ends_with_the_terminal_event_and_looks_no_more() -> None:
    async def work() -> None:
        log = Log(visible=3, last=3)
        feed = Feed(0, log.look, QUICK)
        await feed.news(5)
        assert feed.ended
        looks = log.looks
        await asyncio.sleep(0.05)
        assert log.looks == looks

    run(work())


def test_a_store_that_cannot_be_read_now_is_asked_again() -> None:
    async def work() -> None:
        log = Log(visible=1)
        log.fault = Unavailable("throttled")
        feed = Feed(0, log.look, QUICK)
        await asyncio.sleep(0.02)
        assert not feed.ended
        log.fault = None
        await feed.news(5)
        assert numbers(feed, 0) == [1]
        feed.close()

    run(work())


def test_a_fault_ends_it_and_wakes_who_waits(caplog: pytest.LogCaptureFixture) -> None:
    async def work() -> None:
        log = Log()
        feed = Feed(0, log.look, QUICK)
        log.fault = RuntimeError("broken")
        await feed.news(5)
        assert feed.ended

    run(work())
    assert any(record.exc_info for record in caplog.records)


def test_waking_makes_it_look_at_once() -> None:
    async def work() -> None:
        log = Log()
        feed = Feed(0, log.look, Pace(quickest=60, slowest=60))
        await asyncio.sleep(0.01)
        log.visible = 1
        feed.wake()
        await feed.news(5)
        assert numbers(feed, 0) == [1]
        feed.close()

    run(work())


def test_the_longer_nothing_happens_the_rarer_it_looks() -> None:
    async def work() -> None:
        log = Log()
        feed = Feed(0, log.look, Pace(quickest=0.001, slowest=0.2))
        await asyncio.sleep(0.1)
        first = log.looks
        await asyncio.sleep(0.4)
        assert log.looks - first < first
        feed.close()

    run(work())
