"""Requests made from the description by schemathesis: no fault of ours, and no answer that the description does not tell."""

import json
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from docs import openapi
from tests.functional.api.definitions import asking, echo
from tests.functional.api.stack import Stack

EXAMPLES = 5
CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]
CALLS = [
    (method.upper(), path)
    for path, methods in json.loads(openapi.PAGE.read_text("utf-8"))["paths"].items()
    for method in methods
]


class Described:
    """A deployment with something to name by most placeholders of a path, and the description that it gives."""

    def __init__(self) -> None:
        self.stack = Stack(hermes_context_query_public=True, rate_limit_requests_per_minute=0)
        self.stack.save(echo())
        self.stack.save(asking())
        run_id = self.stack.finish_run("echo", variables={"topic": "tea"})
        sid = self.stack.data("POST", "/api/chat/sessions", {"workflow": "echo"}, admin=True)["sessionId"]
        self.names = {"workflow": "echo", "runId": run_id, "nodeId": "say", "id": run_id, "sid": sid}
        self.schema = schemathesis.openapi.from_asgi("/api/openapi.json", self.stack.app)

    def ask(self, method: str, path: str, names: dict[str, str]) -> None:
        """A handful of requests of this call, whose placeholders `names` fill where they are given."""

        @seed(7)
        @settings(
            max_examples=EXAMPLES,
            deadline=None,
            database=None,
            phases=[Phase.explicit, Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(case=self.schema[path][method].as_strategy())
        def ask(case: Any) -> None:
            case.path_parameters = {**(case.path_parameters or {}), **names}
            case.headers = {**(case.headers or {}), "X-API-Key": self.stack.admin_key}
            case.validate_response(case.call(), checks=CHECKS)

        ask()
        self.stack.drive()


@pytest.fixture(scope="module")
def described() -> Described:
    return Described()


@pytest.mark.parametrize(("method", "path"), CALLS)
def test_a_request_of_any_form_is_answered_as_described(described: Described, method: str, path: str) -> None:
    described.ask(method, path, {})


@pytest.mark.parametrize(("method", "path"), [call for call in CALLS if "{" in call[1]])
def test_a_request_for_what_is_there_is_answered_as_described(described: Described, method: str, path: str) -> None:
    described.ask(method, path, {name: value for name, value in described.names.items() if f"{{{name}}}" in path})
