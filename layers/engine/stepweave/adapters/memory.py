"""The ports in memory: for tests, benchmarks and anything that wants a run without a cloud."""

import copy
import io
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from urllib.parse import quote, urlencode

from stepweave.items import (
    SCHEMAS,
    Absent,
    Check,
    Condition,
    Delete,
    Either,
    Equals,
    Every,
    Index,
    Item,
    Key,
    Less,
    Present,
    Put,
    Table,
    Update,
    Write,
    WriteRefused,
)

_PIECE = 1024 * 1024


class MemoryItems:
    """An `ItemStore` whose transactions are visible at once. Thread-safe."""

    def __init__(self) -> None:
        self._items: dict[Key, Item] = {}
        self._lock = threading.RLock()

    def get(self, key: Key) -> Item | None:
        with self._lock:
            return copy.deepcopy(self._items.get(key))

    def get_many(self, keys: Sequence[Key]) -> dict[Key, Item]:
        with self._lock:
            return {key: copy.deepcopy(self._items[key]) for key in keys if key in self._items}

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
        with self._lock:
            found = sorted(
                (key for key in self._items if key.table == table and key.partition == partition),
                key=lambda key: key.sort,  # type: ignore[arg-type,return-value]  # one table's sort keys are of one type
                reverse=descending,
            )
            chosen = [
                key
                for key in found
                if (prefix is None or str(key.sort).startswith(prefix))
                and (after is None or (key.sort < after if descending else key.sort > after))  # type: ignore[operator]
            ]
            return [copy.deepcopy(_part(self._items[key], key, names)) for key in chosen[:limit]]

    def query_index(
        self,
        index: Index,
        partition: str,
        *,
        up_to: str | None = None,
        after: Item | None = None,
        limit: int | None = None,
        descending: bool = False,
    ) -> list[Item]:
        def position(key: Key, item: Item) -> tuple[Any, ...]:
            return (item[index.sort], key.partition, "" if key.sort is None else key.sort)

        with self._lock:
            found = sorted(
                (
                    (key, item)
                    for key, item in self._items.items()
                    if key.table == index.table and item.get(index.partition) == partition and index.sort in item
                ),
                key=lambda pair: position(*pair),
                reverse=descending,
            )
            if up_to is not None:
                found = [(key, item) for key, item in found if item[index.sort] <= up_to]
            if after is not None:
                schema = SCHEMAS[index.table]
                last = position(
                    Key(index.table, after[schema.partition], after[schema.sort] if schema.sort else None), after
                )
                found = [
                    (key, item)
                    for key, item in found
                    if (position(key, item) < last if descending else position(key, item) > last)
                ]
            names = {*SCHEMAS[index.table], index.partition, index.sort}
            return [
                {name: copy.deepcopy(value) for name, value in item.items() if not index.keys_only or name in names}
                for _, item in found[:limit]
            ]

    def update(self, update: Update) -> Item:
        with self._lock:
            self._refuse_unless_all_hold([update])
            self._items[update.key] = written(update, self._items.get(update.key)) or {}
            return copy.deepcopy(self._items[update.key])

    def put(self, table: Table, item: Item) -> None:
        self.transact([Put(table, item)])

    def delete(self, key: Key) -> None:
        with self._lock:
            self._items.pop(key, None)

    def transact(self, writes: Sequence[Write], *, token: str | None = None) -> None:
        check_transaction(writes)
        with self._lock:
            self._refuse_unless_all_hold(writes)
            for write in writes:
                after = written(write, self._items.get(write.key))
                if after is None:
                    self._items.pop(write.key, None)
                else:
                    self._items[write.key] = after

    def _refuse_unless_all_hold(self, writes: Sequence[Write]) -> None:
        refused = {
            write.key: copy.deepcopy(self._items.get(write.key))
            for write in writes
            if write.condition is not None and not holds(write.condition, self._items.get(write.key))
        }
        if refused:
            raise WriteRefused(refused)


def check_transaction(writes: Sequence[Write]) -> None:
    """The limits of DynamoDB, kept everywhere so that no test passes what AWS refuses."""
    keys = [write.key for write in writes]
    if len(set(keys)) != len(keys):
        raise ValueError(f"two writes on one item: {sorted(str(key) for key in keys)}")
    if not 1 <= len(writes) <= 100:
        raise ValueError(f"{len(writes)} writes in a transaction; 1 to 100 are allowed")


def holds(condition: Condition, item: Item | None) -> bool:
    there = item or {}
    match condition:
        case Equals(attribute, value):
            return attribute in there and bool(there[attribute] == value)
        case Less(attribute, value):
            return attribute in there and bool(there[attribute] < value)
        case Present(attribute):
            return attribute in there
        case Absent(attribute):
            return attribute not in there
        case Every(conditions):
            return all(holds(each, item) for each in conditions)
        case Either(conditions):
            return any(holds(each, item) for each in conditions)


def written(write: Write, item: Item | None) -> Item | None:
    """The item after the write; None when it is gone."""
    match write:
        case Put(_, new, _):
            return copy.deepcopy(new)
        case Delete():
            return None
        case Check():
            return item
        case Update(key, sets, adds, removes, _):
            after = dict(item) if item is not None else key.attributes()
            after.update(copy.deepcopy(dict(sets)))
            for attribute, amount in adds.items():
                after[attribute] = after.get(attribute, 0) + amount
            for attribute in removes:
                after.pop(attribute, None)
            return after


class MemoryBlobs:
    """A `BlobStore` in a dictionary. Its addresses have the form of others, but nobody answers there."""

    def __init__(self) -> None:
        self._blobs: dict[str, bytes] = {}

    def put(self, name: str, content: bytes, content_type: str = "application/octet-stream") -> None:
        self._blobs[name] = content

    def get(self, name: str) -> bytes | None:
        return self._blobs.get(name)

    def size(self, name: str) -> int | None:
        content = self.get(name)
        return len(content) if content is not None else None

    def open(self, name: str) -> Iterator[bytes] | None:
        content = self.get(name)
        if content is None:
            return None
        return (content[start : start + _PIECE] for start in range(0, len(content), _PIECE))

    @contextmanager
    def writer(self, name: str, content_type: str = "application/octet-stream") -> Iterator[io.BytesIO]:
        content = io.BytesIO()
        yield content
        self.put(name, content.getvalue(), content_type)

    def list(self, prefix: str) -> Iterable[tuple[str, int]]:
        return [(name, len(blob)) for name, blob in sorted(self._blobs.items()) if name.startswith(prefix)]

    def delete(self, names: Sequence[str]) -> None:
        for name in names:
            self._blobs.pop(name, None)

    def upload_url(self, name: str, size: int, seconds: int) -> str:
        return f"memory://blobs/{quote(name)}?{urlencode({'size': size, 'seconds': seconds})}"

    def download_url(self, name: str, seconds: int, disposition: str | None = None) -> str:
        return f"memory://blobs/{quote(name)}?{urlencode({'seconds': seconds, 'disposition': disposition or ''})}"


def _part(item: Item, key: Key, names: Sequence[str]) -> Item:
    wanted = {*names, *key.attributes()} if names else item.keys()
    return {name: value for name, value in item.items() if name in wanted}


class MemoryChains:
    """`Chains` that only remembers what was started; whoever drives it takes steps from `waiting`."""

    def __init__(self) -> None:
        self.names: set[str] = set()
        self.running: dict[str, dict[str, Any]] = {}
        self.asleep: dict[str, str] = {}

    def start(self, name: str, step: dict[str, Any]) -> None:
        if name not in self.names:
            self.names.add(name)
            self.running[name] = step

    def is_running(self, name: str) -> bool | None:
        return name in self.running if name in self.names else None

    def sleep(self, name: str) -> str:
        """A running chain waits; gives the token that wakes it."""
        token = f"{name}#{len(self.names)}.{len(self.asleep)}"
        self.asleep[token] = name
        return token

    def wake(self, token: str, step: dict[str, Any]) -> bool:
        name = self.asleep.pop(token, None)
        if name not in self.running:
            return False
        self.running[name] = step
        return True

    def stop(self, name: str) -> None:
        self.running.pop(name, None)


class MemoryCallbacks:
    """A `CallbackQueue` that remembers: `sent` are runs in their order, `postponed` is seconds by receipt."""

    def __init__(self) -> None:
        self.sent: list[str] = []
        self.postponed: dict[str, int] = {}

    def send(self, run_id: str) -> None:
        self.sent.append(run_id)

    def postpone(self, receipt: str, seconds: int) -> None:
        self.postponed[receipt] = seconds
