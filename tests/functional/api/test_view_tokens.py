"""View tokens: one run, for a while, in place of the key, and nothing else (contract §4)."""

import logging
from datetime import timedelta
from typing import Any

import httpx
import pytest

from tests.functional.api.definitions import asking, echo
from tests.functional.api.stack import Stack, parse, run_async
from tests.functional.api.walking import calls

SEEN = {
    "/api/v1/workflows/{workflow}/runs/{runId}",
    "/api/v1/workflows/{workflow}/runs/{runId}/output",
    "/api/v1/workflows/{workflow}/runs/{runId}/stream",
    "/api/v1/workflows/{workflow}/runs/{runId}/workspace",
    "/api/v1/workflows/{workflow}/runs/{runId}/nodes/{nodeId}/logs",
    "/api/v1/workflows/{workflow}/runs/{runId}/nodes/{nodeId}/output",
    "/api/v1/runs/{runId}/stream",
    "/api/v1/runs/{runId}/events",
    "/api/v1/runs/{runId}/state",
    "/api/v1/runs/{runId}/graph",
    "/api/v1/runs/{runId}/nodes",
}


def token_of(stack: Stack, run_id: str, **body: Any) -> str:
    return str(stack.data("POST", f"/api/v1/runs/{run_id}/view-token", body)["token"])


def ask(stack: Stack, method: str, path: str, token: str | None, body: Any = None, *, query: bool = False) -> Any:
    """A request without a key."""

    async def send() -> httpx.Response:
        headers = {"X-View-Token": token} if token is not None and not query else {}
        params = {"viewToken": token} if token is not None and query else None
        transport = httpx.ASGITransport(stack.app, raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
            return await client.request(method, path, headers=headers, params=params, json=body)

    return run_async(send())


def test_a_token_tells_when_it_ends_and_where_the_page_is(stack: Stack) -> None:
    run_id = stack.create_run("echo")
    answer = stack.call("POST", f"/api/v1/runs/{run_id}/view-token", {"ttlSeconds": 60})
    data = answer.json()["data"]
    assert set(data) == {"token", "expiresAt", "url"}
    assert data["expiresAt"].endswith("Z")
    assert data["url"] == f"/ui/runs/{run_id}?embed=1&viewToken={data['token']}"
    assert answer.headers["Cache-Control"] == "no-store"


@pytest.mark.parametrize("query", [False, True])
def test_a_token_reads_its_run_and_reaches_nothing_else(stack: Stack, query: bool) -> None:
    run_id = stack.finish_run("echo", variables={"topic": "tea"})
    token = token_of(stack, run_id)
    values = {
        "workflow": "echo",
        "runId": run_id,
        "nodeId": "say",
        "keyId": "key-000000000000",
        "name": "skill",
        "id": run_id,
        "sid": "chat-000000000000",
        "route": "path",
    }
    seen = set()
    for method, pattern, path in calls(stack.app, values):
        response = ask(stack, method, path, token, {} if method in ("POST", "PUT") else None, query=query)
        if method == "GET" and pattern in SEEN:
            assert response.status_code == 200, (path, response.text)
            seen.add(pattern)
        else:
            assert response.status_code in (400, 401), (method, path, response.text)
            assert "UNAUTHORIZED" in response.text or pattern.endswith("/resume"), (method, path)
    assert seen == SEEN


def test_of_other_runs_a_token_learns_nothing(stack: Stack) -> None:
    stack.save(echo("other"))
    mine, same_workflow, other = (
        stack.finish_run(name, variables={"topic": "x"}) for name in ("echo", "echo", "other")
    )
    token = token_of(stack, mine)
    for run_id in (same_workflow, other, "00000000"):
        for path in (f"/api/v1/runs/{run_id}/state", f"/api/v1/workflows/echo/runs/{run_id}"):
            there = ask(stack, "GET", path, token)
            assert (there.status_code, there.json()["code"]) == (404, "RUN_NOT_FOUND")
    for workflow in ("other", "none", "2", "99"):
        there = ask(stack, "GET", f"/api/v1/workflows/{workflow}/runs/{mine}", token)
        assert (there.status_code, there.json()["code"]) == (404, "RUN_NOT_FOUND")
    assert ask(stack, "GET", f"/api/v1/workflows/1/runs/{mine}", token).status_code == 200


def test_a_token_lives_as_long_as_it_says(stack: Stack) -> None:
    run_id = stack.create_run("echo")
    token = token_of(stack, run_id, ttlSeconds=60)
    stack.clock.ahead += timedelta(seconds=59)
    assert ask(stack, "GET", f"/api/v1/runs/{run_id}/state", token).status_code == 200
    stack.clock.ahead += timedelta(seconds=2)
    assert ask(stack, "GET", f"/api/v1/runs/{run_id}/state", token).json()["code"] == "UNAUTHORIZED"
    stream = ask(stack, "GET", f"/api/v1/runs/{run_id}/stream", token, query=True)
    assert (stream.status_code, parse(stream.text)[0][2]["code"]) == (401, "UNAUTHORIZED")
    assert stack.engine.context_tokens.clean() == 1  # the sweep takes it away
    assert not [item for key, item in stack.items._items.items() if key.table == "tokens" and "kind" in item]


def test_a_question_is_answered_only_with_a_token_that_says_so(stack: Stack) -> None:
    run_id = stack.start_run(stack.save(asking()))
    stack.drive()
    reading, answering = token_of(stack, run_id), token_of(stack, run_id, resume=True)
    pause = ask(stack, "GET", f"/api/v1/runs/{run_id}/state", reading).json()["data"]["currentPause"]
    body = {"clarifyId": pause["clarifyId"], "answer": "this"}
    refused = ask(stack, "POST", f"/api/v1/runs/{run_id}/resume", reading, body)
    assert (refused.status_code, refused.json()["code"]) == (401, "UNAUTHORIZED")
    other = stack.start_run("asking")
    elsewhere = ask(stack, "POST", f"/api/v1/runs/{other}/resume", answering, body)
    assert (elsewhere.status_code, elsewhere.json()["code"]) == (404, "RUN_NOT_FOUND")
    assert ask(stack, "POST", f"/api/v1/runs/{run_id}/resume", answering, body).json()["data"]["accepted"]


@pytest.mark.parametrize("token", ["", "vt-", "vt-" + "A" * 40, "x" * 5000, "#keys"])
def test_a_token_that_nobody_made_is_worth_nothing(stack: Stack, token: str) -> None:
    run_id = stack.create_run("echo")
    for query in (False, True):
        refused = ask(stack, "GET", f"/api/v1/runs/{run_id}/state", token, query=query)
        assert (refused.status_code, refused.json()["code"]) == (401, "UNAUTHORIZED")


def test_a_context_token_is_no_view_token_and_the_other_way_round(stack: Stack) -> None:
    run_id = stack.create_run("echo")
    assert stack.engine.context_tokens.recognise([token_of(stack, run_id)]) is None


def test_a_wrong_key_beside_a_good_token_is_refused(stack: Stack) -> None:
    run_id = stack.create_run("echo")
    headers = {"X-View-Token": token_of(stack, run_id)}
    assert stack.call("GET", f"/api/v1/runs/{run_id}/state", key="wrong", headers=headers).status_code == 401
    assert stack.call("GET", f"/api/v1/runs/{run_id}/state", headers=headers).status_code == 200


@pytest.mark.parametrize(
    ("body", "named"),
    [({"ttlSeconds": 3601}, "ttlSeconds"), ({"ttlSeconds": 0}, "ttlSeconds"), ({"resume": 1}, "resume")],
)
def test_a_wrong_field_of_a_token_is_refused_by_name(stack: Stack, body: Any, named: str) -> None:
    response = stack.call("POST", f"/api/v1/runs/{stack.create_run('echo')}/view-token", body)
    assert (response.status_code, response.json()["code"]) == (400, "VALIDATION_FAILED")
    assert named in response.json()["message"]


def test_a_token_is_kept_hashed_and_stands_in_no_log_line_and_no_answer(
    stack: Stack, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    run_id = stack.create_run("echo")
    token = token_of(stack, run_id)
    told = ""
    for path in ("state", "stream?lastEventId=x", "events?limit=0", "nothing"):
        told += ask(stack, "GET", f"/api/v1/runs/{run_id}/{path}", token, query="?" not in path).text
    bad = token[:-1] + ("A" if token[-1] != "A" else "B")
    told += ask(stack, "GET", f"/api/v1/runs/{run_id}/state", bad, query=True).text
    ours = [record for record in caplog.records if not record.name.startswith(("httpx", "httpcore"))]
    assert len(ours) > 5
    for record in ours:
        assert token not in record.getMessage() + str(vars(record))
        assert bad not in record.getMessage() + str(vars(record))
    assert token not in told
    assert bad not in told
    assert token not in repr(stack.items._items)
