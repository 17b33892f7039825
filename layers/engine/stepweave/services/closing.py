"""Closing what outlives its run (protocol rule X): after an abort, a cancel, or a process that died at the wrong time;
and seeing to it that who wanted to be told of the end is told."""

from contextlib import suppress
from datetime import timedelta

from stepweave import clock as times
from stepweave.clock import Clock
from stepweave.errors import Unavailable
from stepweave.execution.pause import Pause
from stepweave.execution.run import Run
from stepweave.execution.step import END, Step
from stepweave.execution.visit import Visit
from stepweave.ports import CallbackQueue, Chains
from stepweave.store.pauses import Pauses
from stepweave.store.runs import Runs


class Closing:
    """`events_kept` is how long the event log stays after the end of a run (contract §5)."""

    def __init__(
        self,
        *,
        runs: Runs,
        pauses: Pauses,
        chains: Chains,
        callbacks: CallbackQueue,
        clock: Clock,
        events_kept: timedelta,
    ) -> None:
        self._runs = runs
        self._pauses = pauses
        self._chains = chains
        self._callbacks = callbacks
        self._clock = clock
        self._events_kept = events_kept

    def close(self, run_id: str) -> bool:
        """Ends every visit and every question that is still open, then queues the run's callback; True when nothing can
        be left of it.

        While fewer visits are seen than the run counts, or not the question that a visit waits for, a commit from before
        the end is still becoming visible, and the run stays `closing` for the next to try: this process, or the sweep.
        """
        run = self._runs.get(run_id)
        if run is None or not run.is_over or not run.closing:
            return True
        visits = [self.close_visit(visit) for visit in self._runs.visits(run_id)]
        pauses = self._pauses.of(run_id)
        for pause in pauses:
            self._close_pause(pause)
        awaited = {visit.waiting for visit in visits if visit.waiting is not None}
        if len(visits) < run.visits or not awaited <= {pause.clarify_id for pause in pauses}:
            return False
        if run.calls_back and not self._queue_callback(run_id):
            return False
        self._runs.closed(run_id, check_at=self.first_expiry(run))
        return True

    def _queue_callback(self, run_id: str) -> bool:
        """Whoever dies between this and the end of closing leaves it to be done again: the receiver is told once."""
        try:
            self._callbacks.send(run_id)
        except Unavailable:
            return False
        return True

    def first_expiry(self, run: Run) -> str:
        """When the sweep has something to take away of a run that has ended: files, or the event log."""
        expiry = self._clock.now() + self._events_kept
        return times.to_json(min(expiry, run.files_expire_at or expiry))

    def _close_pause(self, pause: Pause) -> None:
        """The chain that sleeps on the question is woken to its end."""
        closed = self._pauses.close(pause) if pause.status == "OPEN" else pause
        if closed.token is not None:
            with suppress(Unavailable):  # it sleeps on; nothing is lost but its place in a list of executions
                step = Step(pause.run_id, pause.visit_uuid, pause.node_id, END)
                self._chains.wake(closed.token, step.to_json())

    def close_visit(self, visit: Visit) -> Visit:
        """Stored without an event: the terminal event has been told, and nothing follows it (contract §5)."""
        return self._runs.close_visit(visit, times.to_json(self._clock.now()))
