"""Which runs a key has started that may not have ended (contract §4, `RATE_LIMITED`): one item a key.

Nobody takes a run out when it ends: whoever finds no room looks which of them have ended. So no process that dies can
leave a run behind that counts for ever.
"""

from collections.abc import Mapping, Sequence

from stepweave.items import Absent, Item, Key, Less, Present, Update, WriteRefused, either, every, missing
from stepweave.ports import ItemStore

SHAPE = 1
MOST_AT_ONCE = 50
"""Runs that one write may take out: a condition of DynamoDB is bounded."""

_RUN = "run-"


class RunSlots:
    """Writes raise `WriteConflict`, `OutcomeUnknown`, `Unavailable`."""

    def __init__(self, items: ItemStore) -> None:
        self._items = items

    def take(self, key_id: str, run_id: str, moment: int, limit: int) -> Mapping[str, int] | None:
        """None: the run counts. Where `limit` runs count already, these runs, each with the moment it was taken in."""
        room = either(missing("tokens"), Less("n", limit))
        taking = Update(
            _key(key_id),
            sets={"v": SHAPE, _RUN + run_id: moment},
            adds={"n": 1},
            condition=every(Absent(_RUN + run_id), room),
        )
        try:
            self._items.update(taking)
        except WriteRefused as refused:
            held = _held(refused.items[taking.key] or {})
            return None if run_id in held else held
        return None

    def drop(self, key_id: str, run_ids: Sequence[str]) -> None:
        """Takes out up to `MOST_AT_ONCE` runs; does nothing where one of them has been taken out meanwhile."""
        names = tuple(_RUN + run_id for run_id in run_ids[:MOST_AT_ONCE])
        condition = every(*map(Present, names))
        try:
            self._items.update(Update(_key(key_id), removes=names, adds={"n": -len(names)}, condition=condition))
        except WriteRefused:
            return


def _key(key_id: str) -> Key:
    return Key("tokens", f"runs#{key_id}")  # no SHA-256 looks like this


def _held(item: Item) -> dict[str, int]:
    return {name.removeprefix(_RUN): moment for name, moment in item.items() if name.startswith(_RUN)}
