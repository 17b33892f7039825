"""The API as the stack serves it: API Gateway → Lambda → Mangum, bounded answers instead of streams (contract §5)."""

import json
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import httpx
import pytest

from tests.e2e.conftest import Up
from tests.e2e.server import Server
from tests.functional.api.error_rows import ROWS, Answer, Row, Send, Who, check, prepare


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


@pytest.fixture(scope="module")
def send(gateway: Server) -> Send:
    made = httpx.post(
        f"{gateway.base_url}/api/keys",
        json={"name": "bound", "scopes": ["run"], "workflows": ["error-rows-other"]},
        headers={"X-API-Key": gateway.admin_key},
        timeout=60,
    )
    keys: dict[Who, str | None] = {"run": gateway.key, "admin": gateway.admin_key, "bound": made.json()["data"]["key"]}
    keys["nobody"] = None

    def send(method: str, path: str, body: Any, who: Who, headers: Mapping[str, str]) -> Answer:
        key = keys[who]
        given = ({"X-API-Key": key} if key is not None else {}) | {"Content-Type": "application/json", **headers}
        content = json.dumps(body).encode() if body is not None else None
        answer = httpx.request(method, gateway.base_url + path, content=content, headers=given, timeout=60)
        is_json = answer.headers["content-type"].startswith("application/json")
        return Answer(answer.status_code, answer.headers, answer.text, answer.json() if is_json else None)

    return send


@pytest.fixture(scope="module")
def names(send: Send) -> Mapping[str, Any]:
    return prepare(send, lambda: time.sleep(0.1))


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.code} {row.method} {row.path} {row.who}")
def test_an_error_is_told_as_the_contract_says(send: Send, names: Mapping[str, Any], row: Row) -> None:
    check(row, send, names)
