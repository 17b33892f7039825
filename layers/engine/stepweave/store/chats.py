"""Chat sessions as the table holds them: one item for the session, one for each turn; each goes when nobody uses it."""

from dataclasses import dataclass
from datetime import datetime

from stepweave.items import Item, Key, Present, Put, Update, WriteConflict, WriteRefused, missing
from stepweave.ports import ItemStore

SHAPE = 1
_SESSION = "SESSION"
_TURN = "TURN#"


@dataclass(frozen=True, slots=True)
class ChatSession:
    """Where a person talks with one workflow."""

    session_id: str
    workflow: str
    title: str
    created_at: str


@dataclass(frozen=True, slots=True)
class Turn:
    """What a person said, and the run that answers it; what it answered is read from the run. `said_at` orders them."""

    run_id: str
    message: str
    said_at: str


class Chats:
    def __init__(self, items: ItemStore) -> None:
        self._items = items

    def add(self, session: ChatSession, expires_at: datetime) -> bool:
        """False when the id is taken. Raises `OutcomeUnknown`."""
        item: Item = {
            "sessionId": session.session_id,
            "sk": _SESSION,
            "v": SHAPE,
            "workflow": session.workflow,
            "title": session.title,
            "createdAt": session.created_at,
        }
        try:
            self._items.transact([Put("chats", item | _expiry(expires_at), missing("chats"))])
        except WriteRefused:
            return False
        return True

    def find(self, session_id: str) -> ChatSession | None:
        item = self._items.get(Key("chats", session_id, _SESSION))
        return _session_from_item(item) if item is not None else None

    def say(self, session_id: str, turn: Turn, expires_at: datetime) -> None:
        """Stores a turn, once however often it is told, and keeps the session for as long. Raises `OutcomeUnknown`."""
        item: Item = {
            "sessionId": session_id,
            "sk": _name_of(turn),
            "v": SHAPE,
            "runId": turn.run_id,
            "message": turn.message,
            "saidAt": turn.said_at,
        }
        use = Update(Key("chats", session_id, _SESSION), sets=_expiry(expires_at), condition=Present("workflow"))
        while True:
            try:
                self._items.transact([Put("chats", item | _expiry(expires_at), missing("chats")), use])
                return
            except WriteConflict:
                continue  # somebody else says something in the same moment
            except WriteRefused:
                return  # said before, or the session has expired in this very moment

    def unsay(self, session_id: str, turn: Turn) -> None:
        """The turn came to nothing."""
        self._items.delete(Key("chats", session_id, _name_of(turn)))

    def latest(self, session_id: str, limit: int) -> list[Turn]:
        """The last turns of a session, the newest first."""
        found = self._items.query("chats", session_id, prefix=_TURN, limit=limit, descending=True)
        return [Turn(item["runId"], item["message"], item["saidAt"]) for item in found]


def _name_of(turn: Turn) -> str:
    return f"{_TURN}{turn.said_at}#{turn.run_id}"


def _session_from_item(item: Item) -> ChatSession:
    return ChatSession(
        session_id=item["sessionId"],
        workflow=item["workflow"],
        title=item["title"],
        created_at=item["createdAt"],
    )


def _expiry(moment: datetime) -> Item:
    """In seconds, so that the table's own expiry takes the item away."""
    return {"expiresAt": int(moment.timestamp())}
