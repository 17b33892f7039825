"""What a warm process remembers of visits for context queries (contract §6); what they left behind is in `RunMemory`.

Which visits there are is never remembered: that is told by the head of the visit that asks. An ended visit never
changes, and of one that runs only how it was reached is used, which does not either: so what is remembered is right
whoever writes.
"""

from collections import OrderedDict
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from datetime import timedelta
from threading import Lock

from stepweave import clock as times
from stepweave.clock import Clock
from stepweave.execution.lineage import VisitFact
from stepweave.execution.run import Run
from stepweave.services.memory import RunMemory

KEPT = timedelta(minutes=30)
"""After the end of a run, and for a run that nobody asks about."""

MOST_VISITS = 200
"""Of one run."""

MOST_BYTES = 8 * 1024 * 1024

_FACT_BYTES = 400
_SOURCE_BYTES = 100


@dataclass(slots=True)
class _Known:
    used_at: float
    facts: dict[str, VisitFact] = field(default_factory=dict)
    size: int = 0


class VisitIndex:
    """Thread-safe. Of runs, the one that was asked about longest ago goes first."""

    def __init__(self, clock: Clock, memory: RunMemory, most_bytes: int = MOST_BYTES) -> None:
        self._clock = clock
        self._memory = memory
        self._most_bytes = most_bytes
        self._lock = Lock()
        self._runs: OrderedDict[str, _Known] = OrderedDict()
        self._size = 0

    def recall(self, run: Run, visit_uuids: Collection[str]) -> dict[str, VisitFact]:
        """Those of the visits that are remembered."""
        with self._lock:
            self._drop_stale(run)
            known = self._runs.get(run.run_id)
            if known is None:
                return {}
            known.used_at = self._clock.monotonic()
            self._runs.move_to_end(run.run_id)
            return {each: known.facts[each] for each in visit_uuids if each in known.facts}

    def remember(self, run: Run, facts: Iterable[VisitFact]) -> None:
        if self._ended_long_ago(run):
            return
        with self._lock:
            known = self._runs.setdefault(run.run_id, _Known(self._clock.monotonic()))
            for fact in facts:
                before = known.facts.get(fact.visit_uuid)
                if before is not None and before.order is None:
                    known.facts[fact.visit_uuid] = fact
                elif before is None and len(known.facts) < MOST_VISITS:
                    size = _FACT_BYTES + _SOURCE_BYTES * len(fact.sources)
                    known.facts[fact.visit_uuid] = fact
                    known.size += size
                    self._size += size
            while self._size > self._most_bytes:
                self._drop(next(iter(self._runs)))

    def _drop_stale(self, asked: Run) -> None:
        if asked.run_id in self._runs and self._ended_long_ago(asked):
            self._drop(asked.run_id)
        longest_ago = self._clock.monotonic() - KEPT.total_seconds()
        while self._runs and next(iter(self._runs.values())).used_at < longest_ago:
            self._drop(next(iter(self._runs)))

    def _drop(self, run_id: str) -> None:
        self._size -= self._runs.pop(run_id).size
        self._memory.forget(run_id)

    def _ended_long_ago(self, run: Run) -> bool:
        return run.ended_at is not None and self._clock.now() - times.from_json(run.ended_at) >= KEPT
