"""The MCP server at `/mcp`, asked by the MCP client itself (contract §6): in process, and behind Lambda and Mangum."""

import base64
import json
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import Any

import httpx2
import pytest
from mangum import Mangum
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from stepweave import ids
from tests.functional.api.definitions import echo
from tests.functional.api.inside import Inside, go_to
from tests.functional.api.stack import Stack, run_async
from tests.functional.api.test_context_queries import chain, forked
from tests.functional.processes import one_process

URL = "http://test/mcp"


def ask[T](stack: Stack, work: Callable[[Client], Awaitable[T]], transport: Any = None, **headers: str) -> T:
    """What `work` gives with a client that is connected."""
    given = {name.replace("_", "-"): value for name, value in headers.items()} | {"Accept-Language": "en"}

    @asynccontextmanager
    async def connected() -> AsyncIterator[Client]:
        wire = transport or httpx2.ASGITransport(stack.app)
        async with (
            httpx2.AsyncClient(transport=wire, headers=given) as http,
            Client(streamable_http_client(URL, http_client=http)) as client,
        ):
            yield client

    async def asking() -> T:
        async with connected() as client:
            return await work(client)

    return run_async(asking())


def call(
    stack: Stack, name: str, transport: Any = None, /, *, headers: dict[str, str], **arguments: Any
) -> tuple[bool, Any]:
    """Whether the tool succeeded, and its result or what it says."""
    result: Any = ask(stack, lambda client: client.call_tool(name, arguments), transport, **headers)
    text = result.content[0].text
    if result.is_error:
        return False, text
    assert json.loads(text) == result.structured_content
    return True, result.structured_content


@pytest.fixture
def stack() -> Stack:
    return Stack()


@pytest.fixture
def run_id(stack: Stack) -> str:
    stack.save(echo())
    return stack.finish_run("echo", variables={"topic": "tea"})


def key(stack: Stack) -> dict[str, str]:
    return {"X_API_Key": stack.key}


def token(inside: Inside) -> dict[str, str]:
    return {"X_Context_Token": inside.token}


def test_it_offers_the_five_queries_and_says_that_they_only_read(stack: Stack) -> None:
    tools = ask(stack, lambda client: client.list_tools(), **key(stack)).tools
    assert [tool.name for tool in tools] == [
        "get_predecessor_paths",
        "get_node_output",
        "get_node_meta",
        "workflow_context_list",
        "workflow_context_get",
    ]
    assert all(tool.annotations is not None and tool.annotations.read_only_hint for tool in tools)
    assert all("runId" in tool.input_schema["properties"] for tool in tools)


def test_with_an_api_key_a_run_is_named_and_all_that_has_ended_is_seen(stack: Stack, run_id: str) -> None:
    say = ids.visit_uuid(run_id, "say", 1)
    asked = {
        "get_node_output": {"nodeId": "say"},
        "get_node_meta": {"visitUuid": say, "kind": "THINKING"},
        "get_predecessor_paths": {"visitUuid": say},
        "workflow_context_get": {"nodeId": "say", "field": "metadata.model"},
        "workflow_context_list": {},
    }
    told = {}
    for name, arguments in asked.items():
        succeeded, told[name] = call(stack, name, headers=key(stack), runId=run_id, **arguments)
        assert succeeded, told[name]
        assert run_id not in json.dumps(told[name])
    assert told["get_node_output"]["data"] == {"said": "tea"}
    assert told["get_node_meta"]["thinking"] == "hm tea"
    assert told["get_predecessor_paths"]["nodeIds"] == ["in", "say"]
    assert told["workflow_context_get"]["value"] == "scripted:inline"
    assert [node["nodeId"] for node in told["workflow_context_list"]["nodes"]] == ["in", "say", "out"]


def test_what_was_not_taken_and_what_still_runs_is_not_seen(stack: Stack) -> None:
    inside = go_to(stack, forked(), "join")
    _, told = call(stack, "workflow_context_list", headers=key(stack), runId=inside.run.run_id)
    assert {node["nodeId"] for node in told["nodes"]} <= {"in", "if", "x", "s", "beside"}
    for hidden in ("y", "join", "nobody"):
        assert not call(stack, "get_node_output", headers=key(stack), runId=inside.run.run_id, nodeId=hidden)[0]


def test_with_a_context_token_the_run_is_that_of_the_visit(stack: Stack) -> None:
    inside = go_to(stack, chain(), "G")
    _, told = call(stack, "get_predecessor_paths", headers=token(inside))
    assert told["nodeIds"] == ["A", "B", "C", "G"]
    assert call(stack, "get_node_output", headers=token(inside), runId=inside.run.run_id, nodeId="B")[0]
    other = stack.start_run("chain")
    assert not call(stack, "get_node_output", headers=token(inside), runId=other, nodeId="B")[0]
    assert not call(stack, "get_node_output", headers=token(inside), nodeId="out")[0]


@pytest.mark.parametrize(
    ("name", "arguments", "words"),
    [
        ("get_node_output", {"nodeId": "say"}, "runId"),
        ("get_node_output", {"runId": "RUN", "nodeId": "say", "field": "x"}, "said"),
        ("get_node_output", {"runId": "RUN"}, "nodeId"),
        ("get_node_output", {"runId": "RUN", "nodeId": 5}, "nodeId"),
        ("get_node_output", {"runId": ["RUN"], "nodeId": "say"}, "runId"),
        ("get_node_output", {"runId": "00000000", "nodeId": "say"}, "no such run"),
        ("get_node_meta", {"runId": "RUN"}, "visitUuid"),
        ("get_predecessor_paths", {"runId": "RUN"}, "visitUuid"),
        ("get_predecessor_paths", {"runId": "RUN", "visitUuid": {}}, "visitUuid"),
        ("cancel_run", {"runId": "RUN"}, "get_node_meta"),
    ],
)
def test_a_call_that_does_not_fit_is_told_in_words(
    stack: Stack, run_id: str, name: str, arguments: dict[str, Any], words: str
) -> None:
    given = json.loads(json.dumps(arguments).replace("RUN", run_id))
    succeeded, told = call(stack, name, headers=key(stack), **given)
    assert not succeeded
    assert words in told


def test_a_key_that_may_not_call_the_workflow_learns_nothing_of_its_runs(stack: Stack, run_id: str) -> None:
    secret = stack.app.state.api.keys.create("bound", ["run"], ["other"]).secret
    refused = call(stack, "workflow_context_list", headers={"X_API_Key": secret}, runId=run_id)
    unknown = call(stack, "workflow_context_list", headers={"X_API_Key": secret}, runId="00000000")
    assert refused == unknown
    assert not refused[0]


def test_without_a_key_or_a_token_or_with_both_it_is_401(stack: Stack) -> None:
    inside = go_to(stack, chain(), "G")
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    both = {"X-Context-Token": inside.token}
    none = {"X-API-Key": ""}
    for headers in (none, both, {"X-API-Key": "sw-nonsense"}, {"X-API-Key": "", "X-Context-Token": "0" * 48}):
        response = stack.call("POST", "/mcp", body, headers=headers)
        assert (response.status_code, response.json()["code"]) == (401, "UNAUTHORIZED")


def test_a_token_is_worth_nothing_once_its_visit_has_ended(stack: Stack) -> None:
    inside = go_to(stack, chain(), "G")
    stack.drive()
    response = stack.call("POST", "/mcp", {}, headers={"X-API-Key": "", "X-Context-Token": inside.token})
    assert response.status_code == 401


@pytest.mark.parametrize("method", ["GET", "DELETE"])
def test_there_are_no_sessions_to_listen_to_or_to_end(stack: Stack, method: str) -> None:
    response = stack.call(method, "/mcp")
    assert (response.status_code, response.headers["allow"]) == (405, "POST")


def test_switched_off_there_is_no_server() -> None:
    assert Stack(hermes_context_query_enabled=False).call("POST", "/mcp", {}).status_code == 404


@pytest.fixture
def process() -> Iterator[None]:
    with one_process():
        yield


@pytest.mark.usefixtures("process")
@pytest.mark.parametrize("proof", ["key", "token"])
def test_it_answers_behind_api_gateway_and_lambda(run_id: str, stack: Stack, proof: str) -> None:
    """Every request is an invocation of its own, as Mangum takes it from API Gateway."""
    import anyio

    handler = Mangum(stack.app, lifespan="off")

    def invoke(request: httpx2.Request, body: bytes) -> dict[str, Any]:
        event = {
            "version": "2.0",
            "routeKey": "$default",
            "rawPath": request.url.path,
            "rawQueryString": "",
            "headers": dict(request.headers),
            "requestContext": {
                "domainName": "api.example.com",
                "http": {"method": request.method, "path": request.url.path, "sourceIp": "203.0.113.7"},
                "stage": "$default",
            },
            "body": base64.b64encode(body).decode(),
            "isBase64Encoded": True,
        }
        with one_process():
            answer: dict[str, Any] = handler(event, SimpleNamespace(aws_request_id="1"))  # type: ignore[arg-type]
        return answer

    async def send(request: httpx2.Request) -> httpx2.Response:
        answer = await anyio.to_thread.run_sync(invoke, request, await request.aread())
        return httpx2.Response(answer["statusCode"], headers=answer["headers"], content=answer["body"].encode())

    transport = httpx2.MockTransport(send)
    if proof == "key":
        succeeded, told = call(stack, "get_node_output", transport, headers=key(stack), runId=run_id, nodeId="say")
        assert (succeeded, told["data"]) == (True, {"said": "tea"})
    else:
        succeeded, told = call(stack, "get_predecessor_paths", transport, headers=token(go_to(stack, chain(), "G")))
        assert (succeeded, told["nodeIds"]) == (True, ["A", "B", "C", "G"])


def test_a_body_that_no_query_needs_is_refused(stack: Stack) -> None:
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"x": "x" * 70_000}}
    headers = {"Accept": "application/json, text/event-stream"}
    assert stack.call("POST", "/mcp", body, headers=headers).status_code == 413


def test_what_it_tells_never_holds_the_token_it_was_asked_with(stack: Stack, caplog: pytest.LogCaptureFixture) -> None:
    inside = go_to(stack, chain(), "G")
    with caplog.at_level(logging.DEBUG, logger="stepweave"):
        told = [
            call(stack, "get_node_output", headers=token(inside), nodeId=inside.token[:40]),
            call(stack, "get_node_output", headers=token(inside), nodeId="B", field=inside.token),
            call(stack, "workflow_context_list", headers=token(inside)),
        ]
    assert [succeeded for succeeded, _ in told] == [False, False, True]
    logged = " ".join(str(vars(record)) for record in caplog.records if record.name.startswith("stepweave"))
    assert inside.token not in logged
