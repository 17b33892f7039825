"""The end of a run's records (contract §4, `RUNS_TTL_DAYS`): the API does not know it any more, and nothing is left."""

from datetime import timedelta
from typing import Any

import pytest

from tests.functional.api.definitions import asking, echo, much
from tests.functional.api.stack import Stack

PATH = "/api/v1/workflows/{}/runs/{}"


def remains(stack: Stack, run_id: str) -> list[Any]:
    items = [key for key in stack.items._items if key.partition == run_id]
    return items + [name for name, _ in stack.blobs.list(f"runs/{run_id}/")]


def sweep(stack: Stack) -> None:
    for _ in range(4):
        stack.engine.sweep.sweep()


@pytest.mark.parametrize("starts", [True, False])
def test_a_run_is_forgotten_a_year_after_its_end_or_its_creation(stack: Stack, starts: bool) -> None:
    stack.save(much("much", 900_000))
    run_id = stack.create_run("much")
    stack.clock.ahead = timedelta(days=10)
    if starts:
        stack.data("POST", f"{PATH.format('much', run_id)}/start")
        stack.drive()
    begin = timedelta(days=10 if starts else 0)
    stack.clock.ahead = begin + timedelta(days=364)
    sweep(stack)
    assert stack.data("GET", PATH.format("much", run_id))["status"] == ("SUCCESS" if starts else "CREATED")
    assert remains(stack, run_id)
    stack.clock.ahead = begin + timedelta(days=365, minutes=1)
    for swept in (False, True):
        for method, path in [("GET", ""), ("GET", "/workspace"), ("POST", "/start")]:
            gone = stack.call(method, PATH.format("much", run_id) + path)
            assert (gone.status_code, gone.json()["code"]) == (404, "RUN_NOT_FOUND")
        assert stack.call("GET", f"/api/v1/runs/{run_id}/stream").status_code == 404
        if not swept:
            sweep(stack)
    assert remains(stack, run_id) == []
    assert stack.data("GET", "/api/run-history/runs", admin=True)["items"] == []
    assert stack.data("GET", "/api/v1/workflows/much/runs")["items"] == []


def test_a_run_that_waits_is_never_forgotten(stack: Stack) -> None:
    run_id = stack.start_run(stack.save(asking()))
    stack.drive()
    stack.clock.ahead = timedelta(days=1000)
    sweep(stack)
    assert stack.data("GET", f"/api/v1/runs/{run_id}/state")["currentPause"] is not None


def test_a_run_whose_files_are_to_stay_longer_stays_as_long(stack: Stack) -> None:
    run_id = stack.finish_run("echo", variables={"topic": "x"}, ttlHours=24 * 500)
    stack.clock.ahead = timedelta(days=499)
    sweep(stack)
    assert stack.data("GET", PATH.format("echo", run_id))["status"] == "SUCCESS"
    stack.clock.ahead = timedelta(days=501)
    sweep(stack)
    assert remains(stack, run_id) == []


def test_the_time_is_a_setting() -> None:
    stack = Stack(runs_ttl_days=2)
    stack.save(echo())
    run_id = stack.finish_run("echo", variables={"topic": "x"}, ttlHours=1)
    stack.clock.ahead = timedelta(days=2, minutes=1)
    sweep(stack)
    assert remains(stack, run_id) == []


def test_a_sweep_that_died_half_way_is_finished_by_the_next(stack: Stack, monkeypatch: pytest.MonkeyPatch) -> None:
    run_id = stack.finish_run("echo", variables={"topic": "x"}, ttlHours=1)
    stack.clock.ahead = timedelta(days=366)
    delete, left = stack.items.delete, 5

    def dying(key: Any) -> None:
        nonlocal left
        left -= 1
        if left < 0:
            raise ConnectionError
        delete(key)

    with monkeypatch.context() as patch:
        patch.setattr(stack.items, "delete", dying)
        with pytest.raises(ConnectionError):
            sweep(stack)
    assert remains(stack, run_id)
    sweep(stack)
    assert remains(stack, run_id) == []


def test_other_runs_are_untouched(stack: Stack) -> None:
    old = stack.finish_run("echo", variables={"topic": "x"})
    stack.clock.ahead = timedelta(days=100)
    young = stack.finish_run("echo", variables={"topic": "x"})
    before = remains(stack, young)
    stack.clock.ahead = timedelta(days=366)
    sweep(stack)
    assert remains(stack, old) == []
    assert {key for key in before if key.table in ("runs", "visits")} <= set(remains(stack, young))
