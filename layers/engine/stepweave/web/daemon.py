"""Work that blocks, beside an event loop that must not wait for it."""

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress


async def in_thread[T](work: Callable[[], T]) -> T:
    """The result of `work`, done in a thread of its own.

    Whoever gives up waiting goes on at once: the thread is left to itself and keeps no process alive — the threads of
    `asyncio.to_thread` would be waited for at the end of the loop.
    """
    loop = asyncio.get_running_loop()
    result: asyncio.Future[T] = loop.create_future()

    def settle(outcome: Callable[[], None]) -> None:
        if not result.done():  # else nobody waits for it any more
            outcome()

    def do() -> None:
        try:
            value = work()
        except BaseException as error:  # noqa: BLE001 - it is raised where the result is awaited
            outcome = _raising(result, error)
        else:
            outcome = _giving(result, value)
        with suppress(RuntimeError):  # the loop has ended meanwhile, and nobody waits
            loop.call_soon_threadsafe(settle, outcome)

    threading.Thread(target=do, daemon=True, name="tool").start()
    return await result


def _giving[T](result: "asyncio.Future[T]", value: T) -> Callable[[], None]:
    return lambda: result.set_result(value)


def _raising[T](result: "asyncio.Future[T]", error: BaseException) -> Callable[[], None]:
    return lambda: result.set_exception(error)
