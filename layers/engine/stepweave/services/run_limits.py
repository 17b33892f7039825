"""How many runs of a key may run, or wait, at once (contract §4, `RATE_LIMITED`)."""

from collections.abc import Mapping
from contextlib import suppress
from datetime import timedelta

from stepweave.clock import Clock
from stepweave.errors import RateLimited, Unavailable
from stepweave.items import OutcomeUnknown, WriteConflict
from stepweave.store.run_slots import RunSlots
from stepweave.store.runs import Runs
from stepweave.texts import Text

UNSTARTED = timedelta(minutes=1)
"""How long a run that was about to start counts before it has started."""

_TRIES = 5
_RETRY_SECONDS = 5


class RunLimit:
    """`limit` 0: none. A store that cannot count now lets runs start."""

    def __init__(self, slots: RunSlots, runs: Runs, clock: Clock, limit: int) -> None:
        self._slots = slots
        self._runs = runs
        self._clock = clock
        self._limit = limit

    def take(self, key_id: str, run_id: str) -> None:
        """Before a run starts. Raises `RateLimited` where too many of the key's runs have not ended."""
        if not self._limit:
            return
        moment = int(self._clock.now().timestamp())
        with suppress(WriteConflict, OutcomeUnknown, Unavailable):
            for _ in range(_TRIES):
                held = self._slots.take(key_id, run_id, moment, self._limit)
                if held is None:
                    return
                over = self._over(held, moment)
                if not over:
                    raise self._too_many()
                self._slots.drop(key_id, over)

    def give_back(self, key_id: str, run_id: str) -> None:
        """The run did not start after all. Not to be told does no harm for longer than `UNSTARTED`."""
        if self._limit:
            with suppress(WriteConflict, OutcomeUnknown, Unavailable):
                self._slots.drop(key_id, [run_id])

    def _over(self, held: Mapping[str, int], moment: int) -> list[str]:
        runs = self._runs.several(list(held))
        waits_since = moment - UNSTARTED.total_seconds()
        return [
            run_id
            for run_id, since in held.items()
            if (run := runs.get(run_id)) is None or run.is_over or (run.status == "CREATED" and since < waits_since)
        ]

    def _too_many(self) -> RateLimited:
        return RateLimited(
            Text(
                f"该 API Key 已有 {self._limit} 个未结束的运行，请等待其结束或取消其中一些",
                f"{self._limit} runs of this API key have not ended: wait for one to end, or cancel one",
            ),
            retry_after=_RETRY_SECONDS,
        )
