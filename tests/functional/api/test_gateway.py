"""The same app behind API Gateway and Lambda, which buffer answers (contract §5): Mangum with API Gateway v2 events."""

import base64
import json
import threading
import time
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlsplit

import pytest
from mangum import Mangum

from tests.functional.api.definitions import asking, definition, echo, much, scripted
from tests.functional.api.stack import Stack, parse
from tests.functional.processes import one_process

TOPIC = {"topic": "hi"}


@pytest.fixture(autouse=True)
def warm_process() -> Iterator[None]:
    with one_process():
        yield


def invoke(stack: Stack, method: str, path: str, body: Any = None, **headers: str) -> dict[str, Any]:
    """One invocation, as API Gateway makes it; the answer as it gets it."""
    bare, _, query = path.partition("?")
    event = {
        "version": "2.0",
        "routeKey": "$default",
        "rawPath": bare,
        "rawQueryString": query,
        "headers": {"x-api-key": stack.key, "accept-language": "en", "host": "api.example.com"}
        | ({"content-type": "application/json"} if body is not None else {})
        | {name.replace("_", "-"): value for name, value in headers.items()},
        "requestContext": {
            "accountId": "000000000000",
            "apiId": "abcde12345",
            "domainName": "api.example.com",
            "http": {
                "method": method,
                "path": bare,
                "protocol": "HTTP/1.1",
                "sourceIp": "203.0.113.7",
                "userAgent": "test",
            },
            "requestId": "gateway-id",
            "routeKey": "$default",
            "stage": "$default",
            "timeEpoch": 0,
        },
        "isBase64Encoded": False,
    }
    if body is not None:
        event |= {"body": base64.b64encode(json.dumps(body).encode()).decode(), "isBase64Encoded": True}
    answer: dict[str, Any] = Mangum(stack.app, lifespan="off")(event, SimpleNamespace(aws_request_id="invocation-1"))  # type: ignore[arg-type]
    assert not answer["isBase64Encoded"]
    assert len(answer["body"].encode()) < 5_000_000
    return answer


def data(answer: dict[str, Any]) -> Any:
    assert answer["statusCode"] == 200, answer["body"]
    return json.loads(answer["body"])["data"]


def test_a_run_is_created_started_and_read_through_the_gateway(gateway: Stack) -> None:
    base = "/api/v1/workflows/echo/runs"
    run_id = data(invoke(gateway, "POST", base, {"variables": TOPIC}))["runId"]
    assert data(invoke(gateway, "POST", f"{base}/{run_id}/start"))["status"] == "RUNNING"
    gateway.drive()
    assert data(invoke(gateway, "GET", f"{base}/{run_id}"))["outputs"]["data"] == {"said": "hi"}


def test_the_request_id_is_the_invocations(gateway: Stack) -> None:
    answer = invoke(gateway, "GET", "/api/v1/workflows")
    assert answer["headers"]["x-request-id"] == "invocation-1"


def test_a_stream_answers_with_what_there_is_and_is_taken_up_by_its_last_id(gateway: Stack) -> None:
    run_id = gateway.start_run("echo", variables=TOPIC)
    path = f"/api/v1/runs/{run_id}/stream"
    told: list[Any] = []
    for _ in range(20):
        gateway.step()
        answer = invoke(gateway, "GET", path, last_event_id=str(told[-1][0]) if told else "0")
        if answer["statusCode"] == 204:
            break
        assert answer["headers"]["content-type"].startswith("text/event-stream")
        assert answer["body"].startswith("retry: ")
        told += parse(answer["body"])
    else:
        pytest.fail("the stream never ended")
    assert [number for number, _, _ in told] == list(range(1, len(told) + 1))
    assert told[-1][1] == "workflow_complete"


def test_a_stream_waits_for_something_and_then_answers_at_once(gateway: Stack) -> None:
    run_id = gateway.create_run("echo", variables=TOPIC)
    path = f"/api/v1/runs/{run_id}/stream"
    began = time.monotonic()
    nothing = invoke(gateway, "GET", path)
    assert 0.25 < time.monotonic() - began < 5
    assert nothing["statusCode"] == 200
    assert (parse(nothing["body"]), "retry: " in nothing["body"]) == ([], True)
    starting = threading.Timer(0.1, gateway.engine.starting.start, [gateway.engine.runs.get(run_id)])
    starting.start()
    assert parse(invoke(gateway, "GET", path)["body"])
    starting.join()


def test_while_a_run_waits_for_a_person_an_answer_comes_at_once_and_the_next_is_asked_for_later(gateway: Stack) -> None:
    run_id = gateway.start_run(gateway.save(asking()))
    gateway.drive()
    path = f"/api/v1/runs/{run_id}/stream"
    asked = invoke(gateway, "GET", path)
    assert asked["body"].startswith("retry: 200\n")
    told = parse(asked["body"])
    question = next(data["data"] for _, _, data in told if data.get("kind") == "clarify_request")
    last = str(told[-1][0])
    began = time.monotonic()
    waiting = invoke(gateway, "GET", path, last_event_id=last)
    assert time.monotonic() - began < 0.25  # else it is held for 0.3 seconds
    assert (waiting["body"].startswith("retry: 5000\n"), parse(waiting["body"])) == (True, [])
    body = {"clarifyId": question["clarifyId"], "answer": "this"}
    assert data(invoke(gateway, "POST", f"/api/v1/runs/{run_id}/resume", body))["accepted"]
    gateway.drive()
    assert parse(invoke(gateway, "GET", path, last_event_id=last)["body"])[-1][1] == "workflow_complete"


def test_a_run_that_waits_for_a_person_in_one_branch_only_is_followed_closely(gateway: Stack) -> None:
    nodes = {"in": {"type": "userInput"}, "ask": {"type": "asker", "ask": {"question": "?"}}, "say": scripted("x")}
    edges = [("in", "ask"), ("in", "say"), ("ask", "out"), ("say", "out")]
    run_id = gateway.start_run(gateway.save(definition("both", nodes | {"out": {"type": "output"}}, edges)))
    while not gateway.engine.asks.open(run_id):
        gateway._step(next(name for name, step in gateway.chains.running.items() if step["nodeId"] != "say"))
    run = gateway.engine.runs.get(run_id)
    assert run.running == 2
    assert not gateway.engine.asks.hold_everything(run)
    gateway.drive()
    assert gateway.engine.asks.hold_everything(gateway.engine.runs.get(run_id))


def test_a_run_in_one_call_answers_with_its_first_events_and_where_to_go_on(gateway: Stack) -> None:
    with gateway.driven():
        answer = invoke(gateway, "POST", "/api/v1/workflows/echo/runs", {"variables": TOPIC, "async": False})
        run_id = answer["headers"]["x-run-id"]
        assert answer["headers"]["link"] == f'</api/v1/workflows/echo/runs/{run_id}/stream>; rel="stream"'
        told = parse(answer["body"])
        while told[-1][1] != "workflow_complete":
            told += parse(
                invoke(gateway, "GET", f"/api/v1/runs/{run_id}/stream", last_event_id=str(told[-1][0]))["body"]
            )
    assert [number for number, _, _ in told] == list(range(1, len(told) + 1))


def test_a_stream_cut_at_any_event_and_resumed_gives_the_same_events(gateway: Stack) -> None:
    path = f"/api/v1/runs/{gateway.finish_run('echo', variables=TOPIC)}/stream"
    whole = parse(invoke(gateway, "GET", path)["body"])
    for cut in range(len(whole)):
        assert whole[:cut] + parse(invoke(gateway, "GET", path, last_event_id=str(cut))["body"]) == whole
    assert invoke(gateway, "GET", path, last_event_id=str(len(whole)))["statusCode"] == 204


def test_an_error_on_a_stream_keeps_its_status(gateway: Stack) -> None:
    answer = invoke(gateway, "GET", "/api/v1/runs/00000000/stream")
    assert answer["statusCode"] == 404
    assert parse(answer["body"])[0][2]["code"] == "RUN_NOT_FOUND"


def test_streams_and_results_of_any_run_stay_under_5_mb(gateway: Stack) -> None:
    gateway.save(much("much", *[900_000] * 8))
    run_id = gateway.finish_run("much")
    told: list[Any] = []
    while not told or told[-1][1] != "workflow_complete":
        last = str(told[-1][0]) if told else "0"
        told += parse(invoke(gateway, "GET", f"/api/v1/runs/{run_id}/stream", last_event_id=last)["body"])
    assert [number for number, _, _ in told] == list(range(1, len(told) + 1))
    assert invoke(gateway, "GET", f"/api/v1/workflows/much/runs/{run_id}")["statusCode"] == 200


@pytest.mark.parametrize("rest", ["output", "nodes/much0/output"])
def test_an_output_too_large_for_the_gateway_is_read_by_way_of_object_storage(gateway: Stack, rest: str) -> None:
    gateway.save(much("much", 6_000_000))
    run_id = gateway.finish_run("much")
    answer = invoke(gateway, "GET", f"/api/v1/workflows/much/runs/{run_id}/{rest}")
    assert answer["statusCode"] == 302
    name = urlsplit(answer["headers"]["location"]).path.removeprefix("/")
    assert name.startswith(f"runs/{run_id}/")
    stored = json.loads(gateway.blobs.get(name) or b"")
    assert (stored["code"], len(stored["data"]["data"]["result"])) == ("OK", 6_000_000)


def test_warm_invocations_follow_one_another(gateway: Stack) -> None:
    gateway.save(echo("second"))
    assert [data(invoke(gateway, "GET", "/api/v1/workflows"))["total"] for _ in range(3)] == [2, 2, 2]


def test_an_event_source_that_is_cut_after_every_single_event_misses_and_repeats_nothing(gateway: Stack) -> None:
    """It takes one event of each answer, then its connection is cut; meanwhile the run goes on."""
    run_id = gateway.start_run("echo", variables=TOPIC)
    path = f"/api/v1/runs/{run_id}/stream"
    told: list[Any] = []
    while (answer := invoke(gateway, "GET", path, last_event_id=str(len(told))))["statusCode"] != 204:
        told += parse(answer["body"])[:1]
        gateway.step()
    whole = parse(invoke(gateway, "GET", path)["body"])
    assert told == whole
    for cut in range(len(whole)):
        assert whole[:cut] + parse(invoke(gateway, "GET", path, last_event_id=str(cut))["body"]) == whole
