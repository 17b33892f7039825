"""Questions as the tables hold them; each write is one of protocol rule A's."""

import json

from stepweave.execution.pause import Answer, Pause, Question
from stepweave.execution.visit import Visit
from stepweave.items import (
    Absent,
    Check,
    Equals,
    Item,
    Key,
    Less,
    OutcomeUnknown,
    Update,
    WriteConflict,
    WriteRefused,
    either,
    every,
)
from stepweave.ports import ItemStore
from stepweave.store import heads
from stepweave.store.again import update_again
from stepweave.store.commit import still_mine, unfinished

_PREFIX = "PAUSE#"


class Pauses:
    def __init__(self, items: ItemStore) -> None:
        self._items = items

    def get(self, run_id: str, clarify_id: str) -> Pause | None:
        item = self._items.get(_key(run_id, clarify_id))
        return from_item(item) if item is not None else None

    def of(self, run_id: str) -> list[Pause]:
        """Every question of a run, in no particular order."""
        return [from_item(item) for item in self._items.query("runs", run_id, prefix=_PREFIX)]

    def hold(self, pause: Pause, visit: Visit, token: str, order: int) -> None:
        """Stores the token of a chain that went to sleep, unless a newer one is there (A.2).

        `order` grows with each time that a chain asks for a token. Raises `WriteRefused`, `WriteConflict`,
        `OutcomeUnknown`: read again.
        """
        newest = either(Absent("tokenOrder"), Less("tokenOrder", order))
        self._items.transact(
            [
                Update(
                    _key(pause.run_id, pause.clarify_id),
                    sets={"token": token, "tokenOrder": order},
                    condition=every(Equals("status", "OPEN"), newest),
                ),
                Check(
                    heads.head_key(visit.run_id, visit.visit_uuid),
                    every(Equals("owner", visit.owner), unfinished()),
                ),
            ]
        )

    def answer(self, run_id: str, clarify_id: str, answer: Answer, moment: str) -> Pause:
        """OPEN → ANSWERED (A.3). Raises `WriteRefused` when it was not open, `WriteConflict`, `OutcomeUnknown`."""
        item = self._items.update(
            Update(
                _key(run_id, clarify_id),
                sets={"status": "ANSWERED", "answer": json.dumps(answer, ensure_ascii=False), "answeredAt": moment},
                condition=Equals("status", "OPEN"),
            )
        )
        return from_item(item)

    def waking(self, pause: Pause, moment: str) -> bool:
        """Notes that its token is about to be called once more; False when somebody else has noted that meanwhile."""
        seen = Equals("wokenAt", pause.woken_at) if pause.woken_at is not None else Absent("wokenAt")
        try:
            self._items.update(Update(_key(pause.run_id, pause.clarify_id), sets={"wokenAt": moment}, condition=seen))
        except (WriteRefused, WriteConflict, OutcomeUnknown):
            return False
        return True

    def withdraw(self, pause: Pause, visit: Visit) -> None:
        """OPEN → CLOSED because the visit that asked fails (rule V), if it is still the caller's.

        Raises `WriteRefused`, `WriteConflict`, `OutcomeUnknown`: read again.
        """
        self._items.transact(
            [
                Update(
                    _key(pause.run_id, pause.clarify_id), sets={"status": "CLOSED"}, condition=Equals("status", "OPEN")
                ),
                Check(heads.head_key(visit.run_id, visit.visit_uuid), still_mine(visit)),
            ]
        )

    def close(self, pause: Pause) -> Pause:
        """OPEN → CLOSED with the end of the run (rule X); an answered one stays answered."""
        key = _key(pause.run_id, pause.clarify_id)
        close = Update(key, sets={"status": "CLOSED"}, condition=Equals("status", "OPEN"))
        try:
            return from_item(update_again(self._items, close))
        except WriteRefused as refused:
            item = refused.items[key]
            return from_item(item) if item is not None else pause


def to_item(pause: Pause) -> Item:
    """A question when it is asked."""
    return {
        "runId": pause.run_id,
        "sk": _PREFIX + pause.clarify_id,
        "v": heads.SHAPE,
        "visitUuid": pause.visit_uuid,
        "nodeId": pause.node_id,
        "kind": pause.kind,
        "question": json.dumps(pause.question.data(pause.clarify_id), ensure_ascii=False),
        "createdAt": pause.created_at,
        "status": pause.status,
    }


def from_item(item: Item) -> Pause:
    return Pause(
        run_id=item["runId"],
        clarify_id=item["sk"].removeprefix(_PREFIX),
        visit_uuid=item["visitUuid"],
        node_id=item["nodeId"],
        kind=item["kind"],
        question=Question.from_json(json.loads(item["question"])),
        created_at=item["createdAt"],
        status=item["status"],
        answer=json.loads(item["answer"]) if "answer" in item else None,
        answered_at=item.get("answeredAt"),
        woken_at=item.get("wokenAt"),
        token=item.get("token"),
        token_order=item.get("tokenOrder"),
    )


def _key(run_id: str, clarify_id: str) -> Key:
    return Key("runs", run_id, _PREFIX + clarify_id)
