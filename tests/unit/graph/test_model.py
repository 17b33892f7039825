from typing import Any

import pytest

from stepweave.errors import GraphInvalid
from stepweave.graph.model import Definition, parse_definition
from stepweave.graph.problem import Problem
from tests.unit.graph.definitions import drawing, edge, line, node, simple


def faults(raw: Any) -> list[Problem]:
    with pytest.raises(GraphInvalid) as caught:
        parse_definition(raw)
    return list(caught.value.problems)


def test_a_definition_gives_back_exactly_what_it_was_parsed_from() -> None:
    raw = {
        "name": "full",
        "title": "标题",
        "description": None,
        "mode": "AGENTIC",
        "graphData": {
            "nodes": [
                {
                    "id": "a",
                    "type": "userInput",
                    "position": {"x": 1, "y": 2.5},
                    "selected": False,
                    "data": {"k": [None]},
                },
                {"id": "b", "type": "output"},
            ],
            "edges": [{"id": "e1", "source": "a", "target": "b", "sourceHandle": None, "animated": True}],
            "viewport": {"zoom": 1},
        },
        "planner": {"model": "m", "temperature": 0, "script": [[{"text": "x"}]]},
        "tags": ["x"],
    }
    assert parse_definition(raw).to_json() == raw


def test_no_default_is_filled_in() -> None:
    assert parse_definition({"name": "a"}).to_json() == {"name": "a"}


def test_a_definition_shares_nothing_with_what_it_was_parsed_from() -> None:
    raw = simple()
    definition = parse_definition(raw)
    raw["graphData"]["nodes"][0]["data"]["x"] = 1
    definition.to_json()["graphData"]["nodes"][1]["data"]["x"] = 1
    assert [each.data for each in definition.nodes] == [{}, {}, {}]


def test_the_parts_have_their_defaults() -> None:
    definition = parse_definition({"name": "a", "graphData": {"nodes": [{"id": "n", "type": "llm"}]}})
    assert (definition.mode, definition.planner, definition.title) == ("DAG", None, None)
    assert definition.nodes[0].data == {}
    planner = Definition.model_validate({"name": "a", "planner": {"model": "m"}}).planner
    assert planner is not None
    assert (planner.max_visits, planner.max_visits_per_node, planner.allow_off_canvas) == (200, 50, False)


def test_edges_keep_their_place_and_an_empty_handle_is_none() -> None:
    definition = parse_definition(
        drawing([node("a"), node("b")], [edge("a", "b", ""), {"source": "a", "target": "b"}, edge("a", "b", "yes")])
    )
    assert [(each.index, each.source, each.target, each.handle) for each in definition.edges] == [
        (0, "a", "b", None),
        (1, "a", "b", None),
        (2, "a", "b", "yes"),
    ]


@pytest.mark.parametrize("raw", [None, [], "x", 5, True, object()])
def test_what_is_no_object_is_no_definition(raw: Any) -> None:
    assert [problem.code for problem in faults(raw)] == ["BAD_DEFINITION"]


@pytest.mark.parametrize(
    ("field", "value", "code"),
    [
        ("name", 3, "BAD_NAME"),
        ("title", [], "BAD_DEFINITION"),
        ("mode", "dag", "BAD_MODE"),
        ("graphData", [], "BAD_DEFINITION"),
        ("graphData", {"nodes": {}}, "BAD_DEFINITION"),
        ("planner", "m", "BAD_PLANNER"),
        ("planner", {"model": 1}, "BAD_PLANNER"),
        ("planner", {"model": "m", "maxVisits": 0}, "BAD_PLANNER"),
        ("planner", {"model": "m", "allowOffCanvas": "no"}, "BAD_PLANNER"),
    ],
)
def test_a_field_of_a_wrong_shape_is_told_with_its_code(field: str, value: Any, code: str) -> None:
    problems = faults({**simple(), field: value})
    assert [problem.code for problem in problems] == [code]
    assert field in problems[0].message.en
    assert field in problems[0].message.zh


def test_every_fault_of_nodes_and_edges_is_told_in_its_place() -> None:
    nodes = [
        {"id": 7, "type": "llm"},
        {"type": "llm"},
        {"id": "a", "type": 1, "data": []},
        "node",
        {"id": "b", "type": "llm", "data": {"x": float("nan")}},
    ]
    edges = [{"source": 1, "target": "b"}, {"source": "a"}, None, {"source": "a", "target": "b", "sourceHandle": 4}]
    problems = faults(drawing(nodes, edges))  # type: ignore[arg-type]
    assert sorted((problem.code, problem.node_id) for problem in problems if problem.node_id) == [
        ("BAD_DATA", "a"),
        ("BAD_VALUE", "b"),
        ("UNKNOWN_TYPE", "a"),
    ]
    assert sorted(problem.message.en for problem in problems if not problem.node_id) == [
        "graphData.edges[0].source must be a string",
        "graphData.edges[1].target is missing and is needed",
        "graphData.edges[2] must be an object",
        "graphData.edges[3].sourceHandle must be a string",
        "graphData.nodes[0].id must be a string",
        "graphData.nodes[1].id is missing and is needed",
        "graphData.nodes[3] must be an object",
    ]
    located = [problem.edge for problem in problems if problem.edge]
    assert [(each.index, each.source, each.target, each.handle) for each in located] == [(3, "a", "b", None)]


def test_more_nodes_or_edges_than_anyone_draws_are_refused_without_looking_further() -> None:
    nodes = [node(f"n{index}") for index in range(10_001)]
    problems = faults(drawing(nodes, line(*("ab" * 15_001))))
    assert [problem.code for problem in problems] == ["TOO_LARGE", "TOO_LARGE"]


def test_the_error_tells_how_many_problems_there_are_and_the_first_of_them() -> None:
    with pytest.raises(GraphInvalid) as caught:
        parse_definition({"name": 1, "title": 1, "description": 1, "mode": 1})
    assert caught.value.text.en.startswith("the workflow definition has 4 problems: name must be a string; ")
    assert caught.value.text.zh.startswith("工作流定义有 4 个问题：name 必须是字符串；")


def test_a_problem_in_json_has_a_node_or_an_edge_only_where_it_has_one() -> None:
    bad_edge = {"source": "a", "target": "b" * 1000, "sourceHandle": 1}
    problems = faults({"name": 1, "graphData": {"nodes": [{"id": "a", "data": 1}], "edges": [bad_edge]}})
    shown = {problem.code: problem.to_json("en") for problem in problems}
    assert shown["BAD_NAME"] == {"code": "BAD_NAME", "message": "name must be a string"}
    assert shown["BAD_DATA"] == {"code": "BAD_DATA", "message": 'node "a": data must be an object', "nodeId": "a"}
    assert set(shown["BAD_EDGE"]) == {"code", "message", "edge"}
    assert set(shown["BAD_EDGE"]["edge"]) == {"source", "target", "sourceHandle"}
    assert len(shown["BAD_EDGE"]["edge"]["target"]) < 100
