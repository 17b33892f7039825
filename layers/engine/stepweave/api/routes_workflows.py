"""External API: the workflows that a key may call (contract §4)."""

from typing import Any

from fastapi import APIRouter, Response

from stepweave.api.access import Caller
from stepweave.api.answers import answer
from stepweave.api.context import ApiContext
from stepweave.api.paging import PageNumber, PageSize, Search, cut
from stepweave.store.workflows import Workflow

router = APIRouter(tags=["workflows"])


@router.get("/workflows", summary="Workflows that the key may call")
def workflows(
    caller: Caller, api: ApiContext, page: PageNumber = 1, size: PageSize = 20, search: Search = ""
) -> Response:
    """`{total, items}`; `inputs` and `outputs` of each item come from its `userInput` and `output` nodes."""
    allowed = frozenset(caller.workflows) if caller.workflows is not None else None
    found = api.definitions.listed(search, allowed)
    return answer({"total": len(found), "items": [shown(each) for each in cut(found, page, size)]})


def shown(workflow: Workflow) -> dict[str, Any]:
    return {
        "id": workflow.workflow_id,
        "name": workflow.name,
        "title": workflow.title,
        "description": workflow.description,
        "inputs": list(workflow.inputs),
        "outputs": list(workflow.outputs),
    }
