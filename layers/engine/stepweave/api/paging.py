"""Pages of lists (contract §4: `page=1&size=20`, size at most 100), and cursors, which mean nothing to clients."""

import base64
import binascii
import json
import re
from collections.abc import Sequence
from typing import Annotated

from fastapi import Query

from stepweave import ids
from stepweave.errors import ValidationFailed
from stepweave.execution.run import Run
from stepweave.texts import Text

PageNumber = Annotated[int, Query(ge=1, le=1_000_000, description="Counts from 1.")]
PageSize = Annotated[int, Query(ge=1, le=100, description="Items a page.")]
Cursor = Annotated[str, Query(max_length=500, description="`nextCursor` of the page before.")]
Limit = Annotated[int, Query(ge=1, le=100, description="Items a page.")]
Search = Annotated[str, Query(max_length=200, description="Words in the name, the title or the description.")]

_MOMENT = re.compile(r"[0-9]{4}-(0[1-9]|1[0-2])-[0-9]{2}T[0-9:.]{8,15}Z")


def cut[T](items: Sequence[T], page: int, size: int) -> Sequence[T]:
    return items[(page - 1) * size : page * size]


def cursor_of(run: Run) -> str:
    return base64.urlsafe_b64encode(json.dumps([run.created_at, run.run_id]).encode()).decode().rstrip("=")


def run_at(cursor: str, workflow: str) -> Run:
    """As much of the run that a cursor stands for as a list needs to go on after it; `workflow` is the list's, if it is
    of one."""
    try:
        created_at, run_id = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    except (binascii.Error, ValueError, TypeError):
        raise _bad_cursor() from None
    if not _matches(_MOMENT, created_at) or not _matches(ids.RUN_ID, run_id):
        raise _bad_cursor()
    return Run(
        run_id=run_id,
        workflow=workflow,
        workflow_id=0,
        version=0,
        status="CREATED",
        created_at=created_at,
    )


def _matches(form: re.Pattern[str], value: object) -> bool:
    return isinstance(value, str) and form.fullmatch(value) is not None


def _bad_cursor() -> ValidationFailed:
    return ValidationFailed(
        Text("cursor 无效，请使用上一页返回的 nextCursor", "cursor is not valid: use the nextCursor of the page before")
    )
