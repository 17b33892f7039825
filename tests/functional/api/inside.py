"""Standing inside a run, at a visit that is about to be worked on: what a model there may ask, and with which token."""

from dataclasses import dataclass
from typing import Any

import httpx

from stepweave.execution.run import Run
from stepweave.execution.visit import Visit
from tests.functional.api.stack import Stack


@dataclass(frozen=True)
class Inside:
    """`token` is a token of the visit, which runs."""

    stack: Stack
    run: Run
    visit: Visit
    token: str

    def post(self, route: str, body: Any, **headers: str) -> httpx.Response:
        """By way of the API, with the visit's token unless another is given."""
        given = {"X-Context-Token": self.token, **{name.replace("_", "-"): value for name, value in headers.items()}}
        return self.stack.call("POST", f"/internal/context/{route}", body, headers=given)

    def ask(self, route: str, **body: Any) -> tuple[int, Any]:
        """The status, and the data or the message."""
        response = self.post(route, {"runId": self.run.run_id, **body})
        answer = response.json()
        assert list(answer) == ["code", "message", "data"]
        assert answer["code"] == response.status_code
        return response.status_code, answer["data"] if response.status_code == 200 else answer["message"]

    def data(self, route: str, **body: Any) -> Any:
        """What must be answered."""
        status, data = self.ask(route, **body)
        assert status == 200, data
        return data

    def uuid_of(self, node_id: str, iteration: int = 1) -> str:
        [found] = [
            visit.visit_uuid
            for visit in self.stack.engine.store.visits(self.run.run_id)
            if (visit.node_id, visit.iteration) == (node_id, iteration)
        ]
        return found


def go_to(stack: Stack, definition: dict[str, Any], node_id: str, iteration: int = 1, **variables: Any) -> Inside:
    """A run, as far as the visit of a node with an effect that nobody has begun yet."""
    stack.save(definition)
    run_id = stack.start_run(definition["name"], variables=variables)
    while (visit := _open_visit(stack, run_id, node_id, iteration)) is None:
        assert stack.step(), f"the run never comes to visit {iteration} of {node_id}"
    token = stack.engine.context_tokens.issue(visit)
    return Inside(stack, stack.engine.runs.get(run_id), visit, token)


def _open_visit(stack: Stack, run_id: str, node_id: str, iteration: int) -> Visit | None:
    for visit in stack.engine.store.visits(run_id):
        if (visit.node_id, visit.iteration, visit.status) == (node_id, iteration, "RUNNING"):
            return visit
    return None
