"""Counters of a window of time, each one item that begins anew with the next window (contract §4, `RATE_LIMITED`)."""

from stepweave.items import Equals, Item, Key, Less, Update, WriteRefused, either, every, missing
from stepweave.ports import ItemStore

SHAPE = 1


class Counters:
    """In the table of tokens, whose own expiry takes away what nobody counts on any more."""

    def __init__(self, items: ItemStore) -> None:
        self._items = items

    def take(self, name: str, window: int, count: int, limit: int, delete_at: int) -> int:
        """How many of `count` are granted: no more than `limit` in a window, whoever takes them; windows are numbered.

        `delete_at` is in seconds. Raises `WriteConflict`, `OutcomeUnknown`, `Unavailable`.
        """
        key = Key("tokens", f"count#{name}")  # no SHA-256 looks like this
        while True:
            try:
                item = self._items.update(
                    Update(key, adds={"used": count}, condition=every(Equals("window", window), Less("used", limit)))
                )
                return count - max(0, int(item["used"]) - limit)
            except WriteRefused as refused:
                item = refused.items[key] or {"window": -1}
            if item["window"] == window:
                return 0
            if item["window"] > window:  # a process whose clock is ahead has begun the next
                window = item["window"]
                continue
            fresh: Item = {"v": SHAPE, "window": window, "used": min(count, limit), "deleteAt": delete_at}
            try:
                self._items.update(Update(key, sets=fresh, condition=either(missing("tokens"), Less("window", window))))
                return min(count, limit)
            except WriteRefused:
                continue
