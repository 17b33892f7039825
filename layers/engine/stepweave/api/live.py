"""Streams held open (contract §5): each reader catches up by itself, then follows the one poller of its run."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager

from anyio import CapacityLimiter, to_thread
from fastapi import Response
from fastapi.responses import StreamingResponse

from stepweave.api import sse
from stepweave.api.feed import Feed
from stepweave.api.streams import Pace
from stepweave.execution.run import Run
from stepweave.services.event_reading import EventReading, Page

_PAGE_EVENTS = 500
_PAGE_BYTES = 1_000_000
_THREADS = 16


class LiveStreams:
    """Belongs to one event loop. `close` ends every stream: a server calls it when it is asked to stop."""

    def __init__(self, reading: EventReading, pace: Pace) -> None:
        self._reading = reading
        self._pace = pace
        self._feeds: dict[str, Feed] = {}
        self._readers: dict[str, int] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        self._threads: CapacityLimiter | None = None
        self._is_closed = False

    async def stream(self, run: Run, after: int, headers: dict[str, str]) -> Response:
        if run.is_over and after >= run.last_seq:
            return Response(None, 204, headers)
        return StreamingResponse(self._follow(run, after), 200, sse.HEADERS | headers, sse.MEDIA_TYPE)

    async def page(self, run: Run, after: int, *, limit: int, most_bytes: int, seconds: float) -> Page:
        clock = asyncio.get_running_loop().time
        deadline = clock() + seconds
        page = await self._page(run, after, limit, most_bytes)
        if page.events or page.done or seconds <= 0:
            return page
        with self._feed(run, after) as feed:
            while not feed.ended and not feed.beyond(after) and clock() < deadline:
                await feed.news(deadline - clock())
        return await self._page(run, after, limit, most_bytes)

    def wake(self, run_id: str) -> None:
        feed = self._feeds.get(run_id)
        if feed is not None and self._loop is not None:
            self._loop.call_soon_threadsafe(feed.wake)

    def close(self) -> None:
        """From the event loop."""
        self._is_closed = True
        for feed in self._feeds.values():
            feed.close()

    async def _follow(self, run: Run, after: int) -> AsyncIterator[bytes]:
        clock = asyncio.get_running_loop().time
        until = clock() + self._pace.longest
        position = after
        while position < run.last_seq:
            page = await self._page(run, position, _PAGE_EVENTS, _PAGE_BYTES)
            if page.gone or page.events:
                yield _told(page)
            if page.done:
                return
            position = page.last
            if not page.events:
                await asyncio.sleep(self._pace.quickest)  # a commit is still becoming visible
        with self._feed(run, position) as feed:
            quiet_since = clock()
            while clock() < until and not self._is_closed:
                if feed.reaches_back_to(position):
                    events = feed.beyond(position)
                    told, over = sse.blocks(events), feed.ended
                    position = events[-1].id if events else position
                else:  # slower than the events come, or than another reader was: its own way to where the feed is
                    page = await self._page(run, position, _PAGE_EVENTS, _PAGE_BYTES)
                    told, position, over = _told(page), page.last, page.done
                if told:
                    yield told
                    quiet_since = clock()
                if over:
                    return
                if not told:
                    await feed.news(min(quiet_since + self._pace.keep_alive, until) - clock())
                    if clock() - quiet_since >= self._pace.keep_alive:
                        yield sse.KEEP_ALIVE
                        quiet_since = clock()

    async def _page(self, run: Run, after: int, limit: int, most_bytes: int) -> Page:
        return await self._in_thread(lambda: self._reading.page(run.run_id, after, limit=limit, most_bytes=most_bytes))

    async def _in_thread[T](self, read: Callable[[], T]) -> T:
        """The store blocks; few threads are enough, and those that requests need are not taken from them."""
        if self._threads is None:
            self._threads = CapacityLimiter(_THREADS)
        return await to_thread.run_sync(read, abandon_on_cancel=True, limiter=self._threads)

    @contextmanager
    def _feed(self, run: Run, position: int) -> Iterator[Feed]:
        """The run's feed, made by its first reader and closed after its last.

        A new one begins at the reader's position, but not beyond the run's last event: a client may claim any.
        """
        self._loop = asyncio.get_running_loop()
        feed = self._feeds.get(run.run_id)
        if feed is None or feed.ended:
            feed = Feed(
                min(position, run.last_seq),
                lambda after: self._in_thread(lambda: self._reading.following(run, after)),
                self._pace,
            )
            self._feeds[run.run_id] = feed
        feed.readers += 1
        try:
            yield feed
        finally:
            feed.readers -= 1
            if not feed.readers:
                feed.close()
                if self._feeds.get(run.run_id) is feed:
                    del self._feeds[run.run_id]


def _told(page: Page) -> bytes:
    return sse.gone(page.gone) + sse.blocks(page.events)
