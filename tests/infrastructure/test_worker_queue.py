"""A crowd of invocations shares the emulator's workers; who takes long does not hold up the others for ever."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from stepweave_local import launch_ministack
from stepweave_local.launch_ministack import CROWD, Queue


class Worker:
    func_name = "agent"

    def __init__(self, *, cold: bool) -> None:
        self._cold = cold


class Pool:
    """Workers as MiniStack leases them: a free one, else a new one unless there are `max_concurrency`."""

    def __init__(self, *, starts_at_once: bool = True) -> None:
        self._starts_at_once = starts_at_once
        self.free: list[Worker] = []
        self.started = 0
        self._lock = threading.Lock()

    def acquire(self, function: str, *, max_concurrency: int | None = None) -> tuple[Any, str]:
        assert function == "agent"
        with self._lock:
            if self.free:
                return self.free.pop(), "reused"
            if max_concurrency is not None and self.started >= max_concurrency:
                return None, "func_cap"
            self.started += 1
            return Worker(cold=not self._starts_at_once), "spawn"

    def release(self, worker: Worker | None) -> None:
        if worker is not None:
            self.free.append(worker)


def queue_over(pool: Pool) -> Queue:
    return Queue(pool.acquire, pool.release)


def test_a_crowd_waits_for_workers_that_are_free_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launch_ministack, "STANDSTILL_SECONDS", 3600)
    pool = Pool()
    queue = queue_over(pool)

    def invoke(_: int) -> str:
        worker, how = queue.acquire("agent")
        time.sleep(0.005)
        queue.release(worker)
        return how

    with ThreadPoolExecutor(5 * CROWD) as crowd:
        how = list(crowd.map(invoke, range(10 * CROWD)))
    assert pool.started <= CROWD
    assert how.count("spawn") == pool.started


def test_invocations_that_take_long_get_workers_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launch_ministack, "STANDSTILL_SECONDS", 0.01)
    queue = queue_over(Pool())
    with ThreadPoolExecutor(CROWD + 3) as crowd:
        workers = {worker for worker, _ in crowd.map(lambda _: queue.acquire("agent"), range(CROWD + 3))}
    assert len(workers) == CROWD + 3


def test_while_a_worker_is_on_its_way_none_is_started_beside_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launch_ministack, "STANDSTILL_SECONDS", 0.01)
    pool = Pool(starts_at_once=False)
    queue = queue_over(pool)
    workers = [queue.acquire("agent")[0] for _ in range(CROWD)]
    with ThreadPoolExecutor(1) as waiting:
        following = waiting.submit(queue.acquire, "agent")
        time.sleep(0.1)
        queue.release(workers[0])
        assert following.result() == (workers[0], "reused")
    assert pool.started == CROWD


def test_a_worker_that_broke_is_nobodys_any_more() -> None:
    pool = Pool()
    queue_over(pool).release(None)
    assert pool.free == []
