"""External API: what a page that shows one run needs: a view token in place of a key (contract §4), the drawing, the
visits with their snapshots."""

from fastapi import APIRouter, Response
from fastapi.concurrency import run_in_threadpool

from stepweave import clock as times
from stepweave.api.access import Caller, CurrentRun, SeenRun
from stepweave.api.answers import answer
from stepweave.api.bodies import ViewTokenBody
from stepweave.api.body import JsonObject, documented, read
from stepweave.api.context import ApiContext
from stepweave.api.parameters import VisitQuery
from stepweave.services.links import RunLinks

router = APIRouter(tags=["view tokens"])


@router.post(
    "/runs/{runId}/view-token",
    summary="Make a view token of a run",
    openapi_extra=documented(ViewTokenBody, required=False),
)
async def view_token(run: CurrentRun, caller: Caller, raw: JsonObject, api: ApiContext) -> Response:
    """`token` is shown this once. As `X-View-Token`, or for an EventSource as `?viewToken=`, it replaces the key on what
    reads this run (its streams, events, state, result, outputs, logs, workspace), and with `resume` for answering its
    questions; nowhere else. A stream that is open when the token expires goes on. `url` is the run's page."""
    body = read(ViewTokenBody, raw)
    token, secret = await run_in_threadpool(
        lambda: api.viewing.issue(caller, run, seconds=body.ttl_seconds, may_answer=body.resume)
    )
    told = {"token": secret, "expiresAt": times.to_json(token.expires_at), "url": RunLinks.of(run).page(secret)}
    return answer(told, {"Cache-Control": "no-store"})


@router.get("/runs/{runId}/graph", summary="A run, and the drawing of its workflow")
def graph(run: SeenRun, api: ApiContext) -> Response:
    """The run as in lists, with `title`, `mode`, `nodes[{id, type, label, position}]` and
    `edges[{source, target, sourceHandle}]` of the version that it runs."""
    return answer(api.drawings.of(run))


@router.get("/runs/{runId}/nodes", summary="Every visit of a run with its context snapshot")
def nodes(run: SeenRun, api: ApiContext, visit_uuid: VisitQuery = None) -> Response:
    """As the platform's call of the same name."""
    return answer(api.history.nodes(run, visit_uuid))
