"""Where a reader of a run's events stands, and what it gets next (contract §5, "Kept: the last 5000 events")."""

from dataclasses import dataclass
from datetime import timedelta

from stepweave import clock as times
from stepweave.clock import Clock
from stepweave.errors import RunNotFound
from stepweave.events import records
from stepweave.execution.run import Run, RunStatus
from stepweave.services.event_log import Event, EventLog
from stepweave.services.event_text import EventText, event_text
from stepweave.services.links import RunLinks
from stepweave.services.outputs import Outputs
from stepweave.store.runs import Runs
from stepweave.store.workflows import Workflows
from stepweave.texts import Text

_AT_ONCE = 64


@dataclass(frozen=True, slots=True)
class Page:
    """`last` is the id to go on from, `gone` the number of events that are not kept any more and were skipped.

    `done`: the run has ended and nothing follows.
    """

    events: tuple[EventText, ...]
    last: int
    gone: int
    status: RunStatus
    done: bool


class EventReading:
    """`kept` is how long events stay after the end of a run, `most` how many of its last events a run replays."""

    def __init__(
        self,
        *,
        runs: Runs,
        workflows: Workflows,
        log: EventLog,
        outputs: Outputs,
        clock: Clock,
        kept: timedelta,
        most: int,
    ) -> None:
        self._runs = runs
        self._workflows = workflows
        self._log = log
        self._outputs = outputs
        self._clock = clock
        self._kept = kept
        self._most = most

    def page(self, run_id: str, after: int, *, limit: int, most_bytes: int) -> Page:
        """What follows `after`: at most `limit` events, and of about `most_bytes`, but at least one if there is one."""
        run = self._runs.get(run_id)
        if run is None:
            raise RunNotFound(Text(f"运行 {run_id} 不存在或已过期", f"there is no run {run_id}, or it has expired"))
        if self._has_expired(run):
            return self._expired(run, after)
        gone = max(0, run.last_seq - self._most - after)
        last = after + gone
        events: list[EventText] = []
        room = most_bytes
        while len(events) < limit:
            found = self.following(run, last, limit - len(events))
            for event in found:
                if events and len(event.data) > room:
                    return _page(run, events, last, gone)
                room -= len(event.data)
                events.append(event)
                last = event.id
            if not found or last >= run.last_seq:
                break
        return _page(run, events, last, gone)

    def following(self, run: Run, after: int, limit: int = _AT_ONCE) -> list[EventText]:
        """What is visible beyond `after`, as the log has it; for a reader that is not behind."""
        links = RunLinks.of(run)
        return [event_text(event, links) for event in self._log.read(run.run_id, after, limit)]

    def _has_expired(self, run: Run) -> bool:
        return run.ended_at is not None and times.from_json(run.ended_at) + self._kept <= self._clock.now()

    def _expired(self, run: Run, after: int) -> Page:
        """Of a log that is gone, the terminal event can still be told from the run itself."""
        if after >= run.last_seq:
            return Page((), after, 0, run.status, done=True)
        data = {"runId": run.run_id, **self._terminal(run)}
        event = event_text(Event(run.last_seq, data["type"], data), RunLinks.of(run))
        return Page((event,), run.last_seq, run.last_seq - 1 - after, run.status, done=True)

    def _terminal(self, run: Run) -> records.Record:
        if run.status == "FAILED":
            return records.workflow_error(run.error or "", run.failed_node, run.ended_at or "")
        output = self._outputs.of(run, self._workflows.graph(run.workflow, run.version))
        told = {name: value for name, value in records.workflow_complete([]).items() if name != "fill"}
        return {**told, "output": output}


def _page(run: Run, events: list[EventText], last: int, gone: int) -> Page:
    """The head was read before the events: where the terminal event came after it, that is what counts."""
    if events and events[-1].is_terminal:
        status: RunStatus = "SUCCESS" if events[-1].type == "workflow_complete" else "FAILED"
        return Page(tuple(events), last, gone, status, done=True)
    return Page(tuple(events), last, gone, run.status, done=run.is_over and last >= run.last_seq)
