"""Runs over all workflows that a key may call: the API lists and shows them workflow by workflow."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from stepweave_local.addresses import path
from stepweave_local.command_error import ServerRefused
from stepweave_local.workflow_list import callable_workflows

if TYPE_CHECKING:
    from stepweave_local.client import Client

Run = Mapping[str, Any]


def newest_runs(client: "Client", workflows: Iterable[str], limit: int, status: str | None) -> list[Run]:
    """The newest runs of the workflows together, as lists show them."""
    query: dict[str, str | int] = {"limit": limit} | ({"status": status} if status else {})
    found: list[Run] = []
    for workflow in workflows:
        page = client.call("GET", path("api", "v1", "workflows", workflow, "runs"), query=query)
        found += [{"workflow": workflow, **run} for run in page["items"]]
    return sorted(found, key=lambda run: str(run.get("createdAt")), reverse=True)[:limit]


def find_run(client: "Client", run_id: str) -> Run:
    """A run's result, with the name of its `workflow`. Raises `ServerRefused` for a run that there is not."""
    client.call("GET", path("api", "v1", "runs", run_id, "state"))
    for workflow in callable_workflows(client):
        name = str(workflow["name"])
        try:
            return {"workflow": name, **client.call("GET", path("api", "v1", "workflows", name, "runs", run_id))}
        except ServerRefused as refused:
            if refused.refusal != "RUN_NOT_FOUND":
                raise
    return {"workflow": "", **client.call("GET", path("api", "run-history", "runs", run_id), admin=True)}
