"""Snapshots of a run's visits over HTTP (contract §3, Snapshot; seed workflow-context-passing-plan §8.3)."""

import itertools
from typing import Any

from tests.functional.api.stack import Stack


def five_nodes(name: str = "five") -> dict[str, Any]:
    def says(node_id: str, text: str, output: str) -> dict[str, Any]:
        data = {"model": "scripted:inline", "userPrompt": "x", "script": [[{"text": text}]]}
        return {"id": node_id, "type": "llm", "data": data | {"outputs": [{"name": output, "type": "string"}]}}

    nodes = [
        {"id": "in", "type": "userInput", "data": {"variables": [{"name": "topic", "type": "string"}]}},
        says("one", "1", "first"),
        says("two", "2", "second"),
        says("three", "3", "first"),
        {"id": "out", "type": "output", "data": {}},
    ]
    ids = [str(node["id"]) for node in nodes]
    edges = [{"source": a, "target": b} for a, b in itertools.pairwise(ids)]
    return {"name": name, "graphData": {"nodes": nodes, "edges": edges}}


def test_each_visit_has_the_variables_as_they_stood_after_it(stack: Stack) -> None:
    run_id = stack.finish_run(stack.save(five_nodes()), variables={"topic": "tea", "extra": 1})
    nodes = stack.data("GET", f"/api/runs/{run_id}/nodes", admin=True)
    assert [node["nodeId"] for node in nodes] == ["in", "one", "two", "three", "out"]
    assert [node["sortOrder"] for node in nodes] == [1, 2, 3, 4, 5]
    given = {"topic": "tea", "extra": 1}
    assert [node["contextSnapshot"] for node in nodes] == [
        given,
        given | {"first": "1"},
        given | {"first": "1", "second": "2"},
        given | {"first": "3", "second": "2"},  # later overwrites earlier
        given | {"first": "3", "second": "2"},
    ]
    output = stack.data("GET", f"/api/v1/workflows/five/runs/{run_id}")["outputs"]["data"]
    assert nodes[-1]["contextSnapshot"] == output


def test_the_engine_tells_its_own_section_beside_the_variables(stack: Stack) -> None:
    run_id = stack.finish_run(stack.save(five_nodes()), variables={"topic": "tea"})
    nodes = stack.data("GET", f"/api/runs/{run_id}/nodes", admin=True)
    run = stack.data("GET", f"/api/v1/workflows/five/runs/{run_id}")
    assert nodes[2]["sections"] == {
        "_runtime": {"startTime": run["startedAt"], "visitCount": 3, "workflow": "five", "workflowVersion": 1}
    }
    assert all("_runtime" not in node["contextSnapshot"] for node in nodes)


def test_one_visit_can_be_asked_for(stack: Stack) -> None:
    run_id = stack.finish_run(stack.save(five_nodes()), variables={"topic": "tea"})
    nodes = stack.data("GET", f"/api/runs/{run_id}/nodes", admin=True)
    wanted = nodes[3]["visitUuid"]
    (only,) = stack.data("GET", f"/api/runs/{run_id}/nodes?visitUuid={wanted}", admin=True)
    assert (only["nodeId"], only["contextSnapshot"]) == ("three", nodes[3]["contextSnapshot"])


def test_snapshots_are_for_administrators(stack: Stack) -> None:
    run_id = stack.finish_run(stack.save(five_nodes()), variables={"topic": "tea"})
    assert stack.call("GET", f"/api/runs/{run_id}/nodes").status_code == 401
