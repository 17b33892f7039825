"""Many people are asked at once: while they think nothing is held, and every answer finds its run."""

import os
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from tests.e2e.processes import descendants
from tests.functional.api.definitions import definition
from tests.functional.api.stack import Stack

RUNS = 200


def asking_agent() -> dict[str, Any]:
    script = [[{"ask": {"question": "Which?"}}], [{"text": "$prompt: $answer"}]]
    agent = {"type": "agent", "model": "scripted:inline", "prompt": "{{number}}", "script": script}
    nodes = {"in": {"type": "userInput", "variables": [{"name": "number"}]}, "agent": agent, "out": {"type": "output"}}
    return definition("asking", nodes, [("in", "agent"), ("agent", "out")])


def held_beside(threads: set[threading.Thread]) -> list[threading.Thread]:
    """Further threads that do not end by themselves, as those of a request do."""
    others = set(threading.enumerate()) - threads
    for thread in others:
        thread.join(10)
    return [thread for thread in others if thread.is_alive()]


def test_runs_that_wait_for_people_hold_nothing_and_complete_when_all_are_answered(stack: Stack) -> None:
    stack.save(asking_agent())
    threads, processes = set(threading.enumerate()), descendants(os.getpid())
    runs = {stack.start_run("asking", variables={"number": str(number)}): number for number in range(RUNS)}
    stack.drive()
    assert held_beside(threads) == []
    assert descendants(os.getpid()) == processes
    assert set(stack.chains.running) == set(stack.chains.asleep.values())
    assert len(stack.chains.asleep) == RUNS

    def answer(run_id: str) -> bool:
        [pause] = stack.data("GET", f"/api/v1/runs/{run_id}/state")["pauses"]
        body = {"clarifyId": pause["clarifyId"], "answer": f"answer {runs[run_id]}"}
        return bool(stack.data("POST", f"/api/v1/runs/{run_id}/resume", body)["accepted"])

    with stack.driven(), ThreadPoolExecutor(8) as people:
        assert all(people.map(answer, runs))
    stack.drive()
    for run_id, number in runs.items():
        told = stack.data("GET", f"/api/v1/workflows/asking/runs/{run_id}")
        assert (told["status"], told["outputs"]["data"]["result"]) == ("SUCCESS", f"{number}: answer {number}")
