"""The run history over HTTP (contract §4, platform): runs of all workflows, by pages, filtered, and one by either name."""

import base64
import json
from datetime import timedelta
from typing import Any

import pytest

from tests.functional.api.definitions import echo, failing
from tests.functional.api.stack import Stack


def listed(stack: Stack, query: str = "") -> Any:
    return stack.data("GET", f"/api/run-history/runs{query}", admin=True)


def ids_of(page: Any) -> list[str]:
    return [item["runId"] for item in page["items"]]


def test_runs_of_all_workflows_are_listed_newest_first_across_months(stack: Stack) -> None:
    stack.save(echo("other"))
    made = []
    for name in ("echo", "other", "echo"):
        made.append(stack.create_run(name))
        stack.clock.ahead += timedelta(days=40)
    page = listed(stack)
    assert ids_of(page) == made[::-1]
    assert page["nextCursor"] is None
    first = page["items"][0]
    assert (first["workflow"], first["workflowId"], first["status"]) == ("echo", 1, "CREATED")


@pytest.mark.parametrize("limit", [1, 2, 3])
def test_pages_lose_nothing_and_repeat_nothing(stack: Stack, limit: int) -> None:
    made = []
    for number in range(7):
        made.append(stack.create_run("echo"))
        stack.clock.ahead += timedelta(days=20 if number % 2 else 0)
    seen: list[str] = []
    cursor = ""
    while True:
        page = listed(stack, f"?limit={limit}&cursor={cursor}")
        assert len(page["items"]) <= limit
        seen += ids_of(page)
        cursor = page["nextCursor"]
        if cursor is None:
            break
    assert sorted(seen) == sorted(made)
    assert len(seen) == len(set(seen))


def test_filters_by_workflow_and_status(stack: Stack) -> None:
    stack.save(failing())
    good = stack.finish_run("echo", variables={"topic": "x"})
    bad = stack.finish_run("failing")
    waiting = stack.create_run("echo")
    assert set(ids_of(listed(stack, "?workflow=echo"))) == {good, waiting}
    assert ids_of(listed(stack, "?workflow=2")) == [bad]
    assert ids_of(listed(stack, "?status=SUCCESS")) == [good]
    assert ids_of(listed(stack, "?status=CREATED&workflow=echo")) == [waiting]
    assert ids_of(listed(stack, "?status=")) == ids_of(listed(stack))
    assert stack.call("GET", "/api/run-history/runs?workflow=none", admin=True).json()["code"] == "WORKFLOW_NOT_FOUND"


def test_runs_of_a_deleted_workflow_stay_in_the_history(stack: Stack) -> None:
    run_id = stack.finish_run("echo", variables={"topic": "x"})
    stack.data("DELETE", "/api/workflows/echo", admin=True)
    assert ids_of(listed(stack)) == [run_id]
    assert ids_of(listed(stack, "?workflow=echo")) == [run_id]


def test_a_run_is_found_by_its_id_and_by_its_number(stack: Stack) -> None:
    run_id = stack.finish_run("echo", variables={"topic": "x"})
    number = listed(stack)["items"][0]["id"]
    assert len(str(number)) == 11
    by_id, by_number = (stack.data("GET", f"/api/run-history/runs/{each}", admin=True) for each in (run_id, number))
    assert by_id == by_number == {"id": number} | stack.data("GET", f"/api/v1/workflows/echo/runs/{run_id}")


@pytest.mark.parametrize(
    ("given", "status", "code"),
    [
        ("00000000", 404, "RUN_NOT_FOUND"),
        ("12345678", 404, "RUN_NOT_FOUND"),
        ("10000000000", 404, "RUN_NOT_FOUND"),
        ("1", 404, "RUN_NOT_FOUND"),
        ("9" * 5000, 404, "RUN_NOT_FOUND"),
        ("ABCDEF01", 400, "VALIDATION_FAILED"),
        ("12ab", 400, "VALIDATION_FAILED"),
        ("-1", 400, "VALIDATION_FAILED"),
        ("１", 400, "VALIDATION_FAILED"),
    ],
)
def test_a_run_that_is_not_in_the_history(stack: Stack, given: str, status: int, code: str) -> None:
    response = stack.call("GET", f"/api/run-history/runs/{given}", admin=True)
    assert (response.status_code, response.json()["code"]) == (status, code)


@pytest.mark.parametrize(
    "made_of",
    [["", ""], ["2026-12-01T00:00:00.000Z", ""], ["x", "00000000"], ["9999-99-01T00:00:00.000Z", "00000000"], [], {}],
)
def test_a_cursor_of_ones_own_making_is_refused(stack: Stack, made_of: Any) -> None:
    cursor = base64.urlsafe_b64encode(json.dumps(made_of).encode()).decode()
    for path in ("/api/run-history/runs", "/api/v1/workflows/echo/runs"):
        response = stack.call("GET", f"{path}?cursor={cursor}", admin=True)
        assert (response.status_code, response.json()["code"]) == (400, "VALIDATION_FAILED")


def test_a_cursor_of_a_time_that_has_not_come_begins_at_the_newest(stack: Stack) -> None:
    run_id = stack.create_run("echo")
    cursor = base64.urlsafe_b64encode(b'["9999-12-31T00:00:00.000Z", "00000000"]').decode()
    assert ids_of(listed(stack, f"?cursor={cursor}")) == [run_id]


def test_the_history_is_for_administrators(stack: Stack) -> None:
    for path in ("/api/run-history/runs", "/api/run-history/runs/00000000"):
        assert stack.call("GET", path).status_code == 401
