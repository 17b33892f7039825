"""Upkeep of runs that nobody looks after any more (protocol rules D and X): called by the clock and by deaths."""

from datetime import datetime, timedelta

from stepweave import clock as times
from stepweave import ids
from stepweave.clock import Clock
from stepweave.execution.run import Run
from stepweave.services.asks import Asks
from stepweave.services.closing import Closing
from stepweave.services.context_tokens import ContextTokens
from stepweave.services.files import Files
from stepweave.services.forgetting import Forgetting
from stepweave.services.redrive import Redrive
from stepweave.store.runs import Runs

SHORTEST = timedelta(minutes=1)
LONGEST = timedelta(days=1)
_AT_ONCE = 100
_FORGOTTEN_AT_ONCE = 20
_ALL = 10_000
_FOR_EVER = "9999"


class Sweep:
    def __init__(
        self,
        *,
        runs: Runs,
        clock: Clock,
        redrive: Redrive,
        asks: Asks,
        closing: Closing,
        files: Files,
        forgetting: Forgetting,
        tokens: ContextTokens,
        events_kept: timedelta,
    ) -> None:
        self._runs = runs
        self._files = files
        self._forgetting = forgetting
        self._tokens = tokens
        self._asks = asks
        self._clock = clock
        self._redrive = redrive
        self._closing = closing
        self._events_kept = events_kept

    def sweep(self) -> int:
        """Looks after the runs whose check is due; gives their number. The rest waits for the next tick.

        A run that cannot be looked after keeps no other from it, and comes again like a run that was; what went wrong
        is raised at the end, all of it.
        """
        now = self._clock.now()
        due = self._runs.due_for_upkeep(times.to_json(now), _AT_ONCE)
        wrong: list[Exception] = []
        for run in due:
            try:
                self.look_after(run.run_id)
            except Exception as error:  # noqa: BLE001 - whatever it is, the other runs are not to wait for it
                wrong.append(error)
                self._runs.check_again(run.run_id, times.to_json(now + SHORTEST))
        expired = self._files.expire_due(_AT_ONCE) + self._forgetting.forget_due(_FORGOTTEN_AT_ONCE)
        self._tokens.clean()
        if wrong:
            raise ExceptionGroup(f"{len(wrong)} of {len(due)} runs could not be looked after", wrong)
        return len(due) + expired

    def restart_all(self) -> int:
        """Every open run, due or not: for a local stack that has just come up, whose executions are all gone."""
        runs = self._runs.due_for_upkeep(_FOR_EVER, _ALL)
        return sum(self._redrive.redrive(run.run_id) for run in runs)

    def chain_died(self, chain: str) -> int:
        """An execution failed, was stopped or timed out: its run goes on at once. Gives the chains started."""
        run_id = ids.run_of_chain(chain)
        return self._redrive.redrive(run_id) if run_id is not None else 0

    def look_after(self, run_id: str) -> None:
        """The index that named the run is eventually consistent, so the run itself is read again here."""
        run = self._runs.get(run_id)
        if run is None:
            return
        now = self._clock.now()
        if not run.is_over:
            all_awake = self._asks.wake_again(run_id)
            self._redrive.redrive(run_id)
            self._runs.check_again(run_id, times.to_json(now + (_interval(run, now) if all_awake else SHORTEST)))
        elif run.closing:
            if not self._closing.close(run_id):
                self._runs.check_again(run_id, times.to_json(now + SHORTEST))
        elif (expiry := self._events_expire_at(run)) <= now:
            self._runs.forget_events(run)
        else:
            self._files.expire(run_id)
            self._runs.check_again(run_id, times.to_json(expiry))

    def _events_expire_at(self, run: Run) -> datetime:
        assert run.ended_at is not None, "a run that is over has ended at some time"
        return times.from_json(run.ended_at) + self._events_kept


def _interval(run: Run, now: datetime) -> timedelta:
    """The older a run, the rarer its checks: a run that waits for a person for weeks costs a look a day."""
    age = now - times.from_json(run.started_at or run.created_at)
    return min(max(age / 4, SHORTEST), LONGEST)
