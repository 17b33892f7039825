"""Work in an event loop, with the engine's clock ticking beside it."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

TICK_SECONDS = 0.05
_STOPPING_SECONDS = 2.0  # a foreign server may be slow to say goodbye, and is then left


async def while_ticking[T](work: Coroutine[Any, Any, T], tick: Callable[[], None]) -> T:
    """Runs the coroutine and calls `tick` beside it every 50 ms; what that raises stops the coroutine and is raised."""
    running = asyncio.create_task(work)
    ticking = asyncio.create_task(_tick(tick))
    try:
        await asyncio.wait({running, ticking}, return_when=asyncio.FIRST_COMPLETED)
        if not running.done():
            await _stop(running)
            await ticking
        return await running
    finally:
        await _stop(running, ticking)


async def _tick(tick: Callable[[], None]) -> None:
    while True:
        await asyncio.sleep(TICK_SECONDS)
        tick()


async def _stop(*tasks: "asyncio.Task[Any]") -> None:
    for task in tasks:
        task.cancel()
    ended, _ = await asyncio.wait(tasks, timeout=_STOPPING_SECONDS)
    for task in ended:
        if not task.cancelled():
            task.exception()  # has been raised where it matters, or came too late to
