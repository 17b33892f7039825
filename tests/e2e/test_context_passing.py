"""Every row of seed workflow-context-passing-plan §8.1–8.4, on the deployed stack, with the value that it names."""

import itertools
import json
from typing import Any

import pytest

from tests.e2e.server import Server

Nodes = dict[str, dict[str, Any]]


def says(text: str, prompt: str = "x", **data: Any) -> dict[str, Any]:
    return {"type": "llm", "model": "scripted:inline", "userPrompt": prompt, "script": [[{"text": text}]], **data}


def inputs(*variables: dict[str, Any]) -> dict[str, Any]:
    return {"type": "userInput", "variables": list(variables)}


def run(server: Server, nodes: Nodes, variables: dict[str, Any] | None = None) -> tuple[dict[str, Any], dict[str, Any]]:
    """Runs the nodes one after the other; gives the terminal event, and the nodes of the result by id."""
    ids = list(nodes)
    workflow = server.save(nodes, [[a, b] for a, b in itertools.pairwise(ids)])
    run_id = server.start(workflow, variables)
    end = server.finish(run_id)
    result = server.data("GET", f"/api/v1/workflows/{workflow}/runs/{run_id}")
    return end, {node["nodeId"]: node | {"runId": run_id, "workflow": workflow} for node in result["nodes"]}


def warnings(server: Server, node: dict[str, Any]) -> list[str]:
    logs = server.data("GET", f"/api/v1/workflows/{node['workflow']}/runs/{node['runId']}/nodes/{node['nodeId']}/logs")
    return [entry["message"] for entry in logs["logs"] if entry["type"] == "WARN"]


# 8.1 Contracts between nodes


@pytest.mark.parametrize(
    ("declared", "name"), [({}, "result"), ({"outputs": [{"name": "summary", "type": "string"}]}, "summary")]
)
def test_8_1_a_node_gets_the_output_of_the_one_before_by_its_name(
    server: Server, declared: dict[str, Any], name: str
) -> None:
    given = inputs({"name": "x", "type": "string"})
    end, nodes = run(
        server,
        {
            "in": given,
            "one": says("$prompt!", "{{x}}", **declared),
            "two": says("$prompt?", f"{{{{{name}}}}}"),
            "out": {"type": "output", "outputs": [{"name": "result", "type": "string"}]},
        },
        {"x": "tea"},
    )
    assert end["output"]["data"] == {"result": "tea!?"}
    assert nodes["one"]["output"]["data"] == {name: "tea!"}


def test_8_1_of_two_nodes_with_one_name_the_later_counts_and_both_are_named(server: Server) -> None:
    end, nodes = run(
        server,
        {
            "in": inputs(),
            "one": says("first"),
            "two": says("second"),
            "use": says("$prompt", "{{result}}"),
            "out": {"type": "output", "outputs": [{"name": "result", "type": "string"}]},
        },
    )
    assert end["output"]["data"] == {"result": "second"}
    (warning,) = warnings(server, nodes["use"])
    assert "one" in warning
    assert "two" in warning


def test_8_1_a_condition_gives_no_variable(server: Server) -> None:
    branches = [{"id": "yes", "logic": "AND", "conditions": [{"left": "{{x}}", "operator": "eq", "right": "1"}]}]
    nodes: Nodes = {
        "in": inputs({"name": "x", "type": "string"}),
        "check": {"type": "condition", "branches": branches, "elseBranch": "no"},
        "a": says("a"),
        "b": says("b"),
        "out": {"type": "output"},
    }
    edges = [["in", "check"], ["check", "a", "yes"], ["check", "b", "no"], ["a", "out"], ["b", "out"]]
    run_id = server.start(server.save(nodes, edges), {"x": "1"})
    assert server.finish(run_id)["output"]["data"] == {"x": "1", "result": "a"}
    visits = {node["nodeId"]: node for node in server.data("GET", f"/api/runs/{run_id}/nodes", admin=True)}
    assert visits["check"]["output"]["data"] == {}
    assert visits["check"]["selectedBranch"] == "yes"
    assert "check" not in visits["out"]["contextSnapshot"]


# 8.2 Structured output

TWO = [{"name": "summary", "type": "string"}, {"name": "detail", "type": "string"}]
JSON = json.dumps({"summary": "s", "detail": "d"})


@pytest.mark.parametrize(
    "answer",
    [JSON, f"```json\n{JSON}\n```", f"Here it is: {JSON}. Anything else?"],
    ids=["strict", "fenced", "in prose"],
)
def test_8_2_several_outputs_are_read_from_the_answer(server: Server, answer: str) -> None:
    end, nodes = run(server, {"in": inputs(), "w": says(answer, outputs=TWO), "out": {"type": "output"}})
    assert end["output"]["data"] == {"summary": "s", "detail": "d"}
    assert warnings(server, nodes["w"]) == []


def test_8_2_plain_text_goes_to_the_first_output_with_a_warning(server: Server) -> None:
    end, nodes = run(server, {"in": inputs(), "w": says("just words", outputs=TWO), "out": {"type": "output"}})
    assert end["type"] == "workflow_complete"
    assert nodes["w"]["output"]["data"]["summary"] == "just words"
    assert warnings(server, nodes["w"])


def test_8_2_a_missing_field_is_null_with_a_warning(server: Server) -> None:
    answer = json.dumps({"summary": "s"})
    _, nodes = run(server, {"in": inputs(), "w": says(answer, outputs=TWO), "out": {"type": "output"}})
    assert nodes["w"]["output"]["data"] == {"summary": "s", "detail": None}
    (warning,) = warnings(server, nodes["w"])
    assert "detail" in warning


def test_8_2_fields_are_converted_by_their_type_or_kept_with_a_warning(server: Server) -> None:
    types = {"n": "number", "b": "boolean", "a": "array", "o": "object", "bad": "number"}
    answer = json.dumps({"n": "3.5", "b": "true", "a": [1], "o": {"k": 1}, "bad": "many"})
    outputs = [{"name": name, "type": kind} for name, kind in types.items()]
    _, nodes = run(server, {"in": inputs(), "w": says(answer, outputs=outputs), "out": {"type": "output"}})
    assert nodes["w"]["output"]["data"] == {"n": 3.5, "b": True, "a": [1], "o": {"k": 1}, "bad": "many"}
    (warning,) = warnings(server, nodes["w"])
    assert "bad" in warning


# 8.3 Snapshots


def test_8_3_snapshots_accumulate_to_the_final_variables(server: Server) -> None:
    named = {name: [{"name": name, "type": "string"}] for name in "abc"}
    nodes: Nodes = {"in": inputs({"name": "x", "type": "string"})}
    nodes |= {f"n-{name}": says(name, outputs=outputs) for name, outputs in named.items()}
    end, result = run(server, nodes | {"out": {"type": "output"}}, {"x": "0"})
    run_id = result["in"]["runId"]
    visits = server.data("GET", f"/api/runs/{run_id}/nodes", admin=True)
    assert len(visits) == 5
    assert all(visit["contextSnapshot"] for visit in visits)
    assert visits[2]["contextSnapshot"] == {"x": "0", "a": "a", "b": "b"}
    assert visits[-1]["contextSnapshot"] == end["output"]["data"] == {"x": "0", "a": "a", "b": "b", "c": "c"}


# 8.4 Preconditions


@pytest.mark.parametrize(
    ("declared", "variables", "words"),
    [
        ({"name": "gone", "type": "string", "required": True}, {}, ["gone"]),
        (
            {"name": "report", "type": "filePath", "required": True},
            {"report": "no/such.txt"},
            ["report", "no/such.txt"],
        ),
        ({"name": "count", "type": "number", "required": True}, {"count": "many"}, ["count", "number", "string"]),
    ],
    ids=["missing", "no such file", "wrong type"],
)
@pytest.mark.parametrize("strategy", ["abort", "skip"])
def test_8_4_a_precondition_that_fails_is_told_and_follows_the_fail_strategy(
    server: Server, declared: dict[str, Any], variables: dict[str, Any], words: list[str], strategy: str
) -> None:
    end, nodes = run(
        server,
        {"in": inputs(), "w": says("never", inputs=[declared], failStrategy=strategy), "out": {"type": "output"}},
        variables,
    )
    assert end["type"] == ("workflow_error" if strategy == "abort" else "workflow_complete")
    assert nodes["w"]["status"] == ("FAILED" if strategy == "abort" else "SKIPPED")
    assert nodes["w"]["output"]["status"] == 400
    assert all(word in nodes["w"]["error"] for word in words), nodes["w"]["error"]
