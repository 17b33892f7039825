"""AGENTIC runs on the deployed stack: each decision holds once, whoever dies meanwhile."""

import json
import time
from itertools import pairwise
from typing import Any

from tests.e2e.conftest import Up
from tests.e2e.processes import kill, lambda_workers
from tests.e2e.server import Server

ROUNDS = 6


def slow(*steps: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"delayMs": 200}, *steps]


def wandering(server: Server) -> str:
    """search → judge → search → …, and an answer."""
    decisions = ["search", "judge"] * ROUNDS
    script = [slow({"decide": {"next": name, "reason": name, "isFinal": False}}) for name in decisions]
    script.append(slow({"decide": {"next": None, "reason": "enough", "isFinal": True}}))
    nodes = {
        "in": {"type": "userInput", "variables": []},
        "search": {
            "type": "llm",
            "model": "scripted:inline",
            "userPrompt": "{{verdict}}s",
            "script": [slow({"text": "$prompt"})],
            "outputs": [{"name": "found", "type": "string"}],
        },
        "judge": {
            "type": "llm",
            "model": "scripted:inline",
            "userPrompt": "{{found}}j",
            "script": [slow({"text": "$prompt"})],
            "outputs": [{"name": "verdict", "type": "string"}],
        },
        "out": {"type": "output", "outputs": [{"name": "verdict"}]},
    }
    planner = {"model": "scripted:inline", "instructions": "go on", "script": script}
    return server.save(nodes, [], mode="AGENTIC", planner=planner)


def wait_for(server: Server, run_id: str, decisions: int) -> None:
    while True:
        page = server.data("GET", f"/api/v1/runs/{run_id}/events?limit=1000")
        assert not page["done"]
        if sum(event["type"] == "planner_decision" for event in page["events"]) >= decisions:
            return
        time.sleep(0.05)


def test_one_visit_for_one_decision_though_workers_die(up: tuple[Up, Server]) -> None:
    _, server = up
    run_id = server.start(wandering(server))
    killed = 0
    for decisions in (1, 4, 7):
        wait_for(server, run_id, decisions)
        workers = lambda_workers(server.pid)
        killed += len(workers)
        kill(workers)
    server.data("POST", f"/api/runs/{run_id}/redrive", admin=True)
    events = [data for _, data in server.events(run_id, seconds=120)]
    assert killed > 0
    assert events[-1]["type"] == "workflow_complete", events[-1]
    assert events[-1]["output"]["data"] == {"verdict": "sj" * ROUNDS}
    chosen = [event["decision"]["next"] for event in events if event["type"] == "planner_decision"]
    assert chosen == [*["search", "judge"] * ROUNDS, None]
    visits = [event["visit"] for event in events if event["type"] == "visit_recorded"]
    assert [visit["nodeId"] for visit in visits] == ["in", *["search", "judge"] * ROUNDS, "out"]
    assert [visit["iterSeq"] for visit in visits if visit["nodeId"] == "search"] == list(range(1, ROUNDS + 1))
    assert all(after["fromVisitUuid"] == before["visitUuid"] for before, after in pairwise(visits))
    decided = [visit["decisionJson"] and json.loads(visit["decisionJson"])["next"] for visit in visits]
    assert decided == [None, *["search", "judge"] * ROUNDS, None]
