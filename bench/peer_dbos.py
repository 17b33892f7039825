"""The same shapes in DBOS on SQLite: a workflow whose nodes are steps, each recorded before the next."""

import asyncio
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import sqlalchemy
from dbos import DBOS
from workflows import WIDTH


@DBOS.step()
def _step(x: int) -> int:
    return x + 1


@DBOS.workflow()
def _chain(length: int) -> int:
    x = 0
    for _ in range(length):
        x = _step(x)
    return x


@DBOS.step()
async def _async_step(x: int) -> int:
    return x + 1


@DBOS.workflow()
async def _diamond(width: int) -> int:
    first = await _async_step(0)
    wide = await asyncio.gather(*(_async_step(first) for _ in range(width)))
    return await _async_step(sum(wide))


@contextmanager
def launched(folder: Path) -> Iterator[None]:
    """DBOS is one a process: this is done once."""
    if sqlite3.sqlite_version_info < (3, 42):
        sqlalchemy.event.listen(sqlalchemy.Engine, "connect", _lend_unixepoch)
    DBOS(
        config={
            "name": "bench",
            "system_database_url": f"sqlite:///{folder / 'dbos.sqlite'}",
            "log_level": "ERROR",
        }
    )
    DBOS.launch()
    try:
        yield
    finally:
        DBOS.destroy()


def chain_runner(length: int) -> Callable[[], object]:
    return lambda: _chain(length)


def diamond_runner(loop: asyncio.AbstractEventLoop) -> Callable[[], object]:
    return lambda: loop.run_until_complete(_diamond(WIDTH))


def _lend_unixepoch(connection: Any, _: Any) -> None:
    """DBOS wants `unixepoch('subsec')`, which SQLite has since 3.42; with an older one it does not start."""
    connection.create_function("unixepoch", -1, lambda *_: time.time())
