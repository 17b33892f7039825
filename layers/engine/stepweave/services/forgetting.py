"""The end of a run's records (contract §4, `RUNS_TTL_DAYS`): everything that is stored of it goes."""

from datetime import timedelta

from stepweave import clock as times
from stepweave.clock import Clock
from stepweave.ports import BlobStore
from stepweave.store.runs import Runs

RECORDS_KEPT = timedelta(days=365)


class Forgetting:
    """`kept` is how long records stay after the end of a run, or after the creation of one that was never started.

    From that moment on the API does not know the run any more (`RunService.get`), so nobody starts it meanwhile.
    """

    def __init__(self, runs: Runs, blobs: BlobStore, clock: Clock, kept: timedelta) -> None:
        self._runs = runs
        self._blobs = blobs
        self._clock = clock
        self._kept = kept

    def forget_due(self, limit: int) -> int:
        """For the sweep; gives the number of runs that were forgotten."""
        due = self._runs.due_for_forgetting(times.to_json(self._clock.now()), limit)
        return sum(self.forget(run.run_id) for run in due)

    def forget(self, run_id: str) -> bool:
        """What named the run may be stale, so it is read again. The run's own item goes last: until then the next sweep
        goes on where this one died."""
        run = self._runs.get(run_id)
        moment = run.records_expire_at(self._kept) if run is not None else None
        if moment is None or self._clock.now() < moment:
            return False
        self._blobs.delete([name for name, _ in self._blobs.list(f"runs/{run_id}/")])
        self._runs.forget(run_id)
        return True
