"""Every error of the API (contract §4): its status, its shape, its languages, and what it does not tell."""

import json
from typing import Any

import httpx
import pytest

from tests.functional.api.definitions import echo
from tests.functional.api.stack import Reading, Stack, parse, run_async

RUNS = "/api/v1/workflows/echo/runs"
NO_RUN = "/api/v1/workflows/echo/runs/00000000"


def refused(response: httpx.Response, status: int, code: str) -> str:
    """The message of an answer that must be this refusal."""
    assert response.status_code == status, response.text
    answer = response.json()
    assert set(answer) == {"code", "message", "data"}
    assert answer["code"] == code
    assert answer["message"]
    if code != "GRAPH_INVALID":
        assert answer["data"] is None
    assert response.headers["X-Request-Id"]
    return str(answer["message"])


@pytest.mark.parametrize("key", [None, "", "sw-wrong", "x" * 5000, "钥匙"])
def test_a_missing_or_wrong_key_is_unauthorized_before_anything_else_is_judged(stack: Stack, key: str | None) -> None:
    headers = {} if key is None else {b"X-API-Key": key.encode()}
    transport = httpx.ASGITransport(stack.app)

    async def ask(method: str, path: str, **options: Any) -> httpx.Response:
        async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
            return await client.request(method, path, headers=headers, **options)

    for method, path in [
        ("GET", "/api/v1/workflows?page=0"),
        ("GET", "/api/v1/workflows/NOT-valid/runs"),
        ("GET", "/api/v1/runs/xyz/state"),
        ("POST", "/api/v1/runs/00000000/resume"),
        ("GET", "/api/keys"),
    ]:
        assert refused(run_async(ask(method, path)), 401, "UNAUTHORIZED") == "API Key 缺失或无效"
    assert refused(run_async(ask("POST", RUNS, content=b"{")), 401, "UNAUTHORIZED")


def test_a_key_of_scope_run_may_not_use_the_platforms_api(stack: Stack) -> None:
    for method, path in [
        ("GET", "/api/workflows"),
        ("POST", "/api/workflows"),
        ("GET", "/api/workflows/echo"),
        ("PUT", "/api/workflows/echo"),
        ("DELETE", "/api/workflows/echo"),
        ("POST", "/api/workflows/validate"),
        ("POST", "/api/workflows/echo/run"),
        ("GET", "/api/workflows/runs/00000000/state"),
        ("POST", "/api/workflows/runs/00000000/resume"),
        ("POST", "/api/runs/00000000/redrive"),
        ("GET", "/api/keys"),
        ("POST", "/api/keys"),
        ("DELETE", "/api/keys/key-000000000000"),
    ]:
        refused(stack.call(method, path, {} if method in ("POST", "PUT") else None), 401, "UNAUTHORIZED")


def test_messages_are_chinese_by_default_and_english_by_choice(stack: Stack) -> None:
    chinese = stack.call("GET", NO_RUN, headers={"Accept-Language": ""})
    assert refused(chinese, 404, "RUN_NOT_FOUND") == "运行 00000000 不存在或已过期"
    assert "there is no run" in refused(stack.call("GET", NO_RUN), 404, "RUN_NOT_FOUND")


@pytest.mark.parametrize(
    ("method", "path", "code"),
    [
        ("GET", "/api/v1/workflows/none/runs", "WORKFLOW_NOT_FOUND"),
        ("POST", "/api/v1/workflows/none/runs", "WORKFLOW_NOT_FOUND"),
        ("POST", "/api/v1/workflows/99/runs", "WORKFLOW_NOT_FOUND"),
        ("GET", "/api/v1/workflows/none/runs/00000000", "WORKFLOW_NOT_FOUND"),
        ("GET", NO_RUN, "RUN_NOT_FOUND"),
        ("POST", f"{NO_RUN}/start", "RUN_NOT_FOUND"),
        ("GET", "/api/v1/runs/00000000/state", "RUN_NOT_FOUND"),
        ("GET", "/api/v1/runs/00000000/events", "RUN_NOT_FOUND"),
        ("POST", "/api/v1/runs/00000000/cancel", "RUN_NOT_FOUND"),
        ("GET", "/api/v1/nothing", "NOT_FOUND"),
        ("GET", "/nothing", "NOT_FOUND"),
        ("GET", "/api/v1/workflows/", "NOT_FOUND"),
    ],
)
def test_what_does_not_exist_is_not_found(stack: Stack, method: str, path: str, code: str) -> None:
    refused(stack.call(method, path, {} if method == "POST" else None), 404, code)


def test_a_run_of_another_workflow_than_the_path_says_is_not_found(stack: Stack) -> None:
    stack.save(echo("other"))
    run_id = stack.create_run("other")
    for method, rest in [("GET", ""), ("GET", "/output"), ("GET", "/nodes/say/logs"), ("POST", "/start")]:
        refused(stack.call(method, f"{RUNS}/{run_id}{rest}"), 404, "RUN_NOT_FOUND")


def test_an_unknown_node_is_not_found(stack: Stack) -> None:
    run_id = stack.create_run("echo")
    for rest in ("logs", "output"):
        refused(stack.call("GET", f"{RUNS}/{run_id}/nodes/ghost/{rest}"), 404, "NODE_NOT_FOUND")


@pytest.mark.parametrize(
    ("method", "path", "named"),
    [
        ("GET", "/api/v1/workflows/Not-Kebab/runs", "workflow"),
        ("GET", f"/api/v1/workflows/{'a' * 65}/runs", "workflow"),
        ("GET", "/api/v1/workflows/研究/runs", "workflow"),
        ("GET", f"{RUNS}/12345678X", "runId"),
        ("GET", f"{RUNS}/ABCDEF01", "runId"),
        ("GET", "/api/v1/runs/1234567/state", "runId"),
        ("GET", f"{NO_RUN}/nodes/a__b/logs", "runId"),
        ("GET", "/api/v1/workflows?page=0", "page"),
        ("GET", "/api/v1/workflows?page=x", "page"),
        ("GET", "/api/v1/workflows?size=101", "size"),
        ("GET", f"{RUNS}?limit=0", "limit"),
        ("GET", f"{RUNS}?status=DONE", "status"),
        ("GET", f"{RUNS}?cursor=%00", "cursor"),
        ("GET", f"{RUNS}?cursor=bm8", "cursor"),
        ("GET", f"{RUNS}?cursor=WzEsMl0", "cursor"),
    ],
)
def test_ids_and_parameters_of_a_wrong_form_are_refused_by_name(
    stack: Stack, method: str, path: str, named: str
) -> None:
    if "nodes" in path:
        path, named = path.replace("00000000", stack.create_run("echo")), "nodeId"
    assert named in refused(stack.call(method, path), 400, "VALIDATION_FAILED")


@pytest.mark.parametrize(
    ("query", "named"),
    [
        ("after=-1", "after"),
        ("after=1.5", "after"),
        ("limit=1001", "limit"),
        ("limit=0", "limit"),
        ("waitSeconds=26", "waitSeconds"),
        ("waitSeconds=nan", "waitSeconds"),
    ],
)
def test_parameters_of_event_pages_are_bounded(stack: Stack, query: str, named: str) -> None:
    run_id = stack.create_run("echo")
    response = stack.call("GET", f"/api/v1/runs/{run_id}/events?{query}")
    assert named in refused(response, 400, "VALIDATION_FAILED")


@pytest.mark.parametrize("visit", ["x", "1", "00000000-0000-0000-0000-00000000000g"])
def test_a_visit_id_must_be_a_uuid(stack: Stack, visit: str) -> None:
    path = f"{RUNS}/{stack.create_run('echo')}/nodes/say/logs?visitUuid={visit}"
    assert "visitUuid" in refused(stack.call("GET", path), 400, "VALIDATION_FAILED")


@pytest.mark.parametrize(
    ("body", "named"),
    [
        ({"variables": []}, "variables"),
        ({"variables": "x"}, "variables"),
        ({"inputs": 1}, "inputs"),
        ({"async": "true"}, "async"),
        ({"async": 1}, "async"),
        ({"failStrategy": "retry"}, "failStrategy"),
        ({"ttlHours": 0}, "ttlHours"),
        ({"ttlHours": True}, "ttlHours"),
        ({"ttlHours": "1"}, "ttlHours"),
        ({"ttlHours": 1e9}, "ttlHours"),
        ({"callbackUrl": "http://example.com"}, "callbackUrl"),
        ({"callbackUrl": ["https://example.com"]}, "callbackUrl"),
        ({"inputs": {"uploadedFiles": [["a.txt"]]}}, "uploadedFiles"),
        ({"variable": {}}, "variable "),
        ({"variables": {"deep": json.loads("[" * 150 + "]" * 150)}}, "deep"),
    ],
)
def test_a_wrong_field_of_a_new_run_is_refused_by_name(stack: Stack, body: Any, named: str) -> None:
    assert named in refused(stack.call("POST", RUNS, body), 400, "VALIDATION_FAILED")


def test_all_wrong_fields_are_told_at_once(stack: Stack) -> None:
    message = refused(stack.call("POST", RUNS, {"async": 1, "ttlHours": -1, "typo": 1}), 400, "VALIDATION_FAILED")
    assert all(name in message for name in ("async", "ttlHours", "typo"))


@pytest.mark.parametrize(
    "content",
    [
        b"{",
        b"not json",
        b"[]",
        b'"text"',
        b"null",
        b"1",
        b'{"variables": {"x": NaN}}',
        b'{"variables": {"x": Infinity}}',
        b'{"variables": {"x": 1e999}}',
        b'{"variables": {"x": "\\ud800"}}',
        b'{"variables": {"x": ' + b"9" * 5000 + b"}}",
        b'{"variables": "\xff\xfe"}',
        b"[" * 200_000,
        b'{"a":' * 100_000,
    ],
    ids=range(14),
)
def test_a_body_that_is_no_json_object_is_refused(stack: Stack, content: bytes) -> None:
    response = stack.call("POST", RUNS, content=content, headers={"Content-Type": "application/json"})
    refused(response, 400, "VALIDATION_FAILED")


@pytest.mark.parametrize("name", ["", "with space", "ü", "x" * 256, "a\tb"])
def test_an_idempotency_key_is_short_and_visible(stack: Stack, name: str) -> None:
    headers = {b"Idempotency-Key": name.encode("latin-1")}
    transport = httpx.ASGITransport(stack.app)

    async def ask() -> httpx.Response:
        async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
            return await client.post(RUNS, json={}, headers={b"X-API-Key": stack.key.encode(), **headers})

    assert "Idempotency-Key" in refused(run_async(ask()), 400, "VALIDATION_FAILED")


@pytest.mark.parametrize("given", ["text/plain", "application/x-www-form-urlencoded", "application/xml", "json"])
def test_other_content_types_are_not_supported(stack: Stack, given: str) -> None:
    response = stack.call("POST", RUNS, content=b"{}", headers={"Content-Type": given})
    refused(response, 415, "UNSUPPORTED_MEDIA_TYPE")


@pytest.mark.parametrize("given", ["application/json", "Application/JSON; charset=utf-8", "application/problem+json"])
def test_json_content_types_are_taken(stack: Stack, given: str) -> None:
    assert stack.call("POST", RUNS, content=b"\xef\xbb\xbf{}", headers={"Content-Type": given}).status_code == 200


def test_other_methods_are_not_allowed_and_the_allowed_ones_are_named(stack: Stack) -> None:
    response = stack.call("DELETE", "/api/v1/workflows")
    refused(response, 405, "METHOD_NOT_ALLOWED")
    assert "GET" in response.headers["Allow"]
    refused(stack.call("PATCH", "/api/workflows/echo"), 405, "METHOD_NOT_ALLOWED")


def test_a_body_that_announces_more_than_6_mb_is_refused_unread(stack: Stack) -> None:
    read = 0

    async def ask() -> Reading:
        reading = Reading(stack.app, RUNS, {"x-api-key": stack.key, "content-length": "6000001"})
        reading._scope["method"] = "POST"

        async def receive() -> dict[str, Any]:
            nonlocal read
            read += 1
            return {"type": "http.request", "body": b"x" * 1000, "more_body": True}

        reading._receive = receive  # type: ignore[method-assign]
        await reading.begin()
        await reading.whole()
        return reading

    reading = run_async(ask())
    assert (reading.status, json.loads(reading.text)["code"]) == (413, "PAYLOAD_TOO_LARGE")
    assert read == 0


def test_a_body_that_does_not_tell_its_size_is_read_up_to_6_mb_only(stack: Stack) -> None:
    sent = 0

    async def chunks() -> Any:
        nonlocal sent
        for _ in range(100):
            sent += 1
            yield b" " * 1_000_000

    refused(stack.call("POST", RUNS, content=chunks()), 413, "PAYLOAD_TOO_LARGE")
    assert stack.call("POST", RUNS, content=b" " * 5_999_998 + b"{}").status_code == 200
    assert stack.call("POST", RUNS, content=b" " * 5_999_999 + b"{}").status_code == 413


def test_a_taken_name_is_refused(stack: Stack) -> None:
    refused(stack.call("POST", "/api/workflows", echo(), admin=True), 409, "NAME_TAKEN")


@pytest.mark.parametrize("name", ["runs", "validate", "Bad Name", ""])
def test_a_workflow_cannot_take_a_name_that_paths_use(stack: Stack, name: str) -> None:
    refused(stack.call("POST", "/api/workflows", echo(name), admin=True), 422, "GRAPH_INVALID")


def test_a_version_that_does_not_exist_is_not_found(stack: Stack) -> None:
    refused(stack.call("GET", "/api/workflows/echo?version=2", admin=True), 404, "WORKFLOW_NOT_FOUND")


# Faults of ours


def test_a_fault_of_ours_is_told_without_anything_from_inside(
    stack: Stack, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("secret table name")

    monkeypatch.setattr(stack.engine.store, "get", fail)
    response = stack.call("GET", "/api/v1/runs/00000000/state", headers={"Origin": "https://shop.example"})
    message = refused(response, 500, "INTERNAL_ERROR")
    assert "secret" not in response.text
    assert response.headers["X-Request-Id"] in message
    assert response.headers["Access-Control-Allow-Origin"] == "*"
    assert any(response.headers["X-Request-Id"] in record.getMessage() for record in caplog.records if record.exc_info)


def test_a_store_that_cannot_serve_now_asks_for_patience(stack: Stack, monkeypatch: pytest.MonkeyPatch) -> None:
    from stepweave.errors import Unavailable

    def fail(*_: object) -> None:
        raise Unavailable("the store answered ThrottlingException")

    monkeypatch.setattr(stack.engine.store, "get", fail)
    response = stack.call("GET", "/api/v1/runs/00000000/state")
    assert "Throttling" not in refused(response, 429, "RATE_LIMITED")
    assert response.headers["Retry-After"] == "1"


# On streams


@pytest.mark.parametrize(
    ("path", "headers", "status", "code"),
    [
        ("/api/v1/runs/00000000/stream", {"X-API-Key": "wrong"}, 401, "UNAUTHORIZED"),
        ("/api/v1/runs/00000000/stream", {}, 404, "RUN_NOT_FOUND"),
        ("/api/v1/runs/zzz/stream", {}, 400, "VALIDATION_FAILED"),
        ("/api/v1/workflows/none/runs/00000000/stream", {}, 404, "WORKFLOW_NOT_FOUND"),
        ("/api/v1/workflows/echo/runs/00000000/stream", {}, 404, "RUN_NOT_FOUND"),
        ("/api/workflows/runs/00000000/stream", {}, 401, "UNAUTHORIZED"),
    ],
)
def test_an_error_on_a_streaming_path_keeps_its_status_and_is_one_event(
    stack: Stack, path: str, headers: dict[str, str], status: int, code: str
) -> None:
    response = stack.call("GET", path, headers=headers)
    assert response.status_code == status
    assert response.headers["Content-Type"].startswith("text/event-stream")
    ((number, kind, data),) = parse(response.text)
    assert (number, kind) == (None, "workflow_error")
    assert (data["type"], data["success"], data["code"]) == ("workflow_error", False, code)
    assert data["error"]
    assert response.headers["X-Request-Id"]


@pytest.mark.parametrize("given", ["x", "-1", "1.5", "9" * 30, "１"])
def test_a_last_event_id_of_a_wrong_form_is_refused(stack: Stack, given: str) -> None:
    run_id = stack.create_run("echo")
    response = stack.call("GET", f"/api/v1/runs/{run_id}/stream", params={"lastEventId": given})
    assert response.status_code == 400
    assert "lastEventId" in parse(response.text)[0][2]["error"]
