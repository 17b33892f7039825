"""Runs outlive whatever runs them: workers that are killed, an emulator that is stopped and started again."""

import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.conftest import Up
from tests.e2e.processes import descendants, kill, lambda_workers
from tests.e2e.server import Server

SLOW = {"type": "llm", "model": "scripted:inline", "userPrompt": "x"}


def node(name: str, milliseconds: int = 250) -> dict[str, Any]:
    script = [[{"thinking": "hm "}, {"delayMs": milliseconds}, {"text": name}]]
    return SLOW | {"script": script, "outputs": [{"name": name, "type": "string"}]}


def forked_workflow(server: Server) -> str:
    """Twelve nodes, two forks, two joins, unequal branches."""
    nodes = {"in": {"type": "userInput", "variables": []}} | {name: node(name) for name in "abcdefghij"}
    edges = ["in a", "a b", "a c", "a d", "b e", "c e", "d f", "e g", "e h", "f h", "g i", "h i", "i j", "j out"]
    return server.save(nodes | {"out": {"type": "output"}}, [edge.split() for edge in edges])


def visits_of(server: Server, workflow: str, run_id: str) -> Counter[str]:
    result = server.data("GET", f"/api/v1/workflows/{workflow}/runs/{run_id}")
    return Counter({each["nodeId"]: len(each["visits"]) for each in result["nodes"]})


def test_a_run_survives_the_death_of_its_workers(up: tuple[Up, Server]) -> None:
    _, server = up
    workflow = forked_workflow(server)
    server.finish(server.start(workflow), seconds=120)  # the workers are warm
    run_id = server.start(workflow)
    killed = 0
    for _ in range(4):
        time.sleep(0.35)
        workers = lambda_workers(server.pid)
        killed += len(workers)
        kill(workers)
    server.data("POST", f"/api/runs/{run_id}/redrive", admin=True)
    end = server.finish(run_id, seconds=120)
    assert killed > 0
    assert end["type"] == "workflow_complete", end
    assert {name: end["output"]["data"][name] for name in "abcdefghij"} == {name: name for name in "abcdefghij"}
    assert set(visits_of(server, workflow, run_id).values()) == {1}


@pytest.mark.slow
def test_a_run_survives_a_stop_of_everything(tmp_path: Path) -> None:
    up = Up(tmp_path / "data")
    server = up.start()
    workflow = forked_workflow(server)
    run_id = server.start(workflow)
    time.sleep(0.8)
    assert up.stop() == 0
    again = up.start()
    try:
        assert (again.key, again.admin_key) == (server.key, server.admin_key)
        end = again.finish(run_id, seconds=120)
        assert end["type"] == "workflow_complete", end
        assert set(visits_of(again, workflow, run_id).values()) == {1}
    finally:
        assert up.stop() == 0


@pytest.mark.slow
def test_an_emulator_that_dies_ends_the_server_with_a_sentence(tmp_path: Path) -> None:
    up = Up(tmp_path / "data")
    server = up.start()
    kill(descendants(server.pid)[:1])
    assert up.wait() == 2
    told = up.log.read_text()
    assert "MiniStack" in told.splitlines()[-1] or "emulator" in told.splitlines()[-1]
    assert not any(descendants(server.pid))
