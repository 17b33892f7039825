"""Reading fields of an earlier node's envelope (contract §3): `data.result`, `trace.tool_calls[0].result`, or just `result`."""

from collections.abc import Mapping
from typing import Any

from stepweave.expressions.paths import MISSING, steps_of, walk
from stepweave.expressions.scope import open_to_nodes

_ROOTS = ("data", "trace", "metadata")
_SHELL = ("status", "message")


def data_of(envelope: Mapping[str, Any] | None) -> Mapping[str, Any]:
    """The variables of a node; none where it left nothing behind."""
    return open_to_nodes((envelope or {}).get("data"))


def read_field(envelope: Mapping[str, Any] | None, field: str) -> Any:
    """The value of a field, or MISSING.

    A path that begins with `data`, `trace` or `metadata` is read from the envelope, any other under `data`, where a
    name that is written there exactly so goes before a path. `status` and `message` are the envelope's own where
    `data` has no such field.
    """
    data = data_of(envelope)
    steps = steps_of(field)
    if steps is not None and steps[0] in _ROOTS:
        return walk({**(envelope or {}), "data": data}, steps)
    if data.get(field) is not None:
        return data[field]
    found = walk(data, steps) if steps is not None else MISSING
    if found is MISSING and field in _SHELL:
        return walk(envelope, (field,))
    return found
