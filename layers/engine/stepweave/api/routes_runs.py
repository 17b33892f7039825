"""External API: runs are created, started, looked at and cancelled (contract §4)."""

from typing import Any

from fastapi import APIRouter, Response
from fastapi.concurrency import run_in_threadpool

from stepweave.api import starting
from stepweave.api.access import Caller, CurrentNode, CurrentRun, KnownWorkflow, SeenWorkflowRun, WorkflowRun
from stepweave.api.answers import answer
from stepweave.api.bodies import RunBody
from stepweave.api.context import ApiContext
from stepweave.api.outputs import large_answer
from stepweave.api.paging import Cursor, Limit, cursor_of, run_at
from stepweave.api.parameters import RunStatusQuery, VisitQuery
from stepweave.api.submission import documented_with_files
from stepweave.errors import RunAlreadyFinished
from stepweave.execution.run import CANCELLED, Run
from stepweave.services.links import RunLinks
from stepweave.services.results import summary
from stepweave.texts import Text

router = APIRouter(tags=["runs"])


@router.post(
    "/workflows/{workflow}/runs",
    summary="Create a run",
    openapi_extra=documented_with_files(RunBody),
)
async def create(asked: starting.Asked, api: ApiContext) -> Response:
    """`async: true` creates it only; `async: false` starts it, and the answer is its stream of events."""
    run = await run_in_threadpool(starting.create, api, asked)
    return answer(_created(run)) if asked.body.is_async else await starting.start_and_stream(api, asked.caller, run)


@router.post("/workflows/{workflow}/runs/{runId}/start", summary="Start a run")
def start(run: WorkflowRun, caller: Caller, api: ApiContext) -> Response:
    """Checks the inputs with their types. A second start is refused."""
    starting.start(api, caller, run)
    # what has no effect may have brought the run to its end already: that is the stream's to tell
    return answer({"runId": run.run_id, "status": "RUNNING", "streamUrl": RunLinks.of(run).stream})


@router.get("/workflows/{workflow}/runs", summary="Runs of a workflow, newest first")
def runs(
    workflow: KnownWorkflow,
    api: ApiContext,
    status: RunStatusQuery = None,
    cursor: Cursor = "",
    limit: Limit = 20,
) -> Response:
    """Of a rare `status` a page may be short although there is a `nextCursor`."""
    found, last = api.lists.of_workflow(workflow.name, status, run_at(cursor, workflow.name) if cursor else None, limit)
    items = [summary(run) for run in found]
    return answer({"items": items, "nextCursor": cursor_of(last) if last is not None else None})


@router.get("/workflows/{workflow}/runs/{runId}", summary="Result of a run")
def result(run: SeenWorkflowRun, api: ApiContext) -> Response:
    """Status, times, `outputs` and `nodes[]`; what is too large for the answer stands behind an `outputUrl`."""
    return answer(api.results.result(run))


@router.get("/workflows/{workflow}/runs/{runId}/output", summary="Output of a run, whatever its size")
def output(run: SeenWorkflowRun, api: ApiContext) -> Response:
    """Its envelope; null until it has ended."""
    return large_answer(api, f"runs/{run.run_id}/answers/output.json", api.results.outputs(run))


@router.get("/workflows/{workflow}/runs/{runId}/nodes/{nodeId}/logs", summary="Log of a node")
def logs(run: SeenWorkflowRun, node_id: CurrentNode, api: ApiContext, visit: VisitQuery = None) -> Response:
    """Of all its visits, oldest entry first, or of the one that `visitUuid` names. Of more than an answer holds, the
    newest entries, and how many were `omitted`."""
    return answer(api.results.node_logs(run, node_id, visit))


@router.get("/workflows/{workflow}/runs/{runId}/nodes/{nodeId}/output", summary="Output of a node, whatever its size")
def node_output(run: SeenWorkflowRun, node_id: CurrentNode, api: ApiContext, visit: VisitQuery = None) -> Response:
    """Of its latest visit, or of the one that `visitUuid` names."""
    visit_uuid, found = api.results.node_output(run, node_id, visit)
    return large_answer(api, f"runs/{run.run_id}/answers/{visit_uuid}.json", found)


@router.post("/runs/{runId}/cancel", summary="Cancel a run")
def cancel(run: CurrentRun, api: ApiContext) -> Response:
    """The run ends FAILED with the error `CANCELLED`; nothing of it goes on."""
    if run.is_over:
        raise _finished(run)
    ended = api.ending.cancel(run.run_id)
    if ended is not None and ended.error != CANCELLED:
        raise _finished(ended)
    api.streams.wake(run.run_id)
    return answer({"runId": run.run_id, "status": "FAILED", "error": CANCELLED})


def _created(run: Run) -> dict[str, Any]:
    links = RunLinks.of(run)
    return {
        "runId": run.run_id,
        "workflowId": run.workflow_id,
        "status": run.status,
        "createdAt": run.created_at,
        "links": {"start": links.start, "stream": links.stream, "result": links.result, "workspace": links.workspace},
    }


def _finished(run: Run) -> RunAlreadyFinished:
    return RunAlreadyFinished(
        Text(f"运行 {run.run_id} 已结束（{run.status}）", f"run {run.run_id} has finished ({run.status})")
    )
