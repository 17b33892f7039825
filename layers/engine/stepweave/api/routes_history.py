"""What a run did, for people who debug it (contract §4, platform; key scope `admin`)."""

from typing import Annotated

from fastapi import APIRouter, Query, Response

from stepweave.api.access import Admin, CurrentRun
from stepweave.api.answers import answer
from stepweave.api.context import ApiContext

router = APIRouter(tags=["platform"])

OneVisit = Annotated[str | None, Query(alias="visitUuid", description="Only this visit.", max_length=64)]


@router.get("/runs/{runId}/nodes", summary="Every visit of a run with its context snapshot")
def nodes(_: Admin, run: CurrentRun, api: ApiContext, visit_uuid: OneVisit = None) -> Response:
    """`contextSnapshot` holds the variables as they stood after the visit: the initial inputs, then what each visit up
    to it gave, later over earlier."""
    return answer(api.history.nodes(run, visit_uuid))
