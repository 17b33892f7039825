"""Items, conditions and writes as data: the rules of protocol.md are written once, in terms of these.

An item store (ports.ItemStore) carries them out: in memory by looking, on DynamoDB by expressions.
Items are flat JSON-like mappings; integers, not floats, where numbers are compared or added.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

Table = Literal["workflows", "runs", "visits", "events", "apiKeys", "tokens", "chats"]
Item = dict[str, Any]


class KeySchema(NamedTuple):
    partition: str
    sort: str | None
    sort_is_number: bool = False


SCHEMAS: dict[Table, KeySchema] = {
    "workflows": KeySchema("name", "version", sort_is_number=True),
    "runs": KeySchema("runId", "sk"),
    "visits": KeySchema("runId", "sk"),
    "events": KeySchema("runId", "seq", sort_is_number=True),
    "apiKeys": KeySchema("keyHash", None),
    "tokens": KeySchema("tokenHash", None),
    "chats": KeySchema("sessionId", "sk"),
}


class Index(NamedTuple):
    """A secondary index: eventually consistent, and sparse where the attributes are left out.

    `keys_only`: it gives the keys of its items and no more, and costs a write only where those change.
    """

    table: Table
    name: str
    partition: str
    sort: str
    keys_only: bool = False


WORKFLOWS_LISTED = Index("workflows", "listed", "listed", "name")
RUNS_BY_WORKFLOW = Index("runs", "byWorkflow", "workflow", "createdAt")
RUNS_BY_MONTH = Index("runs", "byMonth", "month", "createdAt", keys_only=True)
RUNS_OPEN = Index("runs", "open", "open", "checkAt")
TOKENS_EXPIRING = Index("tokens", "expiring", "kind", "expiresAt")

INDEXES = (WORKFLOWS_LISTED, RUNS_BY_WORKFLOW, RUNS_BY_MONTH, RUNS_OPEN, TOKENS_EXPIRING)
"""All of them, for whoever makes the tables."""


class Key(NamedTuple):
    table: Table
    partition: str
    sort: str | int | None = None

    def attributes(self) -> Item:
        schema = SCHEMAS[self.table]
        return {schema.partition: self.partition} | ({schema.sort: self.sort} if schema.sort else {})


def key_of(table: Table, item: Mapping[str, Any]) -> Key:
    schema = SCHEMAS[table]
    return Key(table, item[schema.partition], item[schema.sort] if schema.sort else None)


@dataclass(frozen=True, slots=True)
class Equals:
    attribute: str
    value: Any


@dataclass(frozen=True, slots=True)
class Less:
    """The attribute is there and below the value."""

    attribute: str
    value: Any


@dataclass(frozen=True, slots=True)
class Present:
    attribute: str


@dataclass(frozen=True, slots=True)
class Absent:
    """The attribute is not there; on a key attribute: the item is not there."""

    attribute: str


@dataclass(frozen=True, slots=True)
class Every:
    of: tuple["Condition", ...]


@dataclass(frozen=True, slots=True)
class Either:
    of: tuple["Condition", ...]


Condition = Equals | Less | Present | Absent | Every | Either


def every(*conditions: Condition) -> Condition:
    return Every(conditions)


def either(*conditions: Condition) -> Condition:
    return Either(conditions)


def missing(table: Table) -> Condition:
    """The item does not exist yet."""
    return Absent(SCHEMAS[table].partition)


@dataclass(frozen=True, slots=True)
class Put:
    table: Table
    item: Item
    condition: Condition | None = None

    @property
    def key(self) -> Key:
        return key_of(self.table, self.item)


@dataclass(frozen=True, slots=True)
class Update:
    """Changes attributes of one item, making the item when it is not there (unless the condition forbids it)."""

    key: Key
    sets: Mapping[str, Any] = field(default_factory=dict)
    adds: Mapping[str, int] = field(default_factory=dict)
    removes: tuple[str, ...] = ()
    condition: Condition | None = None


@dataclass(frozen=True, slots=True)
class Check:
    key: Key
    condition: Condition


@dataclass(frozen=True, slots=True)
class Delete:
    key: Key
    condition: Condition | None = None


Write = Put | Update | Check | Delete


class WriteRefused(Exception):
    """Nothing was written. `items` are the items as they stood, in the order of the writes whose condition failed."""

    def __init__(self, items: dict[Key, Item | None]) -> None:
        super().__init__(f"condition failed on {sorted(str(k) for k in items)}")
        self.items = items


class WriteConflict(Exception):
    """Nothing was written: another transaction held one of the items. Try again, after reading again."""


class OutcomeUnknown(Exception):
    """Written or not, nobody knows (a time-out, a lost answer). Read again; never assume."""
