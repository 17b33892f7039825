"""What runs did, for the platform's pages and for people who debug (contract §4, platform; key scope `admin`)."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Query, Response

from stepweave import ids
from stepweave.api.access import Admin, CurrentRun, known_workflow, run_of_caller
from stepweave.api.answers import answer
from stepweave.api.context import ApiContext
from stepweave.api.paging import Cursor, Limit, cursor_of, run_at
from stepweave.api.parameters import RunStatusQuery
from stepweave.errors import RunNotFound, ValidationFailed
from stepweave.execution.run import Run
from stepweave.graph.problem import quoted
from stepweave.services.results import summary
from stepweave.texts import Text

router = APIRouter(tags=["platform"])

OneVisit = Annotated[str | None, Query(alias="visitUuid", description="Only this visit.", max_length=64)]
OneWorkflow = Annotated[str, Query(max_length=64, description="Only runs of this workflow, by its name or number.")]

_RUN_ID_LENGTH = 8


@router.get("/run-history/runs", summary="Runs of all workflows, newest first")
def runs(
    admin: Admin,
    api: ApiContext,
    workflow: OneWorkflow = "",
    status: RunStatusQuery = None,
    cursor: Cursor = "",
    limit: Limit = 20,
) -> Response:
    """`id` is a run's number in the history. Of a rare `status` a page may be short although there is a
    `nextCursor`."""
    name = known_workflow(workflow, admin, api).name if workflow else ""
    after = run_at(cursor, name) if cursor else None
    found, last = api.lists.of_workflow(name, status, after, limit) if name else api.lists.of_all(status, after, limit)
    items = [_numbered(run) | summary(run) for run in found]
    return answer({"items": items, "nextCursor": cursor_of(last) if last is not None else None})


def _run(
    admin: Admin,
    api: ApiContext,
    number: Annotated[
        str, Path(alias="id", description="A run's id, or its number in the history.", examples=["a3f9b2c1"])
    ],
) -> Run:
    if len(number) == _RUN_ID_LENGTH:
        return run_of_caller(number, admin, api)
    if not number.isascii() or not number.isdecimal():
        raise ValidationFailed(
            Text(
                f"id {quoted(number)} 应为运行编号（8 位十六进制）或历史编号（数字）",
                f"id {quoted(number)} must be a run's id (8 hex digits) or its number in the history",
            )
        )
    run_id = ids.run_of_history(number)
    if run_id is None:
        raise RunNotFound(Text(f"历史编号 {number[:20]} 不存在", f"there is no run with the number {number[:20]}"))
    return api.runs.get(run_id)


@router.get("/run-history/runs/{id}", summary="A run of the history, with its result")
def run(found: Annotated[Run, Depends(_run)], api: ApiContext) -> Response:
    """As the result of a run in the external API, with its `id`."""
    return answer(_numbered(found) | api.results.result(found))


@router.get("/runs/{runId}/nodes", summary="Every visit of a run with its context snapshot")
def nodes(_: Admin, run: CurrentRun, api: ApiContext, visit_uuid: OneVisit = None) -> Response:
    """`contextSnapshot` holds the variables as they stood after the visit: the initial inputs, then what each visit up
    to it gave, later over earlier."""
    return answer(api.history.nodes(run, visit_uuid))


def _numbered(run: Run) -> dict[str, Any]:
    return {"id": ids.history_id(run.run_id)}
