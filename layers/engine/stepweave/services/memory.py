"""What a warm process remembers of runs: inputs and ended visits never change, so they are read once (law 6)."""

from collections import OrderedDict
from collections.abc import Mapping
from threading import Lock
from typing import Any

from stepweave.clock import Clock
from stepweave.errors import Unavailable
from stepweave.execution.visit import VisitBody
from stepweave.services.backoff import Backoff
from stepweave.store.documents import weigh
from stepweave.store.heads import body_to_json
from stepweave.store.runs import Runs

_BYTES = 32 * 1024 * 1024


class RunMemory:
    """Bounded by bytes, the least recently used goes first. Thread-safe."""

    def __init__(self, runs: Runs, most_bytes: int = _BYTES) -> None:
        self._runs = runs
        self._most_bytes = most_bytes
        self._bytes = 0
        self._entries: OrderedDict[tuple[str, str], tuple[int, Any]] = OrderedDict()
        self._lock = Lock()

    def inputs(self, run_id: str) -> Mapping[str, Any]:
        known: Mapping[str, Any] | None = self._recall(run_id, "")
        if known is None:
            known = self._runs.inputs(run_id)
            self._remember(run_id, "", known, weigh(known))
        return known

    def body(self, run_id: str, visit_uuid: str) -> VisitBody | None:
        return self.bodies(run_id, [visit_uuid]).get(visit_uuid)

    def bodies(self, run_id: str, visit_uuids: list[str]) -> dict[str, VisitBody]:
        found = {visit_uuid: self._recall(run_id, visit_uuid) for visit_uuid in visit_uuids}
        missing = [visit_uuid for visit_uuid, body in found.items() if body is None]
        if missing:
            for visit_uuid, body in self._runs.bodies(run_id, missing).items():
                self.remember(run_id, visit_uuid, body)
                found[visit_uuid] = body
        return {visit_uuid: body for visit_uuid, body in found.items() if body is not None}

    def remember(self, run_id: str, visit_uuid: str, body: VisitBody) -> None:
        """Only what has been committed may be remembered."""
        self._remember(run_id, visit_uuid, body, weigh(body_to_json(body)))

    def forget(self, run_id: str) -> None:
        with self._lock:
            for place in [place for place in self._entries if place[0] == run_id]:
                self._bytes -= self._entries.pop(place)[0]

    def _recall(self, run_id: str, name: str) -> Any:
        with self._lock:
            entry = self._entries.get((run_id, name))
            if entry is None:
                return None
            self._entries.move_to_end((run_id, name))
            return entry[1]

    def _remember(self, run_id: str, name: str, value: Any, size: int) -> None:
        if size > self._most_bytes // 4:
            return
        with self._lock:
            before = self._entries.pop((run_id, name), None)
            self._bytes += size - (before[0] if before else 0)
            self._entries[run_id, name] = (size, value)
            while self._bytes > self._most_bytes:
                _, (dropped, _) = self._entries.popitem(last=False)
                self._bytes -= dropped


def left_by(memory: RunMemory, clock: Clock, run_id: str, visit_uuid: str, *, tries: int) -> VisitBody:
    """What an ended visit left behind; the commit that ended it may still be becoming visible. Raises `Unavailable`."""
    backoff = Backoff(clock)
    for _ in range(tries):
        body = memory.body(run_id, visit_uuid)
        if body is not None:
            return body
        backoff.wait()
    raise Unavailable(f"what visit {visit_uuid} of run {run_id} left behind cannot be seen")
