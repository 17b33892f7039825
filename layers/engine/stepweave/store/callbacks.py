"""Callbacks as the table of runs holds them: one item beside the run, made with it."""

from contextlib import suppress

from stepweave.execution.callback import Callback
from stepweave.items import Item, Key, OutcomeUnknown, Present, Put, Update, WriteConflict, WriteRefused
from stepweave.ports import ItemStore

SHAPE = 1
_SORT = "CALLBACK"


def callback_of(callback: Callback) -> Put:
    """Written in the transaction that makes the run."""
    item: Item = {
        "runId": callback.run_id,
        "sk": _SORT,
        "v": SHAPE,
        "url": callback.url,
        "keyId": callback.key_id,
        "delivery": callback.delivery,
    }
    return Put("runs", item)


class Callbacks:
    def __init__(self, items: ItemStore) -> None:
        self._items = items

    def find(self, run_id: str) -> Callback | None:
        item = self._items.get(_key(run_id))
        if item is None:
            return None
        return Callback(run_id, item["url"], item["keyId"], item["delivery"], item.get("deliveredAt"))

    def delivered(self, run_id: str, moment: str) -> None:
        """So that a message that comes twice is told once; where this is lost, the receiver sees `delivery` again."""
        with suppress(WriteRefused, WriteConflict, OutcomeUnknown):  # refused: the run has been forgotten meanwhile
            self._items.update(Update(_key(run_id), sets={"deliveredAt": moment}, condition=Present("url")))


def _key(run_id: str) -> Key:
    return Key("runs", run_id, _SORT)
