"""Streams where a gateway buffers answers: what there is, after waiting for something, and an EventSource asks again."""

import asyncio

from fastapi import Response
from fastapi.concurrency import run_in_threadpool

from stepweave.api import sse
from stepweave.api.streams import Pace
from stepweave.execution.run import Run
from stepweave.services.asks import Asks
from stepweave.services.event_reading import EventReading, Page
from stepweave.services.wire import ANSWER_BYTES

_MOST_EVENTS = 1_000
_RETRY_MILLISECONDS = 200
_RETRY_MILLISECONDS_OF_PEOPLE = 5_000
_WAITED_ENOUGH = b":nothing yet\n\n"


class BufferedStreams:
    """While a run does nothing but wait for people, which may be for weeks, no answer is held back for it."""

    def __init__(self, reading: EventReading, asks: Asks, pace: Pace) -> None:
        self._reading = reading
        self._asks = asks
        self._pace = pace

    async def stream(self, run: Run, after: int, headers: dict[str, str]) -> Response:
        if run.is_over and after >= run.last_seq:
            return Response(None, 204, headers)
        waits = after >= run.last_seq and await run_in_threadpool(self._asks.hold_everything, run)
        held = 0 if waits else self._pace.held
        page = await self.page(run, after, limit=_MOST_EVENTS, most_bytes=ANSWER_BYTES, seconds=held)
        if page.done and not page.events:
            return Response(None, 204, headers)
        told = sse.blocks(page.events) or _WAITED_ENOUGH
        retry = _RETRY_MILLISECONDS_OF_PEOPLE if waits and not page.events else _RETRY_MILLISECONDS
        content = sse.retry(retry) + sse.gone(page.gone) + told
        return Response(content, 200, sse.HEADERS | headers, sse.MEDIA_TYPE)

    async def page(self, run: Run, after: int, *, limit: int, most_bytes: int, seconds: float) -> Page:
        clock = asyncio.get_running_loop().time
        began = clock()
        while True:
            page = await run_in_threadpool(self._reading.page, run.run_id, after, limit=limit, most_bytes=most_bytes)
            silence = clock() - began
            if page.events or page.done or silence >= seconds:
                return page
            await asyncio.sleep(min(self._pace.pause(silence), seconds - silence))

    def wake(self, run_id: str) -> None:  # noqa: ARG002 - whoever waits here is in another process
        return None
