"""The client of the context router believes nothing, follows nothing, and keeps its token to itself (seed §9)."""

import asyncio
import json
import logging
from collections.abc import Callable
from typing import Any

import httpx2
import pytest

from stepweave.agents.tools import context_client
from stepweave.agents.tools.context_client import ContextClient
from stepweave.agents.tools.toolbox import ToolFailed
from stepweave.execution.context_query import ContextQuery

TOKEN = "0123456789abcdef" * 3
URL = "http://127.0.0.1:4321"

Handler = Callable[[httpx2.Request], Any]


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(context_client, "PAUSE_SECONDS", 0.001)


def answer(data: Any, code: int = 200, **headers: str) -> httpx2.Response:
    body = {"code": code, "message": "success" if code == 200 else "why not", "data": data}
    return httpx2.Response(code, json=body, headers={name.replace("_", "-"): v for name, v in headers.items()})


class Router:
    """Answers in memory; `requests` are those that came."""

    def __init__(self, *handlers: Handler) -> None:
        self._handlers = list(handlers)
        self.requests: list[httpx2.Request] = []

    async def __call__(self, request: httpx2.Request) -> httpx2.Response:
        self.requests.append(request)
        handler = self._handlers.pop(0) if len(self._handlers) > 1 else self._handlers[0]
        made = handler(request)
        return await made if asyncio.iscoroutine(made) else made

    def ask(self, route: str = "output", base_url: str = URL, **body: Any) -> dict[str, Any]:
        async def asking() -> dict[str, Any]:
            query = ContextQuery(base_url, TOKEN, "0000c0de", "v4")
            client = ContextClient(query, "en", httpx2.MockTransport(self))
            try:
                return await client.ask(route, body)
            finally:
                await client.close()

        return asyncio.run(asking())

    def refuse(self, **options: Any) -> str:
        with pytest.raises(ToolFailed) as refused:
            self.ask(**options)
        return f"{refused.value.text.zh} {refused.value.text.en}"


def always(response: Callable[[], httpx2.Response]) -> Router:
    return Router(lambda _: response())


def test_a_query_carries_the_token_in_its_header_and_the_run_in_its_body() -> None:
    router = always(lambda: answer({"nodeId": "B", "data": 1}))
    assert router.ask(nodeId="B", field=None) == {"nodeId": "B", "data": 1}
    [request] = router.requests
    assert str(request.url) == f"{URL}/internal/context/output"
    assert json.loads(request.content) == {"runId": "0000c0de", "nodeId": "B", "field": None}
    assert request.headers.get_list("x-context-token") == [TOKEN]
    assert TOKEN not in str(request.url)


@pytest.mark.parametrize(
    "base_url", ["http://127.0.0.1:1", "http://127.9.9.9", "http://localhost:1/", "http://[::1]:1"]
)
def test_this_machine_is_asked(base_url: str) -> None:
    assert always(lambda: answer({})).ask(base_url=base_url) == {}


@pytest.mark.parametrize(
    "base_url",
    [
        "http://example.com",
        "http://10.0.0.1",
        "http://169.254.169.254",
        "http://0.0.0.0",
        "http://127.0.0.1.nip.io",
        "http://localhost.example.com",
        "http://user:pass@127.0.0.1",
        "http://127.0.0.1@example.com",
        "https://127.0.0.1",
        "ftp://127.0.0.1",
        "//127.0.0.1",
        "http://127.0.0.1/elsewhere",
        "http://2130706433",
        "",
        "nonsense",
    ],
)
def test_anybody_else_is_never_asked_and_a_warning_is_logged(base_url: str, caplog: pytest.LogCaptureFixture) -> None:
    router = always(lambda: answer({}))
    router.refuse(base_url=base_url)
    assert router.requests == []
    assert [record.levelno for record in caplog.records] == [logging.WARNING]
    assert TOKEN not in caplog.text


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_not_followed(status: int) -> None:
    router = always(lambda: httpx2.Response(status, headers={"Location": f"{URL}/elsewhere"}))
    router.refuse()
    assert len(router.requests) == 1


@pytest.mark.parametrize("header", ["Set_Cookie", "Location", "set_cookie", "LOCATION"])
def test_an_answer_with_a_header_it_should_not_have_is_dropped(header: str) -> None:
    router = always(lambda: answer({"data": "bait"}, **{header: "x"}))
    assert "bait" not in router.refuse()


def test_only_the_fields_it_knows_are_read() -> None:
    data = {
        "visitUuids": ["v1"],
        "__class__": "evil",
        "token": "t",
        "runId": "r",
        "truncated": True,
        "paths": [{"sequence": ["A"], "constructor": {"x": 1}, "hasBacktrack": False}, "no path"],
    }
    assert always(lambda: answer(data)).ask("path") == {
        "visitUuids": ["v1"],
        "paths": [{"sequence": ["A"], "hasBacktrack": False}, None],
        "truncated": True,
    }


def test_fields_of_a_predecessors_own_making_stay_data() -> None:
    data = {"data": {"__proto__": 1, "code": 500, "token": "x"}, "code": 500}
    assert always(lambda: answer(data)).ask() == {"data": {"__proto__": 1, "code": 500, "token": "x"}}


def test_the_token_is_masked_wherever_an_answer_holds_it() -> None:
    told = always(lambda: answer({"data": {"a": f"<{TOKEN}>", TOKEN: 1}})).ask()
    assert told == {"data": {"a": "<0123***>", "0123***": 1}}
    refusal = always(lambda: answer(None, 404, X_Any=TOKEN)).refuse()
    assert TOKEN not in refusal


def test_what_went_wrong_is_told_without_the_token() -> None:
    def broken(request: httpx2.Request) -> httpx2.Response:
        raise httpx2.ConnectError(f"cannot send {dict(request.headers)}")

    router = Router(broken)
    with pytest.raises(ToolFailed) as refused:
        router.ask()
    chain: BaseException | None = refused.value
    while chain is not None:
        assert TOKEN not in f"{chain!r} {chain}"
        chain = chain.__cause__ or chain.__context__
    assert len(router.requests) == 2


@pytest.mark.parametrize("status", [500, 502, 504])
def test_a_failure_of_the_router_is_tried_once_more(status: int) -> None:
    router = Router(lambda _: answer(None, status), lambda _: answer({"data": 1}))
    assert router.ask() == {"data": 1}
    router = always(lambda: answer(None, status))
    router.refuse()
    assert len(router.requests) == 2


@pytest.mark.parametrize("status", [400, 401, 403, 404, 503])
def test_a_refusal_is_final_and_told(status: int) -> None:
    router = always(lambda: answer(None, status))
    assert f"({status}): why not" in router.refuse()
    assert len(router.requests) == 1


def test_a_router_that_does_not_answer_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    assert context_client.SECONDS <= 5
    monkeypatch.setattr(context_client, "SECONDS", 0.02)
    router = Router(lambda _: asyncio.sleep(3600))
    router.refuse()
    assert len(router.requests) == 2


@pytest.mark.parametrize(
    "response",
    [
        lambda: httpx2.Response(200, content=b"<html>"),
        lambda: httpx2.Response(200, content=b"[" * 100_000),
        lambda: httpx2.Response(200, json=[1]),
        lambda: httpx2.Response(200, json={"code": 200, "data": "text"}),
        lambda: httpx2.Response(200, json={"code": 404, "message": {"a": 1}, "data": {}}),
        lambda: httpx2.Response(200, content=b"x" * (context_client.MOST_BYTES + 1)),
    ],
)
def test_an_answer_of_another_shape_is_dropped(response: Callable[[], httpx2.Response]) -> None:
    always(response).refuse()
