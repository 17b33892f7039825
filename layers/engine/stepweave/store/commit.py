"""One commit of a run as a transaction (protocol rule C): state and events together, guarded by `RUN.rev`."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from stepweave.execution.run import Run
from stepweave.execution.visit import Join, Visit
from stepweave.items import Condition, Equals, Item, Present, Put, Update, Write, either, every, missing
from stepweave.scheduling.decision import RunEnd
from stepweave.store import heads
from stepweave.store.documents import Document


@dataclass(frozen=True, slots=True)
class Start:
    """The commit starts the run, which is `created` up to now; upkeep looks at `check_at` whether it is driven."""

    created: Run
    check_at: str


@dataclass(frozen=True, slots=True)
class Commit:
    """What changes. `run` and `visit` are as they were read: the commit holds only while they still stand so.

    `changes` are attributes of the own visit's head, `removed` those that go; `bodies` are by visit; `joins` as they
    will stand, with the version they were read at; `state` is what the node saved, `also` are further writes, `when`
    further conditions on the own visit; `sorts` is how many visits ended, `started` minus `ended` moves the
    count of running ones; `streams` says that the commit carries deltas (rule S). `check_at` is when upkeep looks
    at the run next, where the commit ends it and leaves nothing to close. With `start`, `run` and `visit` are as they
    would stand had the run been started before, and the visit is made by this commit.
    """

    run: Run
    events: tuple[Mapping[str, Any], ...] = ()
    visit: Visit | None = None
    changes: Mapping[str, Any] = field(default_factory=dict)
    removed: tuple[str, ...] = ()
    streams: bool = False
    bodies: Mapping[str, Document] = field(default_factory=dict)
    created: tuple[Visit, ...] = ()
    joins: Mapping[str, Join] = field(default_factory=dict)
    sorts: int = 0
    running: int = 0
    state: Document | None = None
    also: tuple[Write, ...] = ()
    when: tuple[Condition, ...] = ()
    end: RunEnd | None = None
    ended_at: str | None = None
    check_at: str | None = None
    start: Start | None = None

    @property
    def run_after(self) -> Run:
        after = replace(
            self.run,
            rev=self.run.rev + 1,
            last_seq=self.run.last_seq + len(self.events),
            last_sort=self.run.last_sort + self.sorts,
            visits=self.run.visits + len(self.created),
            running=self.run.running + self.running,
        )
        if self.end is None:
            return after
        return replace(
            after,
            status=self.end.status,
            closing=self.end.status == "FAILED" or after.running > 0 or after.calls_back,
            ended_at=self.ended_at,
            error=self.end.reason,
            failed_node=self.end.failed_node,
        )

    @property
    def visit_after(self) -> Visit:
        """The own visit's head once the commit holds."""
        assert self.visit is not None, "a commit without an own visit has no head to follow"
        item = heads.visit_to_item(self.visit) | dict(self.changes)
        if self.streams:
            item["chunk"] = self.visit.chunk + 1
        return heads.visit_from_item({name: value for name, value in item.items() if name not in self.removed})

    def writes(self, batch: Document | None) -> list[Write]:
        """The transaction; `batch` are the events, packed."""
        writes: list[Write] = [self._run_write()]
        if batch is not None:
            writes.append(Put("events", self.event_item(batch), missing("events")))
        if self.visit is not None:
            writes.append(self._visit_write(self.visit))
        writes += [Put("visits", heads.visit_to_item(visit), missing("visits")) for visit in self.created]
        for visit_uuid, body in self.bodies.items():
            writes.append(Put("visits", heads.body_key(self.run.run_id, visit_uuid).attributes() | body.attributes))
        if self.state is not None and self.visit is not None:
            key = heads.state_key(self.run.run_id, self.visit.visit_uuid)
            writes.append(Put("visits", key.attributes() | {"chunk": self.visit.chunk + 1} | self.state.attributes))
        writes += self.also
        for name, join in self.joins.items():
            item = heads.join_to_item(self.run.run_id, name, replace(join, version=join.version + 1))
            writes.append(Put("runs", item, Equals("ver", join.version) if join.version else missing("runs")))
        return writes

    def _run_write(self) -> Update:
        run_after = self.run_after
        if self.start is None:
            before, condition = self.run, every(Equals("rev", self.run.rev), Equals("status", "RUNNING"))
            kept: dict[str, Any] = {}
        else:
            before, condition = self.start.created, Equals("status", "CREATED")
            kept = {"open": heads.OPEN, "checkAt": self.start.check_at}
        if run_after.is_over:  # who closes it may die before: the sweep's next tick will see
            kept["checkAt"] = self.ended_at if run_after.closing else self.check_at
        was = heads.run_to_item(before)
        changed = {name: value for name, value in heads.run_to_item(run_after).items() if was.get(name) != value}
        return Update(heads.run_key(self.run.run_id), sets=changed | kept, condition=condition)

    def event_item(self, batch: Document) -> Item:
        """The batch of the events table that holds these events."""
        last = self.run.last_seq + len(self.events)
        return {
            "runId": self.run.run_id,
            "seq": last,
            "first": self.run.last_seq + 1,
            "v": heads.SHAPE,
        } | batch.attributes

    def _visit_write(self, visit: Visit) -> Write:
        if self.start is not None:
            return Put("visits", heads.visit_to_item(self.visit_after), missing("visits"))
        streams = {"chunk": visit.chunk + 1} if self.streams else {}
        return Update(
            heads.head_key(visit.run_id, visit.visit_uuid),
            sets=dict(self.changes) | streams,
            removes=self.removed,
            condition=every(still_mine(visit), *([Equals("chunk", visit.chunk)] if self.streams else []), *self.when),
        )


def still_mine(visit: Visit) -> Condition:
    """The visit is unfinished and nobody has begun it again since it was read (rules B and C)."""
    return every(Equals("owner", visit.owner), Equals("attempt", visit.attempt), unfinished())


def unfinished() -> Condition:
    return either(Equals("status", "RUNNING"), Present("pending"))
