"""The platform's API: runs as its own pages use them, and upkeep (contract §4; key scope `admin`)."""

from fastapi import APIRouter, Response
from fastapi.concurrency import run_in_threadpool

from stepweave.api import starting
from stepweave.api.access import Admin, CurrentRun, Streaming
from stepweave.api.answers import answer
from stepweave.api.bodies import RunBody
from stepweave.api.context import ApiContext
from stepweave.api.parameters import LastEventId
from stepweave.api.submission import documented_with_files

router = APIRouter(tags=["platform"])


@router.post(
    "/workflows/{workflow}/run",
    summary="Create and start a run, and stream it",
    openapi_extra=documented_with_files(RunBody),
)
async def run_now(_: Admin, asked: starting.Asked, api: ApiContext) -> Response:
    """As creating a run with `async: false`."""
    run = await run_in_threadpool(starting.create, api, asked)
    return await starting.start_and_stream(api, asked.caller, run)


@router.get("/chat/runs/{runId}/stream", summary="Stream of the events of a chat's run", dependencies=[Streaming])
@router.get("/workflows/runs/{runId}/stream", summary="Stream of a run's events", dependencies=[Streaming])
async def stream(_: Admin, run: CurrentRun, api: ApiContext, after: LastEventId) -> Response:
    """The same as the stream of the external API."""
    return await api.streams.stream(run, after, {})


@router.post("/runs/{runId}/redrive", summary="Start again what a run has lost")
def redrive(_: Admin, run: CurrentRun, api: ApiContext) -> Response:
    """Gives a new execution to every open visit whose execution is gone; `restarted` is their number."""
    restarted = api.redrive.redrive(run.run_id)
    api.streams.wake(run.run_id)
    return answer({"runId": run.run_id, "status": api.runs.get(run.run_id).status, "restarted": restarted})
