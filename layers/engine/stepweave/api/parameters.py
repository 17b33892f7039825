"""Query parameters and headers of several routes, and where a reader of events stands."""

import uuid
from typing import Annotated

from fastapi import Depends, Header, Query
from pydantic import AfterValidator, BeforeValidator

from stepweave.errors import ValidationFailed
from stepweave.execution.run import RunStatus
from stepweave.graph.problem import quoted
from stepweave.graph.shape import refuse
from stepweave.texts import Text

_LONGEST_ID = 15


def _empty_is_none(value: str | None) -> str | None:
    return value or None


def _is_uuid(value: str | None) -> str | None:
    try:
        return str(uuid.UUID(value)) if value else None
    except ValueError:
        raise refuse(Text("应为 UUID", "must be a UUID")) from None


RunStatusQuery = Annotated[
    RunStatus | None, BeforeValidator(_empty_is_none), Query(description="Only runs of this status.")
]
VisitQuery = Annotated[
    str | None, AfterValidator(_is_uuid), Query(alias="visitUuid", description="Only this visit of the node.")
]
IdempotencyKey = Annotated[
    str | None, Header(alias="Idempotency-Key", description="The same request under the same key makes one run.")
]


def event_id(name: str, text: str) -> int:
    """An id that a client names; 0 is before the first event."""
    if text.isascii() and text.isdecimal() and len(text) <= _LONGEST_ID:
        return int(text)
    raise ValidationFailed(
        Text(f"{name} {quoted(text)} 应为非负整数", f"{name} {quoted(text)} must be a whole number, 0 or more")
    )


def _position(
    header: Annotated[str, Header(alias="Last-Event-ID", description="The id of the last event that was read.")] = "",
    query: Annotated[str, Query(alias="lastEventId", description="The same, where no header can be set.")] = "",
) -> int:
    """The header wins: an EventSource that reconnects repeats its URL, and knows better by then."""
    if header:
        return event_id("Last-Event-ID", header)
    return event_id("lastEventId", query) if query else 0


LastEventId = Annotated[int, Depends(_position)]
