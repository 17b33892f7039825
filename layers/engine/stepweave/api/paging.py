"""Pages of lists (contract §4: `page=1&size=20`, size at most 100), and cursors, which mean nothing to clients."""

import base64
import binascii
import json
from collections.abc import Sequence
from typing import Annotated

from fastapi import Query

from stepweave.errors import ValidationFailed
from stepweave.execution.run import Run
from stepweave.store.workflows import Workflow
from stepweave.texts import Text

PageNumber = Annotated[int, Query(ge=1, le=1_000_000, description="Counts from 1.")]
PageSize = Annotated[int, Query(ge=1, le=100, description="Items a page.")]
Search = Annotated[str, Query(max_length=200, description="Words in the name, the title or the description.")]


def cut[T](items: Sequence[T], page: int, size: int) -> Sequence[T]:
    return items[(page - 1) * size : page * size]


def cursor_of(run: Run) -> str:
    return base64.urlsafe_b64encode(json.dumps([run.created_at, run.run_id]).encode()).decode().rstrip("=")


def run_at(cursor: str, workflow: Workflow) -> Run:
    """As much of the run that a cursor stands for as a list needs to go on after it."""
    try:
        created_at, run_id = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    except (binascii.Error, ValueError, TypeError):
        raise _bad_cursor() from None
    if not isinstance(created_at, str) or not isinstance(run_id, str):
        raise _bad_cursor()
    return Run(
        run_id=run_id,
        workflow=workflow.name,
        workflow_id=workflow.workflow_id,
        version=workflow.latest,
        status="CREATED",
        created_at=created_at,
    )


def _bad_cursor() -> ValidationFailed:
    return ValidationFailed(
        Text("cursor 无效，请使用上一页返回的 nextCursor", "cursor is not valid: use the nextCursor of the page before")
    )
