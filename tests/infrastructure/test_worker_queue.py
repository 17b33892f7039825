"""A crowd of invocations shares the emulator's workers; who takes long does not hold up the others for ever."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from stepweave_local import launch_ministack
from stepweave_local.launch_ministack import CROWD, Queue


class Pool:
    """Workers as MiniStack leases them: a free one, else a new one unless there are `max_concurrency`."""

    def __init__(self) -> None:
        self.free: list[int] = []
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
            return self.started, "spawn"


def test_a_crowd_waits_for_workers_that_are_free_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launch_ministack, "NEXT_WORKER_SECONDS", 3600)
    pool = Pool()
    queue = Queue(pool.acquire)

    def invoke(_: int) -> str:
        worker, how = queue("agent")
        time.sleep(0.005)
        pool.free.append(worker)
        return how

    with ThreadPoolExecutor(5 * CROWD) as crowd:
        how = list(crowd.map(invoke, range(10 * CROWD)))
    assert pool.started <= CROWD
    assert how.count("spawn") == pool.started


def test_invocations_that_take_long_get_workers_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launch_ministack, "NEXT_WORKER_SECONDS", 0.01)
    queue = Queue(Pool().acquire)
    with ThreadPoolExecutor(CROWD + 3) as crowd:
        workers = {worker for worker, _ in crowd.map(lambda _: queue("agent"), range(CROWD + 3))}
    assert len(workers) == CROWD + 3
