"""View tokens as the table holds them: each by the SHA-256 of its secret (contract §4, `view-token`)."""

from dataclasses import dataclass
from datetime import datetime

from stepweave import clock as times
from stepweave.items import Item, Key
from stepweave.ports import ItemStore
from stepweave.store.tokens import VIEW, expiry

SHAPE = 1


@dataclass(frozen=True, slots=True)
class ViewToken:
    """Stands for the key that made it, for one run only: to look at it, and to answer its questions if `may_answer`."""

    token_hash: str
    run_id: str
    key_id: str
    may_answer: bool
    expires_at: datetime


class ViewTokens:
    def __init__(self, items: ItemStore) -> None:
        self._items = items

    def add(self, token: ViewToken) -> None:
        """A hash is a random secret's, so there is none to overwrite. Raises `OutcomeUnknown`."""
        self._items.put("tokens", _to_item(token))

    def find(self, token_hash: str) -> ViewToken | None:
        item = self._items.get(Key("tokens", token_hash))
        return _from_item(item) if item is not None and item["kind"] == VIEW else None


def _to_item(token: ViewToken) -> Item:
    return {
        "tokenHash": token.token_hash,
        "v": SHAPE,
        "kind": VIEW,
        "runId": token.run_id,
        "keyId": token.key_id,
        "mayAnswer": token.may_answer,
    } | expiry(token.expires_at)


def _from_item(item: Item) -> ViewToken:
    return ViewToken(
        token_hash=item["tokenHash"],
        run_id=item["runId"],
        key_id=item["keyId"],
        may_answer=item["mayAnswer"],
        expires_at=times.from_json(item["expiresAt"]),
    )
