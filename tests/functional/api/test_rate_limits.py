"""Limits of a key over HTTP (contract §4): requests in a minute, and runs at once, counted over all processes."""

from datetime import timedelta
from typing import Any

import httpx
import pytest

from stepweave.adapters.memory import MemoryItems
from stepweave.api.app import create_app
from stepweave.errors import Unavailable
from stepweave.items import OutcomeUnknown
from stepweave.services.rate_limits import RequestLimit
from stepweave.store.counters import Counters
from tests.functional.api.definitions import asking, echo
from tests.functional.api.inside import go_to
from tests.functional.api.stack import SETTINGS, ShiftedClock, Stack, parse, run_async

LISTING = "/api/v1/workflows"


def limited(requests: int, **settings: Any) -> Stack:
    stack = Stack(rate_limit_requests_per_minute=requests, **settings)
    stack.save(echo())
    stack.clock.ahead += timedelta(seconds=60)
    return stack


def told(response: Any) -> tuple[int, ...]:
    return tuple(int(response.headers[f"RateLimit-{name}"]) for name in ("Limit", "Remaining", "Reset"))


def test_within_the_limit_every_answer_tells_how_much_is_left() -> None:
    stack = limited(3)
    for left in (2, 1, 0):
        response = stack.call("GET", LISTING)
        assert response.status_code == 200
        limit, remaining, reset = told(response)
        assert (limit, remaining) == (3, left)
        assert 0 < reset <= 60


def test_beyond_it_a_key_is_refused_until_the_minute_is_over_and_others_are_not() -> None:
    stack = limited(3)
    for _ in range(3):
        stack.call("GET", LISTING)
    refused = stack.call("GET", LISTING)
    assert (refused.status_code, refused.json()["code"], refused.json()["data"]) == (429, "RATE_LIMITED", None)
    assert told(refused)[1] == 0
    assert refused.headers["Retry-After"] == refused.headers["RateLimit-Reset"]
    assert stack.call("GET", LISTING, admin=True).status_code == 200
    stack.clock.ahead += timedelta(seconds=int(refused.headers["Retry-After"]))
    assert stack.call("GET", LISTING).status_code == 200


def test_errors_of_the_request_tell_it_too_and_a_wrong_key_nothing() -> None:
    stack = limited(3)
    assert told(stack.call("GET", "/api/v1/workflows/none/runs"))[1] == 2
    assert "RateLimit-Limit" not in stack.call("GET", LISTING, key="wrong").headers
    assert told(stack.call("GET", LISTING))[1] == 1


def test_a_stream_is_refused_by_an_event() -> None:
    stack = limited(2)
    run_id = stack.create_run("echo")
    stack.call("GET", LISTING)
    refused = stack.call("GET", f"/api/v1/runs/{run_id}/stream")
    assert (refused.status_code, parse(refused.text)[0][2]["code"]) == (429, "RATE_LIMITED")
    assert int(refused.headers["Retry-After"]) > 0


def test_a_view_token_counts_for_its_key() -> None:
    stack = limited(3)
    run_id = stack.create_run("echo")
    token = stack.data("POST", f"/api/v1/runs/{run_id}/view-token")["token"]

    async def look() -> httpx.Response:
        transport = httpx.ASGITransport(stack.app)
        async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
            return await client.get(f"/api/v1/runs/{run_id}/state", headers={"X-View-Token": token})

    assert told(run_async(look()))[1] == 0
    assert run_async(look()).status_code == 429
    assert stack.call("GET", LISTING).status_code == 429


def test_mcp_counts_too() -> None:
    stack = limited(1)
    stack.call("GET", LISTING)
    assert stack.call("POST", "/mcp", {}).status_code == 429


def test_queries_of_a_visit_are_limited_where_the_api_answers_them() -> None:
    stack = Stack(hermes_context_query_public=True, hermes_context_query_public_per_minute=2)
    stack.clock.ahead += timedelta(seconds=60)
    inside = go_to(stack, echo(), "say", topic="x")
    body = {"runId": inside.run.run_id, "visitUuid": inside.visit.visit_uuid}
    assert [inside.post("path", body).status_code for _ in range(2)] == [200, 200]
    refused = inside.post("path", body)
    assert (refused.status_code, refused.json()["code"]) == (429, 429)
    assert 0 < int(refused.headers["Retry-After"]) <= 60
    assert inside.post("path", body, X_Context_Token="0" * 48).status_code == 401


def test_nothing_is_limited_where_the_setting_is_zero() -> None:
    stack = limited(0)
    assert "RateLimit-Limit" not in stack.call("GET", LISTING).headers


def test_the_default_is_far_beyond_what_a_client_does(stack: Stack) -> None:
    assert told(stack.call("GET", LISTING))[0] == 12_000


def test_all_processes_together_get_the_limit_and_no_more() -> None:
    items, clock = MemoryItems(), ShiftedClock()
    processes = [RequestLimit(Counters(items), clock, 500) for _ in range(3)]
    granted = [process.admit("key").granted for _ in range(400) for process in processes]  # type: ignore[union-attr]
    assert 480 <= sum(granted) <= 500
    assert granted[0]
    assert not granted[-1]


def test_a_busy_key_costs_a_write_for_many_requests(monkeypatch: pytest.MonkeyPatch) -> None:
    items = MemoryItems()
    writes = 0
    update = items.update

    def counted(*given: Any) -> Any:
        nonlocal writes
        writes += 1
        return update(*given)

    monkeypatch.setattr(items, "update", counted)
    limit = RequestLimit(Counters(items), ShiftedClock(), 10_000)
    assert all(limit.admit("key").granted for _ in range(5_000))  # type: ignore[union-attr]
    assert writes < 75
    assert [key.partition for key in items._items] == ["count#key"]


def test_a_process_whose_clock_is_behind_counts_in_the_window_that_has_begun() -> None:
    items, ahead, behind = MemoryItems(), ShiftedClock(), ShiftedClock()
    ahead.ahead += timedelta(seconds=60)
    assert RequestLimit(Counters(items), ahead, 1).admit("key").granted  # type: ignore[union-attr]
    assert not RequestLimit(Counters(items), behind, 1).admit("key").granted  # type: ignore[union-attr]


@pytest.mark.parametrize("error", [Unavailable("throttled"), OutcomeUnknown()])
def test_a_store_that_cannot_count_lets_requests_through(error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    stack = limited(1)
    monkeypatch.setattr(stack.app.state.api.requests._counters, "take", _raiser(error))
    assert [stack.call("GET", LISTING).status_code for _ in range(3)] == [200, 200, 200]


def _raiser(error: Exception) -> Any:
    def fail(*_: Any) -> Any:
        raise error

    return fail


def test_a_second_app_over_the_same_tables_counts_on() -> None:
    stack = limited(2)
    stack.call("GET", LISTING)
    stack.call("GET", LISTING)
    given = SETTINGS.model_copy(update={"rate_limit_requests_per_minute": 2})
    stack.app = create_app(stack.engine, given, live=True)
    assert stack.call("GET", LISTING).status_code == 429


# Runs at once


def start(stack: Stack, run_id: str, workflow: str = "echo") -> httpx.Response:
    return stack.call("POST", f"/api/v1/workflows/{workflow}/runs/{run_id}/start")


def created(stack: Stack, count: int) -> list[str]:
    return [stack.create_run("echo", variables={"topic": "x"}) for _ in range(count)]


def test_a_key_has_so_many_runs_at_once_and_may_start_more_when_one_has_ended() -> None:
    stack = limited(0, rate_limit_concurrent_runs=2)
    one, two, three = created(stack, 3)
    assert [start(stack, run_id).status_code for run_id in (one, two)] == [200, 200]
    refused = start(stack, three)
    assert (refused.status_code, refused.json()["code"]) == (429, "RATE_LIMITED")
    assert int(refused.headers["Retry-After"]) > 0
    assert stack.data("GET", f"/api/v1/runs/{three}/state")["status"] == "CREATED"
    stack.data("POST", f"/api/v1/runs/{one}/cancel")
    assert start(stack, three).status_code == 200
    assert start(stack, created(stack, 1)[0]).status_code == 429


def test_a_run_that_waits_for_a_person_counts_and_another_key_has_runs_of_its_own() -> None:
    stack = limited(0, rate_limit_concurrent_runs=1)
    stack.start_run(stack.save(asking()))
    stack.drive()
    (run_id,) = created(stack, 1)
    assert start(stack, run_id).status_code == 429
    assert stack.call("POST", f"/api/v1/workflows/echo/runs/{run_id}/start", admin=True).status_code == 200


@pytest.mark.parametrize("path", ["/api/v1/workflows/echo/runs", "/api/workflows/echo/run"])
def test_a_run_in_one_call_is_refused_too(path: str) -> None:
    stack = limited(0, rate_limit_concurrent_runs=1)
    stack.call("POST", f"/api/v1/workflows/echo/runs/{created(stack, 1)[0]}/start", admin=True)
    body = {"variables": {"topic": "x"}, "async": False}
    refused = stack.call("POST", path, body, admin=True)
    assert (refused.status_code, refused.json()["code"]) == (429, "RATE_LIMITED")


def test_a_message_of_a_chat_that_is_refused_was_not_said() -> None:
    stack = limited(0, rate_limit_concurrent_runs=1)
    stack.call("POST", f"/api/v1/workflows/echo/runs/{created(stack, 1)[0]}/start", admin=True)
    sid = stack.data("POST", "/api/chat/sessions", {"workflow": "echo"}, admin=True)["sessionId"]
    body = {"message": "hi", "variables": {"topic": "x"}}
    assert stack.call("POST", f"/api/chat/sessions/{sid}/runs", body, admin=True).status_code == 429
    assert stack.data("GET", f"/api/chat/sessions/{sid}", admin=True)["messages"] == []


def test_a_start_that_is_refused_for_its_inputs_takes_no_place() -> None:
    stack = limited(0, rate_limit_concurrent_runs=1)
    assert start(stack, stack.create_run("echo")).status_code == 400
    assert start(stack, created(stack, 1)[0]).status_code == 200


def test_a_second_start_of_the_same_run_takes_no_second_place() -> None:
    stack = limited(0, rate_limit_concurrent_runs=2)
    one, two = created(stack, 2)
    assert [start(stack, run_id).status_code for run_id in (one, one, two)] == [200, 409, 200]


def test_a_process_that_died_before_the_start_holds_its_place_for_a_minute() -> None:
    stack = limited(0, rate_limit_concurrent_runs=1)
    dead, alive = created(stack, 2)
    (key_id,) = [key.key_id for key in stack.app.state.api.keys.listed() if key.name == "runs"]
    stack.app.state.api.at_once.take(key_id, dead)
    assert start(stack, alive).status_code == 429
    stack.clock.ahead += timedelta(seconds=62)
    assert start(stack, alive).status_code == 200


def test_what_has_ended_makes_room_in_any_number() -> None:
    stack = limited(0, rate_limit_concurrent_runs=120)
    for run_id in (runs := created(stack, 120)):
        stack.app.state.api.at_once.take("key-000000000000", run_id)
    for run_id in runs:
        stack.engine.ending.cancel(run_id)
    for run_id in created(stack, 120):
        stack.app.state.api.at_once.take("key-000000000000", run_id)
    (item,) = [item for key, item in stack.items._items.items() if key.partition == "runs#key-000000000000"]
    assert item["n"] == 120 == sum(name.startswith("run-") for name in item)
