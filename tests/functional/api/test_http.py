"""What surrounds every call: CORS, request ids, the description of the API (contract §4)."""

import logging

import pytest

from tests.functional.api.stack import Stack

ORIGIN = {"Origin": "https://shop.example"}


def preflight(stack: Stack, header: str) -> tuple[int, str]:
    headers = ORIGIN | {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": header}
    response = stack.call("OPTIONS", "/api/v1/workflows/echo/runs", headers=headers, key="none")
    return response.status_code, response.headers.get("Access-Control-Allow-Origin", "")


@pytest.mark.parametrize(
    "header", ["X-API-Key", "content-type", "Last-Event-ID", "Idempotency-Key", "Accept-Language", "X-View-Token"]
)
def test_browsers_of_every_origin_may_call_with_the_headers_of_the_contract(stack: Stack, header: str) -> None:
    assert preflight(stack, header) == (200, "*")


def test_other_headers_are_not_allowed(stack: Stack) -> None:
    assert preflight(stack, "X-Other")[0] == 400


def test_answers_expose_their_headers_and_never_allow_credentials(stack: Stack) -> None:
    for path, key in [("/api/v1/workflows", None), ("/api/v1/workflows", "wrong"), ("/api/v1/nothing", None)]:
        response = stack.call("GET", path, key=key, headers=ORIGIN)
        assert response.headers["Access-Control-Allow-Origin"] == "*"
        exposed = response.headers["Access-Control-Expose-Headers"]
        assert all(name in exposed for name in ("X-Request-Id", "X-Run-Id", "Retry-After", "RateLimit-Limit"))
        assert "Access-Control-Allow-Credentials" not in response.headers


def test_origins_can_be_configured() -> None:
    stack = Stack(cors_allow_origins="https://shop.example, https://other.example/")
    assert preflight(stack, "X-API-Key") == (200, "https://shop.example")
    answer = stack.call("GET", "/api/v1/workflows", headers={"Origin": "https://other.example"})
    assert answer.headers["Access-Control-Allow-Origin"] == "https://other.example"
    stranger = stack.call("GET", "/api/v1/workflows", headers={"Origin": "https://evil.example"})
    assert "Access-Control-Allow-Origin" not in stranger.headers


def test_every_request_has_an_id_of_its_own_and_a_log_line_without_its_query(
    stack: Stack, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    first = stack.call("GET", "/api/v1/workflows?search=secret")
    second = stack.call("OPTIONS", "/api/v1/workflows", headers=ORIGIN | {"Access-Control-Request-Method": "GET"})
    assert first.headers["X-Request-Id"] != second.headers["X-Request-Id"]
    (line,) = [record for record in caplog.records if vars(record).get("request_id") == first.headers["X-Request-Id"]]
    assert line.getMessage() == "GET /api/v1/workflows 200"
    assert not any("secret" in str(vars(record)) for record in caplog.records if record.name.startswith("stepweave"))


def test_the_description_tells_every_call_and_no_422_of_the_framework(stack: Stack) -> None:
    description = stack.call("GET", "/api/openapi.json").json()
    calls = {(method, path) for path, methods in description["paths"].items() for method in methods}
    assert ("post", "/api/v1/workflows/{workflow}/runs") in calls
    assert ("delete", "/api/keys/{keyId}") in calls
    for path, methods in description["paths"].items():
        for method, call in methods.items():
            assert call["summary"], (method, path)
            for media in call["responses"].get("422", {"content": {}})["content"].values():
                assert set(media["examples"]) == {"GRAPH_INVALID"}, (method, path)
    assert "HTTPValidationError" not in str(description)
    create = description["paths"]["/api/v1/workflows/{workflow}/runs"]["post"]
    assert set(create["requestBody"]["content"]["application/json"]["schema"]["properties"]) == {
        "variables",
        "inputs",
        "async",
        "failStrategy",
        "ttlHours",
        "callbackUrl",
    }
