"""The platform's API: workflow definitions (contract §4; key scope `admin`)."""

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from fastapi.concurrency import run_in_threadpool

from stepweave.api.access import Admin, OpenWorkflow
from stepweave.api.answers import answer
from stepweave.api.body import JsonObject
from stepweave.api.context import ApiContext
from stepweave.api.errors import language_of
from stepweave.api.paging import PageNumber, PageSize, Search, cut
from stepweave.api.routes_workflows import shown
from stepweave.store.workflows import Workflow

router = APIRouter(tags=["definitions"])

_PLANNER: dict[str, Any] = {
    "type": "object",
    "description": "For AGENTIC only: the model that decides which node runs next.",
    "required": ["model"],
    "properties": {
        "model": {"type": "string", "description": "`provider:model`."},
        "instructions": {"type": "string", "description": "The goal, and how to reach it; a template."},
        "maxVisits": {"type": "integer", "default": 200, "description": "Nodes the planner may choose in one run."},
        "maxVisitsPerNode": {"type": "integer", "default": 50},
        "maxSteps": {"type": "integer", "default": 20, "description": "Requests to the model for one decision."},
        "allowOffCanvas": {
            "type": "boolean",
            "default": False,
            "description": "Whether it may give instructions of its own.",
        },
        "script": {"type": "array", "items": {}, "description": "What a scripted model plays."},
    },
}

_DEFINITION = {
    "requestBody": {
        "required": True,
        "content": {
            "application/json": {
                "schema": {
                    "type": "object",
                    "required": ["name", "graphData"],
                    "properties": {
                        "name": {"type": "string", "examples": ["research-report"]},
                        "title": {"type": "string"},
                        "description": {"type": "string"},
                        "mode": {"enum": ["DAG", "AGENTIC"], "default": "DAG"},
                        "graphData": {
                            "type": "object",
                            "properties": {
                                "nodes": {"type": "array", "items": {"type": "object"}},
                                "edges": {"type": "array", "items": {"type": "object"}},
                            },
                        },
                        "planner": _PLANNER,
                    },
                }
            }
        },
    }
}


@router.post("/workflows", summary="Save a new workflow", openapi_extra=_DEFINITION)
async def create(_: Admin, raw: JsonObject, api: ApiContext) -> Response:
    """Validates; what cannot be run is refused with every problem in `data.problems`."""
    return answer(_saved(await run_in_threadpool(api.definitions.create, raw)))


@router.get("/workflows", summary="All workflows")
def workflows(_: Admin, api: ApiContext, page: PageNumber = 1, size: PageSize = 20, search: Search = "") -> Response:
    """By name, each as in the external API, with its latest `version`."""
    found = api.definitions.listed(search, None)
    items = [shown(each) | {"version": each.latest} for each in cut(found, page, size)]
    return answer({"total": len(found), "items": items})


@router.post("/workflows/validate", summary="Problems of a definition, without saving it", openapi_extra=_DEFINITION)
async def validate(request: Request, _: Admin, raw: JsonObject, api: ApiContext) -> Response:
    """All problems that there are, never only the first: `{code, message, nodeId?, edge?}`."""
    problems = await run_in_threadpool(api.definitions.problems, raw)
    told = [problem.to_json(language_of(request)) for problem in problems]
    return answer({"valid": not problems, "problems": told})


@router.get("/workflows/{workflow}", summary="A workflow's definition")
def show(
    _: Admin,
    workflow: OpenWorkflow,
    api: ApiContext,
    version: Annotated[int | None, Query(ge=1, description="The latest by default.")] = None,
) -> Response:
    """The definition as it was saved, with `id`, `version` and `latestVersion`; it may be sent back as it is."""
    return answer(api.definitions.show(workflow, version))


@router.put("/workflows/{workflow}", summary="Save the next version of a workflow", openapi_extra=_DEFINITION)
async def update(_: Admin, workflow: OpenWorkflow, raw: JsonObject, api: ApiContext) -> Response:
    """Runs keep the version that they were created with."""
    return answer(_saved(await run_in_threadpool(api.definitions.update, workflow, raw)))


@router.delete("/workflows/{workflow}", summary="Delete a workflow")
def delete(_: Admin, workflow: OpenWorkflow, api: ApiContext) -> Response:
    """Its runs stay readable."""
    api.definitions.delete(workflow)
    return answer({"id": workflow.workflow_id, "name": workflow.name, "deleted": True})


def _saved(workflow: Workflow) -> dict[str, Any]:
    return {"id": workflow.workflow_id, "name": workflow.name, "version": workflow.latest}
