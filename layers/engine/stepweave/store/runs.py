"""Runs and visits as the tables hold them: reads, and the few writes that protocol.md allows."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from stepweave import clock as times
from stepweave.execution.run import Run
from stepweave.execution.visit import Join, SavedState, Visit, VisitBody, VisitPlace
from stepweave.items import (
    RUNS_BY_MONTH,
    RUNS_BY_WORKFLOW,
    RUNS_OPEN,
    Equals,
    Item,
    Key,
    Put,
    Table,
    Update,
    Write,
    WriteRefused,
    every,
    key_of,
    missing,
)
from stepweave.ports import BlobStore, ItemStore
from stepweave.store import heads
from stepweave.store.again import update_again
from stepweave.store.commit import Commit, unfinished
from stepweave.store.documents import Document, Documents

_PAGE = 100
_FEW = 20
"""Heads that are read one by one at no more cost than all of a run's together."""


class NotYours(Exception):
    """The visit cannot be begun; `visit` is its head as it stands, None when there is none (yet)."""

    def __init__(self, visit: Visit | None) -> None:
        super().__init__(visit)
        self.visit = visit


class Runs:
    def __init__(self, items: ItemStore, blobs: BlobStore) -> None:
        self._items = items
        self._documents = Documents(blobs)

    # A run and what it was given

    def create(self, run: Run, inputs: Mapping[str, Any], also: Sequence[Write] = ()) -> None:
        """Stores a run and its inputs together. Raises `WriteRefused` when the id is taken, or a write of `also` fails.

        Large inputs are named after the moment too: a clash of ids must not overwrite another run's.
        """
        document = self._documents.pack(f"runs/{run.run_id}/inputs/{run.created_at}.json", dict(inputs))
        self._items.transact(
            [
                Put("runs", heads.run_to_item(run) | _expiry(run), missing("runs")),
                Put("runs", heads.inputs_key(run.run_id).attributes() | document.attributes),
                *also,
            ]
        )

    def end_unstarted(self, commit: Commit) -> Run:
        """CREATED → FAILED: the end of a run that was cancelled before its start; its terminal event is the only one.

        Raises `WriteRefused` when it has started meanwhile.
        """
        batch = self._pack_events(commit)
        assert batch is not None, "an end is told by an event"
        before, after = heads.run_to_item(commit.run), heads.run_to_item(commit.run_after)
        changes = {name: value for name, value in after.items() if before.get(name) != value}
        self._items.transact(
            [
                Update(
                    heads.run_key(commit.run.run_id),
                    sets=changes | {"open": heads.OPEN, "checkAt": commit.ended_at},
                    condition=Equals("status", "CREATED"),
                ),
                Put("events", commit.event_item(batch), missing("events")),
            ]
        )
        return commit.run_after

    def get(self, run_id: str) -> Run | None:
        item = self._items.get(heads.run_key(run_id))
        return heads.run_from_item(item) if item is not None else None

    def several(self, run_ids: Collection[str]) -> dict[str, Run]:
        """Those of the runs that there are."""
        found = self._items.get_many([heads.run_key(run_id) for run_id in run_ids]) if run_ids else {}
        return {key.partition: heads.run_from_item(item) for key, item in found.items()}

    def inputs(self, run_id: str) -> dict[str, Any]:
        item = self._items.get(heads.inputs_key(run_id))
        inputs: dict[str, Any] = self._documents.unpack(item) if item is not None else {}
        return inputs

    def of_workflow(self, workflow: str, *, after: Run | None, limit: int) -> list[Run]:
        """Newest first."""
        last = heads.run_to_item(after) if after is not None else None
        found = self._items.query_index(RUNS_BY_WORKFLOW, workflow, after=last, limit=limit, descending=True)
        return [heads.run_from_item(item) for item in found]

    def recent(self, *, after: Run | None, limit: int, newest: str, oldest: str) -> list[Run]:
        """Runs of every workflow, newest first, of the months from `newest` back to `oldest` (`YYYY-MM`)."""
        last = heads.run_to_item(after) if after is not None and after.created_at[:7] <= newest else None
        month = str(last["month"]) if last is not None else newest
        runs: list[Run] = []
        while len(runs) < limit and month >= oldest:
            wanted = limit - len(runs)
            keys = self._items.query_index(RUNS_BY_MONTH, month, after=last, limit=wanted, descending=True)
            found = self.several([key["runId"] for key in keys])
            runs += [found[key["runId"]] for key in keys if key["runId"] in found]
            month, last = (month, keys[-1]) if len(keys) == wanted else (times.month_before(month), None)
        return runs

    def due_for_upkeep(self, moment: str, limit: int) -> list[Run]:
        """Runs that are RUNNING or closing and whose check is due (protocol rule D)."""
        return [
            heads.run_from_item(item)
            for item in self._items.query_index(RUNS_OPEN, heads.OPEN, up_to=moment, limit=limit)
        ]

    def due_for_expiry(self, moment: str, limit: int) -> list[Run]:
        """Runs that nobody works on and whose files' time is over."""
        found = self._items.query_index(RUNS_OPEN, heads.EXPIRING, up_to=moment, limit=limit)
        return [heads.run_from_item(item) for item in found]

    def due_for_forgetting(self, moment: str, limit: int) -> list[Run]:
        """Runs whose files are gone and whose records' time is over."""
        found = self._items.query_index(RUNS_OPEN, heads.FORGOTTEN, up_to=moment, limit=limit)
        return [heads.run_from_item(item) for item in found]

    def expired(self, run_id: str, *, check_at: str) -> None:
        """The files of the run are gone; unless it has started meanwhile, it is looked at once more, to be forgotten."""
        expiring = Equals("open", heads.EXPIRING)
        sets = {"open": heads.FORGOTTEN, "checkAt": check_at}
        self._update(Update(heads.run_key(run_id), sets=sets, condition=expiring))

    def forget(self, run_id: str) -> None:
        """Deletes all items of a run, its own at last."""
        for table in ("visits", "events", "runs"):
            self._delete_all(table, run_id)
        self._items.delete(heads.run_key(run_id))

    def check_again(self, run_id: str, moment: str) -> None:
        self._update(Update(heads.run_key(run_id), sets={"checkAt": moment}, condition=Equals("open", heads.OPEN)))

    # Visits

    def begin(self, run_id: str, visit_uuid: str, owner: str) -> Visit:
        """Rule B in one request: the attempt that every later commit of this invocation carries.

        Raises `NotYours` when the visit is another's, over, or not to be seen yet; `WriteConflict` when a commit is
        under way.
        """
        key = heads.head_key(run_id, visit_uuid)
        condition = every(Equals("owner", owner), unfinished())
        try:
            return heads.visit_from_item(self._items.update(Update(key, adds={"attempt": 1}, condition=condition)))
        except WriteRefused as refused:
            item = refused.items[key]
            raise NotYours(heads.visit_from_item(item) if item is not None else None) from refused

    def visit(self, run_id: str, visit_uuid: str) -> Visit | None:
        item = self._items.get(heads.head_key(run_id, visit_uuid))
        return heads.visit_from_item(item) if item is not None else None

    def visits(self, run_id: str) -> list[Visit]:
        """Every visit of a run that can be seen; a commit under way may be seen in part."""
        return [heads.visit_from_item(item) for item in self._items.query("visits", run_id, prefix=heads.HEAD)]

    def heads(self, run_id: str, visit_uuids: Collection[str]) -> list[Visit]:
        """These visits, in their order; waits for those that a commit is still making visible."""
        while True:
            found = self.visible_heads(run_id, visit_uuids)
            if len(found) == len(visit_uuids):
                return [found[visit_uuid] for visit_uuid in visit_uuids]

    def visible_heads(self, run_id: str, visit_uuids: Collection[str]) -> dict[str, Visit]:
        keys = [heads.head_key(run_id, visit_uuid) for visit_uuid in visit_uuids]
        found = self._items.get_many(keys) if keys else {}
        return {str(key.sort).removeprefix(heads.HEAD): heads.visit_from_item(item) for key, item in found.items()}

    def places(self, run: Run, visit_uuids: Collection[str]) -> list[VisitPlace]:
        """Where visits stand in their run, of those that are visible. Of few, or few of many, the heads are read; else
        what is needed of all heads, in one request and a fraction of the work."""
        if len(visit_uuids) <= max(_FEW, run.visits // 3):
            return [VisitPlace.of(visit) for visit in self.visible_heads(run.run_id, visit_uuids).values()]
        found = self._items.query("visits", run.run_id, prefix=heads.HEAD, names=heads.OF_PLACES)
        wanted = set(visit_uuids)
        return [place for place in map(heads.place_from_item, found) if place.visit_uuid in wanted]

    def bodies(self, run_id: str, visit_uuids: Collection[str]) -> dict[str, VisitBody]:
        found = self._items.get_many([heads.body_key(run_id, visit_uuid) for visit_uuid in visit_uuids])
        return {
            str(key.sort).removeprefix(heads.BODY): heads.body_from_json(self._documents.unpack(item))
            for key, item in found.items()
        }

    def pack_body(self, run_id: str, visit_uuid: str, attempt: int, body: VisitBody) -> Document:
        """Ready for a commit; a large one goes to object storage now, under a name no other attempt uses."""
        return self._documents.pack(f"runs/{run_id}/visits/{visit_uuid}/{attempt}.json", heads.body_to_json(body))

    def pack_state(self, visit: Visit, state: SavedState) -> Document:
        """Ready for a commit; a large one gets a name of its own each time, so that a lost commit overwrites nothing."""
        name = f"runs/{visit.run_id}/visits/{visit.visit_uuid}/state-{visit.attempt}-{visit.chunk}.json"
        return self._documents.pack(name, heads.state_to_json(state))

    def state(self, visit: Visit) -> SavedState | None:
        """The state that the visit's head tells of; None while the commit that stored both is still becoming visible."""
        item = self._items.get(heads.state_key(visit.run_id, visit.visit_uuid))
        if item is None or item["chunk"] < visit.saved:
            return None
        return heads.state_from_json(self._documents.unpack(item))

    def take_over(self, visit: Visit, owner: str, moment: str) -> Visit:
        """Rule D: a redrive gives an unfinished visit to a new chain. Raises `WriteRefused` when it has moved on."""
        item = self._items.update(
            Update(
                heads.head_key(visit.run_id, visit.visit_uuid),
                sets={"owner": owner, "ownedAt": moment},
                adds={"attempt": 1},
                condition=every(Equals("owner", visit.owner), unfinished()),
            )
        )
        return heads.visit_from_item(item)

    def close_visit(self, visit: Visit, ended_at: str) -> Visit:
        """Rule X: a visit that outlives its run ends FAILED without an event; a status it has already is kept.

        Gives the visit as it stands then: a commit from before the end may have changed it after it was read.
        """
        key = heads.head_key(visit.run_id, visit.visit_uuid)
        while not visit.is_over:
            failed = {"status": "FAILED", "endedAt": ended_at} if visit.status == "RUNNING" else {}
            condition = every(Equals("status", visit.status), unfinished())
            close = Update(key, sets=failed, adds={"attempt": 1}, removes=("pending",), condition=condition)
            try:
                item: Item | None = update_again(self._items, close)
            except WriteRefused as refused:
                item = refused.items[key]
            assert item is not None, "visits are never removed"
            visit = heads.visit_from_item(item)
        return visit

    # Commits

    def joins(self, run_id: str, names: Collection[str]) -> dict[str, Join]:
        keys = {name: heads.join_key(run_id, name) for name in names}
        found = self._items.get_many(list(keys.values())) if keys else {}
        return {name: heads.join_from_item(found.get(key)) for name, key in keys.items()}

    def read(self, run_id: str, visit_uuid: str, joins: Iterable[str]) -> tuple[Run, Visit, dict[str, Join]]:
        """What a decision needs, in one request. Not a snapshot: the commit's conditions make up for it."""
        join_keys = {name: heads.join_key(run_id, name) for name in joins}
        wanted = [heads.run_key(run_id), heads.head_key(run_id, visit_uuid), *join_keys.values()]
        found = self._items.get_many(wanted)
        return (
            heads.run_from_item(found[wanted[0]]),
            heads.visit_from_item(found[wanted[1]]),
            {name: heads.join_from_item(found.get(key)) for name, key in join_keys.items()},
        )

    def commit(self, commit: Commit) -> Run:
        """Carries out a commit and gives the run as it stands after it.

        Raises `WriteRefused`, `WriteConflict` or `OutcomeUnknown`: read again and decide again, never assume.
        """
        self._items.transact(commit.writes(self._pack_events(commit)))
        return commit.run_after

    def _pack_events(self, commit: Commit) -> Document | None:
        if not commit.events:
            return None
        place = f"runs/{commit.run.run_id}/events/{commit.run.last_seq + 1}-{commit.run.rev}.json"
        return self._documents.pack(place, list(commit.events))

    def events(self, run_id: str, after: int, limit: int) -> list[tuple[int, list[dict[str, Any]]]]:
        """Batches `(id of the first event, events)` with something beyond `after`; gaps are the reader's to see (rule Q)."""
        found = self._items.query("events", run_id, after=after, limit=limit)
        return [(item["first"], self._documents.unpack(item)) for item in found]

    def redriven(self, run: Run) -> Run:
        """Counts a redrive: the next generation of chain names. Raises `WriteRefused` when another got there first."""
        stalled = run.stalled + 1 if run.redriven_rev == run.rev else 1
        item = self._items.update(
            Update(
                heads.run_key(run.run_id),
                sets={"stalled": stalled, "redrivenRev": run.rev},
                adds={"redrives": 1},
                condition=every(Equals("redrives", run.redrives), Equals("status", "RUNNING")),
            )
        )
        return heads.run_from_item(item)

    def closed(self, run_id: str, *, check_at: str) -> None:
        """Nothing of the run is open any more; it is looked at once more when its events expire."""
        self._update(
            Update(
                heads.run_key(run_id),
                sets={"closing": False, "checkAt": check_at},
                condition=Equals("open", heads.OPEN),
            )
        )

    def forget_events(self, run: Run) -> None:
        """Deletes the event log of a run that ended long ago (contract §5); only its files will still be looked at."""
        for item in self._items.query("events", run.run_id):
            self._items.delete(Key("events", run.run_id, item["seq"]))
        self._update(Update(heads.run_key(run.run_id), sets=_expiry(run), condition=Equals("open", heads.OPEN)))

    def _delete_all(self, table: Table, run_id: str) -> None:
        """A page at a time: items may be large. The run's own item stays."""
        while True:
            page = self._items.query(table, run_id, limit=_PAGE)
            keys = [key_of(table, item) for item in page]
            for key in keys:
                if key != heads.run_key(run_id):
                    self._items.delete(key)
            if len(page) < _PAGE:
                return

    def _update(self, update: Update) -> None:
        """An update that anybody may make at any time, twice too: refused means that there is nothing left to do."""
        with suppress(WriteRefused):
            update_again(self._items, update)


def _expiry(run: Run) -> dict[str, str]:
    """Attributes of a run whose files stay for a while."""
    moment = run.files_expire_at
    assert moment is not None, "a run that goes on keeps its files"
    return {"open": heads.EXPIRING, "checkAt": times.to_json(moment)}
