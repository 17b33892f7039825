"""The API as the stack serves it: API Gateway → Lambda → Mangum, bounded answers instead of streams (contract §5)."""

from dataclasses import replace

import httpx
import pytest

from tests.e2e.conftest import Up
from tests.e2e.server import Server


@pytest.fixture(scope="module")
def gateway(up: tuple[Up, Server]) -> Server:
    """The same server, reached through the emulator's gateway."""
    process, server = up
    (api,) = process.client("apigatewayv2").get_apis()["Items"]
    return replace(server, base_url=f"{process.endpoint_url()}/_aws/execute-api/{api['ApiId']}/$default")


def test_a_run_is_created_started_and_followed_in_bounded_answers(gateway: Server) -> None:
    run_id = gateway.start("research-report", {"topic": "tea"})
    end = gateway.finish(run_id, seconds=120)
    assert end["type"] == "workflow_complete"
    assert end["output"]["data"]


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "code"),
    [
        ("GET", "/api/v1/workflows", None, 401, "UNAUTHORIZED"),
        ("GET", "/api/v1/workflows/no-such-thing/runs", None, 404, "WORKFLOW_NOT_FOUND"),
        ("GET", "/api/v1/runs/nonsense/state", None, 400, "VALIDATION_FAILED"),
        ("GET", "/api/v1/runs/00000000/state", None, 404, "RUN_NOT_FOUND"),
        ("POST", "/api/v1/workflows/research-report/runs", ["no", "object"], 400, "VALIDATION_FAILED"),
        ("GET", "/nowhere", None, 404, "NOT_FOUND"),
        ("PATCH", "/api/v1/workflows", None, 405, "METHOD_NOT_ALLOWED"),
    ],
)
def test_errors_are_the_contracts(
    gateway: Server, method: str, path: str, body: object, status: int, code: str
) -> None:
    headers = {} if code == "UNAUTHORIZED" else {"X-API-Key": gateway.key}
    answer = httpx.request(method, gateway.base_url + path, json=body, headers=headers, timeout=60)
    assert (answer.status_code, answer.json()["code"]) == (status, code)
    assert answer.json()["message"]
    assert answer.headers["X-Request-Id"]
