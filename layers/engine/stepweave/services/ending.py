"""Ending a run from outside its chains: a person cancels it, or the engine gives it up (protocol rule E, Cancel)."""

from stepweave import clock as times
from stepweave.clock import Clock
from stepweave.events import records
from stepweave.execution.run import CANCELLED, Run
from stepweave.items import OutcomeUnknown, WriteConflict, WriteRefused
from stepweave.scheduling.decision import RunEnd
from stepweave.services.backoff import Backoff
from stepweave.services.closing import Closing
from stepweave.store.commit import Commit
from stepweave.store.runs import Runs
from stepweave.texts import Text


class Ending:
    def __init__(self, runs: Runs, clock: Clock, closing: Closing) -> None:
        self._runs = runs
        self._clock = clock
        self._closing = closing

    def cancel(self, run_id: str) -> Run | None:
        """The run as it stands afterwards: FAILED with `CANCELLED`, unless it had ended before; None: no such run."""
        return self._fail(run_id, CANCELLED)

    def give_up(self, run_id: str, reason: Text) -> Run | None:
        run = self._runs.get(run_id)
        return self._fail(run_id, reason.to(run.language)) if run is not None else None

    def _fail(self, run_id: str, error: str) -> Run | None:
        backoff = Backoff(self._clock)
        while True:
            run = self._runs.get(run_id)
            if run is None or run.is_over:
                self._closing.close(run_id)  # it may have been this call that ended it, and was not told so
                return run
            moment = times.to_json(self._clock.now())
            event = records.workflow_error(error, None, moment)
            commit = Commit(run, (event,), end=RunEnd("FAILED", None, error), ended_at=moment)
            try:
                ended = self._runs.end_unstarted(commit) if run.status == "CREATED" else self._runs.commit(commit)
            except (WriteRefused, WriteConflict, OutcomeUnknown):
                backoff.wait()
                continue
            self._closing.close(run_id)
            return ended
