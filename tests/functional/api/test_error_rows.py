"""Every error row of the contract, in process and through Mangum as API Gateway calls it (contract §4; seed §14.6)."""

import base64
import json
from collections.abc import Callable, Iterator, Mapping
from types import SimpleNamespace
from typing import Any

import pytest
from mangum import Mangum

from stepweave.api.errors import STATUSES
from stepweave.errors import Unavailable
from tests.functional.api.error_rows import ROWS, Answer, Row, Send, Who, check, prepare
from tests.functional.api.stack import Stack
from tests.functional.processes import one_process

INJECTED = {"RATE_LIMITED": Unavailable("throttled"), "INTERNAL_ERROR": RuntimeError("inside")}
"""What no request brings about by itself."""


class Prepared:
    def __init__(self, transport: Callable[[Stack, Mapping[Who, str | None]], Send], *, live: bool) -> None:
        self.stack = Stack(live=live)
        bound = self.stack.app.state.api.keys.create("bound", ["run"], ["error-rows-other"]).secret
        keys: dict[Who, str | None] = {"run": self.stack.key, "admin": self.stack.admin_key, "bound": bound}
        self.send = transport(self.stack, keys | {"nobody": None})
        self.names = prepare(self.send, self.stack.drive)


def in_process(stack: Stack, keys: Mapping[Who, str | None]) -> Send:
    def send(method: str, path: str, body: Any, who: Who, headers: Mapping[str, str]) -> Answer:
        options = {"content": json.dumps(body).encode()} if body is not None else {}
        given = {"Content-Type": "application/json"} if body is not None else {}
        response = stack.call(method, path, key=keys[who] or "none", headers={**given, **headers}, **options)
        is_json = response.headers["content-type"].startswith("application/json")
        return Answer(response.status_code, response.headers, response.text, response.json() if is_json else None)

    return send


def through_mangum(stack: Stack, keys: Mapping[Who, str | None]) -> Send:
    def send(method: str, path: str, body: Any, who: Who, headers: Mapping[str, str]) -> Answer:
        bare, _, query = path.partition("?")
        given = {"host": "api.example.com", "content-type": "application/json"}
        given |= {name.lower(): value for name, value in headers.items()}
        key = keys[who]
        event = {
            "version": "2.0",
            "routeKey": "$default",
            "rawPath": bare,
            "rawQueryString": query,
            "headers": given | ({"x-api-key": key} if key is not None else {}),
            "requestContext": {
                "http": {"method": method, "path": bare, "protocol": "HTTP/1.1", "sourceIp": "203.0.113.7"},
                "stage": "$default",
            },
            "body": base64.b64encode(json.dumps(body).encode()).decode() if body is not None else "",
            "isBase64Encoded": body is not None,
        }
        context = SimpleNamespace(aws_request_id="invocation-1")
        answer: Any = Mangum(stack.app, lifespan="off")(event, context)  # type: ignore[arg-type]
        is_json = answer["headers"]["content-type"].startswith("application/json")
        text = answer["body"]
        return Answer(answer["statusCode"], answer["headers"], text, json.loads(text) if is_json else None)

    return send


@pytest.fixture(scope="module", params=[in_process, through_mangum], ids=["in process", "through Mangum"])
def prepared(request: pytest.FixtureRequest) -> Iterator[Prepared]:
    with one_process():
        yield Prepared(request.param, live=request.param is in_process)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.code} {row.method} {row.path} {row.who}")
def test_an_error_is_told_as_the_contract_says(prepared: Prepared, row: Row) -> None:
    check(row, prepared.send, prepared.names)


@pytest.mark.parametrize("code", INJECTED)
@pytest.mark.parametrize("rest", ["state", "stream"])
def test_a_fault_behind_the_api_is_told_as_the_contract_says(
    prepared: Prepared, monkeypatch: pytest.MonkeyPatch, code: str, rest: str
) -> None:
    def fail(*_: Any) -> Any:
        raise INJECTED[code]

    monkeypatch.setattr(prepared.stack.engine.store, "get", fail)
    check(Row(code, STATUSES[code], "GET", f"/api/v1/runs/00000000/{rest}"), prepared.send, prepared.names)


def test_the_table_has_every_code() -> None:
    assert {row.code for row in ROWS} | set(INJECTED) == set(STATUSES)
    assert all(STATUSES[row.code] == row.status for row in ROWS)
