"""Answers stay under 5 MB, whatever the run holds; what is too large stands behind an `outputUrl` (contract §4)."""

from typing import Any

from tests.functional.api.definitions import much
from tests.functional.api.stack import Stack, parse

KIB = 1024
MIB = 1024 * 1024


def result_of(stack: Stack, *sizes: int, **data: Any) -> dict[str, Any]:
    stack.save(much("much", *sizes, **data))
    run_id = stack.finish_run("much")
    response = stack.call("GET", f"/api/v1/workflows/much/runs/{run_id}")
    assert len(response.content) < 5_000_000
    result: dict[str, Any] = response.json()["data"]
    return result


def test_an_output_over_256_kib_is_null_in_nodes_with_its_url_beside(stack: Stack) -> None:
    result = result_of(stack, 200 * KIB, 300 * KIB)
    nodes = {node["nodeId"]: node for node in result["nodes"]}
    assert len(nodes["much0"]["output"]["data"]["result"]) == 200 * KIB
    assert "outputUrl" not in nodes["much0"]
    assert nodes["much1"]["output"] is None
    assert len(stack.data("GET", nodes["much1"]["outputUrl"])["data"]["result"]) == 300 * KIB
    assert len(result["outputs"]["data"]["result"]) == 300 * KIB


def test_an_output_over_4_mib_is_null_anywhere(stack: Stack) -> None:
    result = result_of(stack, 5 * MIB)
    assert result["outputs"] is None
    assert len(stack.data("GET", result["outputUrl"])["data"]["result"]) == 5 * MIB
    told = parse(stack.call("GET", f"/api/v1/runs/{result['runId']}/stream").text)
    status = next(data for _, _, data in told if data.get("nodeId") == "much0" and data["status"] == "SUCCESS")
    visit = next(
        data["visit"] for _, _, data in told if data["type"] == "visit_recorded" and data["visit"]["nodeId"] == "much0"
    )
    complete = told[-1][2]
    assert (status["output"], visit["outputJson"], complete["output"]) == (None, None, None)
    for url in (status["outputUrl"], visit["outputUrl"], complete["outputUrl"]):
        assert len(stack.data("GET", url)["data"]["result"]) == 5 * MIB


def test_outputs_that_together_are_too_much_give_way_one_by_one(stack: Stack) -> None:
    result = result_of(stack, *[200 * KIB] * 40)
    given = [node for node in result["nodes"] if node["nodeId"].startswith("much") and node["output"] is not None]
    behind = [node for node in result["nodes"] if "outputUrl" in node]
    assert len(given) > 15
    assert behind
    assert all(node["output"] is None for node in behind)
    assert len(given) + len(behind) == 42 - len([n for n in result["nodes"] if n["nodeId"] == "in"]) - sum(
        1 for node in result["nodes"] if node["nodeId"] == "out" and node["output"] is not None
    )


def test_an_output_under_4_mib_that_grows_by_escaping_still_fits(stack: Stack) -> None:
    result = result_of(stack, 2 * MIB, letter='"')
    for _, _, data in parse(stack.call("GET", f"/api/v1/runs/{result['runId']}/stream").text):
        assert data["type"]
    page = stack.call("GET", f"/api/v1/runs/{result['runId']}/events?limit=1000")
    assert len(page.content) < 5_000_000


def test_of_a_long_log_the_newest_entries_are_given(stack: Stack) -> None:
    result = result_of(stack, 1, entries=6000)
    response = stack.call("GET", f"/api/v1/workflows/much/runs/{result['runId']}/nodes/much0/logs")
    assert len(response.content) < 5_000_000
    told = response.json()["data"]
    numbers = [int(entry["message"].split()[0]) for entry in told["logs"]]
    assert numbers == list(range(told["omitted"], 6000))
    assert told["omitted"] > 0
    assert result["nodes"][1]["logsCount"] == 6000


def test_events_with_a_long_log_fit_and_say_that_something_is_missing(stack: Stack) -> None:
    result = result_of(stack, 1, entries=6000)
    told = parse(stack.call("GET", f"/api/v1/runs/{result['runId']}/stream").text)
    visit = next(
        data["visit"] for _, _, data in told if data["type"] == "visit_recorded" and data["visit"]["nodeId"] == "much0"
    )
    assert (visit["truncated"], visit["logsJson"]) == (True, "[]")


def test_a_graph_of_very_many_nodes_gives_as_many_results_as_fit(stack: Stack) -> None:
    result = result_of(stack, *[1] * 9_000)
    assert result["nodesOmitted"] == 9_002 - len(result["nodes"])
    assert result["nodesOmitted"] > 0
