"""The envelope around what a node gave (contract §3): `{status, message, data, trace?, metadata?}`."""

from collections.abc import Mapping
from typing import Any

Envelope = dict[str, Any]

OK = 200
FAILED = 400


def success(
    message: str,
    data: Mapping[str, Any],
    trace: Mapping[str, Any] | None = None,
    metadata: Mapping[str, Any] | None = None,
) -> Envelope:
    return _envelope(OK, message, dict(data), trace, metadata)


def failure(
    message: str, trace: Mapping[str, Any] | None = None, metadata: Mapping[str, Any] | None = None
) -> Envelope:
    """A failed node's envelope carries its trace too: it is what people debug with."""
    return _envelope(FAILED, message, {}, trace, metadata)


def is_envelope(value: Any) -> bool:
    """An object is an envelope exactly when it has both `status` and `data`."""
    return isinstance(value, Mapping) and "status" in value and "data" in value


def data_of(value: Any) -> Mapping[str, Any]:
    """The `data` of an envelope; an old bare map is its own data."""
    if not isinstance(value, Mapping):
        return {}
    data = value["data"] if is_envelope(value) else value
    return data if isinstance(data, Mapping) else {}


def outside(envelope: Mapping[str, Any]) -> Envelope:
    """The envelope as external answers and events show it: without the trace, which is read through logs."""
    return {name: part for name, part in envelope.items() if name != "trace"}


def _envelope(
    status: int, message: str, data: dict[str, Any], trace: Mapping[str, Any] | None, metadata: Mapping[str, Any] | None
) -> Envelope:
    envelope: Envelope = {"status": status, "message": message, "data": data}
    if trace:
        envelope["trace"] = dict(trace)
    if metadata:
        envelope["metadata"] = dict(metadata)
    return envelope
