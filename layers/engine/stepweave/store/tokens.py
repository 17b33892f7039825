"""Context tokens as the table holds them: each by the SHA-256 of its secret (contract §1, §6).

View tokens (view_tokens.py) lie in the same table, told apart by their `kind`; both go when they have expired.
"""

import itertools
from dataclasses import dataclass
from datetime import datetime

from stepweave import clock as times
from stepweave.items import (
    TOKENS_EXPIRING,
    Delete,
    Equals,
    Item,
    Key,
    OutcomeUnknown,
    Present,
    Update,
    WriteConflict,
    WriteRefused,
)
from stepweave.ports import ItemStore

SHAPE = 1
CONTEXT, VIEW = "context", "view"
"""What a token is for, its `kind`: the partitions of the index of those that expire."""


@dataclass(frozen=True, slots=True)
class ContextToken:
    """`attempt` is the invocation of the visit that the token was made in: with the next one it is worth nothing."""

    token_hash: str
    run_id: str
    visit_uuid: str
    attempt: int
    expires_at: datetime


class Tokens:
    def __init__(self, items: ItemStore) -> None:
        self._items = items

    def add(self, token: ContextToken) -> None:
        """A hash is a random secret's, so there is none to overwrite."""
        self._items.put("tokens", _to_item(token))

    def find(self, token_hash: str) -> ContextToken | None:
        item = self._items.get(Key("tokens", token_hash))
        return _from_item(item) if item is not None and item["kind"] == CONTEXT else None

    def renew(self, token_hash: str, expires_at: datetime) -> bool:
        """False when there is no such token (any more)."""
        changes = expiry(expires_at)
        try:
            self._items.update(Update(Key("tokens", token_hash), sets=changes, condition=Present("tokenHash")))
        except WriteRefused:
            return False
        return True

    def remove(self, token_hash: str) -> None:
        self._items.delete(Key("tokens", token_hash))

    def remove_expired(self, moment: datetime, limit: int) -> int:
        """Removes tokens that expired before `moment`, up to `limit` of each kind; gives their number.

        One that is renewed meanwhile stays.
        """
        due = times.to_json(moment)
        found = [self._items.query_index(TOKENS_EXPIRING, kind, up_to=due, limit=limit) for kind in (CONTEXT, VIEW)]
        return sum(self._remove_as(item) for item in itertools.chain.from_iterable(found))

    def _remove_as(self, item: Item) -> bool:
        """The index is eventually consistent: what it shows may have changed."""
        expired = Equals("expiresAt", item["expiresAt"])
        try:
            self._items.transact([Delete(Key("tokens", item["tokenHash"]), expired)])
        except (WriteRefused, WriteConflict, OutcomeUnknown):
            return False
        return True


def _to_item(token: ContextToken) -> Item:
    return {
        "tokenHash": token.token_hash,
        "v": SHAPE,
        "kind": CONTEXT,
        "runId": token.run_id,
        "visitUuid": token.visit_uuid,
        "attempt": token.attempt,
    } | expiry(token.expires_at)


def expiry(moment: datetime) -> Item:
    """`deleteAt` is in seconds, so that the table's own expiry takes away what the sweep has not."""
    return {"expiresAt": times.to_json(moment), "deleteAt": int(moment.timestamp()) + 1}


def _from_item(item: Item) -> ContextToken:
    return ContextToken(
        token_hash=item["tokenHash"],
        run_id=item["runId"],
        visit_uuid=item["visitUuid"],
        attempt=item["attempt"],
        expires_at=times.from_json(item["expiresAt"]),
    )
