"""Lists of runs, newest first, by pages (contract §4): those of a workflow, and all of them, for the run history."""

from collections.abc import Callable
from datetime import timedelta

from stepweave import clock as times
from stepweave.clock import Clock
from stepweave.execution.run import Run, RunStatus
from stepweave.store.runs import Runs

_AT_ONCE = 100
_MOST_READ = 2_000

Listed = tuple[list[Run], Run | None]
"""The runs of a page, and the run to go on after; None where the list ends."""


class RunLists:
    """`kept` is how long the records of runs stay: beyond it nothing is looked for. The indexes know no status: of a
    rare one a page may be short although the list goes on."""

    def __init__(self, runs: Runs, clock: Clock, kept: timedelta) -> None:
        self._runs = runs
        self._clock = clock
        self._kept = kept

    def of_workflow(self, workflow: str, status: RunStatus | None, after: Run | None, limit: int) -> Listed:
        return _page(lambda last, most: self._runs.of_workflow(workflow, after=last, limit=most), status, after, limit)

    def of_all(self, status: RunStatus | None, after: Run | None, limit: int) -> Listed:
        now = self._clock.now()
        newest, oldest = times.month_of(now), times.month_of(now - self._kept)

        def read(last: Run | None, most: int) -> list[Run]:
            return self._runs.recent(after=last, limit=most, newest=newest, oldest=oldest)

        return _page(read, status, after, limit)


def _page(
    read: Callable[[Run | None, int], list[Run]], status: RunStatus | None, after: Run | None, limit: int
) -> Listed:
    found: list[Run] = []
    count = 0
    while count < _MOST_READ:
        wanted = min(_AT_ONCE, limit + 1) if status is None else _AT_ONCE
        page = read(after, wanted)
        count += len(page)
        for run in page:
            if status is None or run.status == status:
                if len(found) == limit:
                    return found, found[-1]
                found.append(run)
        if len(page) < wanted:
            return found, None
        after = page[-1]
    return found, after
