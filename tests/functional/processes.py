"""A process of a function, as Lambda keeps it between invocations."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager


class _Process(asyncio.DefaultEventLoopPolicy):
    """Keeps all event loops that are made in it, to close them when the process ends.

    Mangum makes a loop where the thread has none, and a node that runs in the thread takes it away again: nobody else
    would know of the first one, and it would be found open by whatever test is running when memory is tidied.
    """

    def __init__(self) -> None:
        super().__init__()
        self._loops: list[asyncio.AbstractEventLoop] = []

    def new_event_loop(self) -> asyncio.AbstractEventLoop:
        loop = super().new_event_loop()
        self._loops.append(loop)
        return loop

    def end(self) -> None:
        for loop in self._loops:
            loop.close()


@contextmanager
def one_process() -> Iterator[None]:
    process = _Process()
    asyncio.set_event_loop_policy(process)
    asyncio.set_event_loop(process.new_event_loop())
    try:
        yield
    finally:
        process.end()
        asyncio.set_event_loop_policy(None)
