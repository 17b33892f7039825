"""An item store as bad as DynamoDB may be.

Others run before every call. A transaction holds its items from the moment it is decided and becomes visible item by
item, in any order; meanwhile every other write on one of them conflicts, and reads see what is visible. Reads of many
items see each at another moment. An outcome may be unknown: written or not. A call may be refused for load.
"""

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Sequence
from random import Random

from stepweave.adapters.memory import MemoryBlobs, MemoryItems, check_transaction, written
from stepweave.errors import Unavailable
from stepweave.items import Check, Item, Key, OutcomeUnknown, Table, Update, Write, WriteConflict
from tests.property.chaos.weather import FINE, Weather


class Transaction:
    """What is decided and not visible yet; the last change becomes visible first. `slow`: the odds that it waits."""

    def __init__(self, changes: list[tuple[Key, Item | None]], slow: float) -> None:
        self.changes = changes
        self.slow = slow


class ChaoticItems(MemoryItems):
    """`pause` lets others run; `visible` is told of every item of a transaction as it becomes visible.

    Until `chaotic` is set it is an ordinary store, for setting up and for looking at the end.
    """

    def __init__(self, chance: Random, pause: Callable[[], None], visible: Callable[[Key, Item], None]) -> None:
        super().__init__()
        self._chance = chance
        self._pause = pause
        self._visible = visible
        self.chaotic = False
        self.weather: Weather = FINE
        self.deciding: list[Transaction] = []
        self.held: set[Key] = set()
        self.counts: Counter[str] = Counter()
        self._sorted: dict[tuple[Table, str], list[Key]] = {}
        self._sorted_at = 0

    def peek(self, key: Key) -> Item | None:
        """What is visible now; for the test, which must not disturb what it watches."""
        return self._items.get(key)

    def items_of(self, table: Table, partition: str) -> list[Item]:
        return [self._items[key] for key in self._keys(table, partition)]

    def get(self, key: Key) -> Item | None:
        self._call("get")
        return self._copy(key)

    def get_many(self, keys: Sequence[Key]) -> dict[Key, Item]:
        self._call("get")
        found = {}
        for key in keys:
            item = self._copy(key)
            if item is not None:
                found[key] = item
            self._between()
        return found

    def query(
        self,
        table: Table,
        partition: str,
        *,
        prefix: str | None = None,
        after: int | str | None = None,
        limit: int | None = None,
        descending: bool = False,
        names: Sequence[str] = (),
    ) -> list[Item]:
        if descending or not self.chaotic:
            return super().query(
                table, partition, prefix=prefix, after=after, limit=limit, descending=descending, names=names
            )
        self._call("query")
        found: list[Item] = []
        while limit is None or len(found) < limit:
            keys = self._keys(table, partition)
            beyond = Key(table, partition, after if after is not None else prefix or "")
            place = bisect_right(keys, beyond) if keys and (after is not None or prefix) else 0
            if place == len(keys) or (prefix and not str(keys[place].sort).startswith(prefix)):
                break
            item = self._copy(keys[place])
            assert item is not None, "keys are those of items"
            found.append(item)
            after = keys[place].sort
            self._between()
        return found

    def _keys(self, table: Table, partition: str) -> list[Key]:
        """In order; made anew when an item is new, which is seldom beside reading."""
        if len(self._items) != self._sorted_at:
            self._sorted.clear()
            self._sorted_at = len(self._items)
        known = self._sorted.get((table, partition))
        if known is None:
            known = sorted(key for key in self._items if key.table == table and key.partition == partition)
            self._sorted[table, partition] = known
        return known

    def _copy(self, key: Key) -> Item | None:
        """Flat: the engine makes values of items and never changes what is in them."""
        item = self._items.get(key)
        return None if item is None else dict(item)

    def update(self, update: Update) -> Item:
        self._call("update")
        unknown = self._chance.random() < self.weather.unknown
        if unknown and self._chance.random() < 0.5:
            raise self._not_told()
        if update.key in self.held:
            self.counts["conflict"] += 1
            raise WriteConflict
        item = super().update(update)
        if unknown:
            raise self._not_told()
        return item

    def transact(self, writes: Sequence[Write], *, token: str | None = None) -> None:
        if not self.chaotic:
            super().transact(writes)
            return
        self._call("transact")
        check_transaction(writes)
        unknown = self._chance.random() < self.weather.unknown
        if unknown and self._chance.random() < 0.5:
            raise self._not_told()
        transaction = self._decide(writes)
        if unknown:
            raise self._not_told()
        while transaction.changes:
            self._pause()

    def go_on(self, transaction: Transaction) -> None:
        """The next item of a decided transaction becomes visible, if it is not a slow one."""
        if self._chance.random() >= transaction.slow:
            self.show_one(transaction)

    def show_one(self, transaction: Transaction) -> None:
        """One item of a decided transaction becomes visible, and free for others."""
        key, item = transaction.changes.pop()
        assert item is not None, "no commit deletes"
        self._items[key] = item
        self.held.discard(key)
        if not transaction.changes:
            self.deciding.remove(transaction)
        self._visible(key, item)

    def _decide(self, writes: Sequence[Write]) -> Transaction:
        if any(write.key in self.held for write in writes):
            self.counts["conflict"] += 1
            raise WriteConflict
        self._refuse_unless_all_hold(writes)
        changes = [
            (write.key, written(write, self._items.get(write.key))) for write in writes if not isinstance(write, Check)
        ]
        self._chance.shuffle(changes)
        whim = self._chance.random()
        if whim < 0.4:  # the head of the run is the first, or the last, that others see
            changes.sort(key=lambda change: (change[0].sort == "RUN") == (whim < 0.2))
        slow = self._chance.choice([0.8, 0.95]) if self._chance.random() < self.weather.slow else 0.0
        transaction = Transaction(changes, slow)
        self.deciding.append(transaction)
        self.held |= {key for key, _ in changes}
        self.counts["commit"] += 1
        return transaction

    def _call(self, kind: str) -> None:
        if not self.chaotic:
            return
        self.counts[kind] += 1
        self._pause()
        if self._chance.random() < self.weather.busy:
            self.counts["busy"] += 1
            raise Unavailable("the store is busy")

    def _between(self) -> None:
        if self.chaotic and self._chance.random() < 0.5:
            self._pause()

    def _not_told(self) -> OutcomeUnknown:
        self.counts["unknown"] += 1
        return OutcomeUnknown()


class SlowBlobs(MemoryBlobs):
    """Object storage in which others run before every call."""

    def __init__(self, pause: Callable[[], None]) -> None:
        super().__init__()
        self._pause = pause

    def put(self, name: str, content: bytes, content_type: str = "application/octet-stream") -> None:
        self._pause()
        super().put(name, content, content_type)

    def get(self, name: str) -> bytes | None:
        self._pause()
        return super().get(name)
