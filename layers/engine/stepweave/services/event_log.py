"""Reading a run's event log (contract §5, protocol rule Q): contiguous batches only, completed from what visits left."""

import json
from dataclasses import dataclass
from typing import Any

from stepweave.events.records import Record, visit_of
from stepweave.execution.envelope import outside
from stepweave.execution.visit import VisitBody
from stepweave.services.memory import RunMemory
from stepweave.services.outputs import Outputs
from stepweave.store.runs import Runs
from stepweave.store.workflows import Workflows

LOGS_IN_EVENT = 100
"""Log entries that a terminal `node_status` carries at most, the newest; the whole log is read by its own call."""

TERMINAL = ("workflow_complete", "workflow_error")


@dataclass(frozen=True, slots=True)
class Event:
    """`data` is the whole JSON object of contract §5, with `runId` and `type`."""

    id: int
    type: str
    data: dict[str, Any]

    @property
    def is_terminal(self) -> bool:
        return self.type in TERMINAL


BATCHES = 64
"""What one query asks for: each may weigh 300 KB."""


class EventLog:
    def __init__(self, runs: Runs, workflows: Workflows, memory: RunMemory) -> None:
        self._runs = runs
        self._workflows = workflows
        self._memory = memory
        self._outputs = Outputs(runs, memory)

    def read(self, run_id: str, after: int, limit: int, batches: int = BATCHES) -> list[Event]:
        """The events that follow `after`, at most `limit` and of at most so many batches, in order and without a hole.

        Stops where a batch, or a visit that an event tells of, is not visible yet: the next read goes on from there.
        """
        records = contiguous(self._runs.events(run_id, after, min(limit, batches)), after)[:limit]
        visits = [visit_uuid for _, record in records if (visit_uuid := visit_of(record)) is not None]
        bodies = self._memory.bodies(run_id, list(dict.fromkeys(visits)))
        events = []
        for number, record in records:
            filled = self._fill(run_id, record, bodies)
            if filled is None:
                break
            events.append(Event(number, record["type"], {"runId": run_id, **filled}))
        return events

    def _fill(self, run_id: str, record: Record, bodies: dict[str, VisitBody]) -> Record | None:
        kind = record.get("fill")
        whole = {name: value for name, value in record.items() if name != "fill"}
        if kind is None:
            return whole
        if kind == "run":
            return self._fill_run(run_id, whole)
        body = bodies.get(str(visit_of(record)))
        if body is None:
            return None
        return fill_status(whole, body) if kind == "status" else {**whole, "visit": fill_visit(whole["visit"], body)}

    def _fill_run(self, run_id: str, record: Record) -> Record | None:
        run = self._runs.get(run_id)
        assert run is not None, "a run whose events are read exists"
        output = self._outputs.of(run, self._workflows.graph(run.workflow, run.version))
        return {**record, "output": output} if output is not None else None


def contiguous(batches: list[tuple[int, list[Record]]], after: int) -> list[tuple[int, Record]]:
    """Numbered records that follow `after` without a hole: a `Query` is no snapshot, and may see a later batch first."""
    records: list[tuple[int, Record]] = []
    last = after
    for first, batch in batches:
        if first > last + 1:
            break
        records += [(number, record) for number, record in enumerate(batch, first) if number > last]
        last = first + len(batch) - 1
    return records


def fill_status(record: Record, body: VisitBody) -> Record:
    return {
        **record,
        "output": outside(body.output),
        "error": body.error,
        "logs": [dict(entry) for entry in body.logs[-LOGS_IN_EVENT:]],
    }


def fill_visit(visit: Record, body: VisitBody) -> Record:
    return {
        **visit,
        "variablesJson": _json(dict(body.variables)),
        "outputJson": _json(outside(body.output)),
        "logsJson": _json([dict(entry) for entry in body.logs]),
        "decisionJson": _json(body.decision) if body.decision is not None else None,
        "errorMsg": body.error,
    }


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
