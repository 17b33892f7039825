"""API keys as the table holds them: each by the SHA-256 of its secret, and one item that names all of them."""

from dataclasses import dataclass
from typing import Literal

from stepweave.items import (
    Absent,
    Delete,
    Equals,
    Item,
    Key,
    Present,
    Put,
    Update,
    Write,
    WriteConflict,
    WriteRefused,
    missing,
)
from stepweave.ports import ItemStore

Scope = Literal["admin", "run"]

SHAPE = 1
_ROLL = "#keys"  # no SHA-256 looks like this


@dataclass(frozen=True, slots=True)
class ApiKey:
    """What is kept of a key; the secret is not. `workflows` are the names it may call, None: all of them.
    It `signs` callbacks with a second secret, which is kept: only who calls `callback_secret` gets to see it."""

    key_id: str
    key_hash: str
    name: str
    scopes: tuple[Scope, ...]
    workflows: tuple[str, ...] | None
    created_at: str
    signs: bool


class Keys:
    """The roll is an item with one attribute a key (`key-…` → hash), so that keys can be listed and found by id."""

    def __init__(self, items: ItemStore) -> None:
        self._items = items

    def add(self, key: ApiKey, callback_secret: str) -> None:
        """Raises `WriteRefused` when the id or the secret is taken."""
        enroll = Update(Key("apiKeys", _ROLL), sets={key.key_id: key.key_hash}, condition=Absent(key.key_id))
        item = _to_item(key) | {"callbackSecret": callback_secret}
        self._transact([Put("apiKeys", item, missing("apiKeys")), enroll])

    def find(self, key_hash: str) -> ApiKey | None:
        item = self._items.get(Key("apiKeys", key_hash)) if key_hash != _ROLL else None
        return _from_item(item) if item is not None else None

    def callback_secret(self, key_id: str) -> str | None:
        """What the callbacks of a key's runs are signed with; None when there is no such key any more."""
        key_hash = self._roll().get(key_id)
        item = self._items.get(Key("apiKeys", key_hash)) if key_hash is not None else None
        return item.get("callbackSecret") if item is not None else None

    def listed(self) -> list[ApiKey]:
        """Oldest first."""
        found = self._items.get_many([Key("apiKeys", key_hash) for key_hash in self._roll().values()])
        return sorted(map(_from_item, found.values()), key=lambda key: (key.created_at, key.key_id))

    def count(self) -> int:
        return len(self._roll())

    def remove(self, key_id: str) -> bool:
        """False when there is no such key (any more)."""
        key_hash = self._roll().get(key_id)
        if key_hash is None:
            return False
        strike = Update(Key("apiKeys", _ROLL), removes=(key_id,), condition=Present(key_id))
        try:
            self._transact([Delete(Key("apiKeys", key_hash), Equals("keyId", key_id)), strike])
        except WriteRefused:
            return False
        return True

    def _roll(self) -> dict[str, str]:
        item = self._items.get(Key("apiKeys", _ROLL)) or {}
        return {name: value for name, value in item.items() if name.startswith("key-")}

    def _transact(self, writes: list[Write]) -> None:
        while True:
            try:
                self._items.transact(writes)
                return
            except WriteConflict:  # another key is being made or revoked
                continue


def _to_item(key: ApiKey) -> Item:
    item: Item = {
        "keyHash": key.key_hash,
        "v": SHAPE,
        "keyId": key.key_id,
        "name": key.name,
        "scopes": list(key.scopes),
        "createdAt": key.created_at,
    }
    return item | ({"workflows": list(key.workflows)} if key.workflows is not None else {})


def _from_item(item: Item) -> ApiKey:
    return ApiKey(
        key_id=item["keyId"],
        key_hash=item["keyHash"],
        name=item["name"],
        scopes=tuple(item["scopes"]),
        workflows=tuple(item["workflows"]) if "workflows" in item else None,
        created_at=item["createdAt"],
        signs="callbackSecret" in item,
    )
