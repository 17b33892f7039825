"""Definitions made to hurt: they end as `GraphInvalid`, whatever they hold."""

import json
from typing import Any

import pytest

from stepweave.graph.json_value import MAX_VALUES
from tests.unit.graph.definitions import drawing, edge, line, mapped, node, problems_of, simple


def deep(levels: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(levels):
        value = [value]
    return value


def test_ten_thousand_joined_nodes_with_mappings_are_validated_to_the_last() -> None:
    ids = [f"n{index}" for index in range(9_998)]
    nodes = [node("in", "userInput"), *(node(each, inputs=[mapped("in"), mapped("n0", "y")]) for each in ids)]
    edges = [*line("in", *ids, "out"), *(edge(a, b) for a, b in zip(ids, ids[2:], strict=False))]
    problems = problems_of(drawing([*nodes, node("out", "output")], edges))
    assert [(problem.code, problem.node_id) for problem in problems] == [("MAPPING_NOT_BEFORE", "n0")]


def test_a_ladder_with_more_paths_than_atoms_is_validated_at_once() -> None:
    rungs = 400
    nodes = [node("in", "userInput"), *(node(f"{side}{rung}") for rung in range(rungs) for side in "ab")]
    edges = [edge("in", "a0"), edge("in", "b0"), edge(f"a{rungs - 1}", "out"), edge(f"b{rungs - 1}", "out")]
    edges += [edge(f"{a}{rung}", f"{b}{rung + 1}") for rung in range(rungs - 1) for a in "ab" for b in "ab"]
    assert problems_of(drawing([*nodes, node("out", "output")], edges)) == []
    back = [*edges, edge(f"a{rungs - 1}", "a0")]
    assert [problem.code for problem in problems_of(drawing([*nodes, node("out", "output")], back))] == ["CYCLE"]


VALUES: dict[str, Any] = {
    "deep": deep(50_000),
    "nan": float("nan"),
    "surrogate": "\ud800",
    "surrogate key": {"\ud800": 1},
    "huge number": 10**5000,
    "bytes": b"",
    "object": object(),
    "number key": {1: 2},
    "many lists": [[]] * 1000,
}


@pytest.mark.parametrize(
    "place",
    [
        lambda raw, value: raw.update(title=value),
        lambda raw, value: raw.update(graphData=value),
        lambda raw, value: raw["graphData"].update(nodes=value),
        lambda raw, value: raw["graphData"]["nodes"].append(value),
        lambda raw, value: raw["graphData"]["nodes"][1].update(id=value),
        lambda raw, value: raw["graphData"]["nodes"][1].update(data=value),
        lambda raw, value: raw["graphData"]["nodes"][1]["data"].update(inputs=value),
        lambda raw, value: raw["graphData"]["edges"][0].update(source=value),
        lambda raw, value: raw["graphData"]["edges"][0].update(sourceHandle=value),
    ],
)
@pytest.mark.parametrize("name", VALUES)
def test_hostile_values_anywhere_are_told_in_sentences_that_can_be_sent(place: Any, name: str) -> None:
    raw = simple()
    place(raw, VALUES[name])
    problems = problems_of(raw)
    assert problems
    sent = json.dumps([problem.to_json("zh") for problem in problems], ensure_ascii=False).encode()
    assert len(sent) < 1000 * (len(problems) + 1)


def test_enormous_ids_are_not_repeated_at_length() -> None:
    raw = drawing([node("x" * 1_000_000, "y" * 1_000_000)], [edge("a" * 1_000_000, "b" * 1_000_000, "c" * 1_000_000)])
    problems = problems_of(raw)
    assert {"BAD_ID", "UNKNOWN_TYPE", "UNKNOWN_NODE"} <= {problem.code for problem in problems}
    assert len(json.dumps([problem.to_json("en") for problem in problems])) < 10_000


def test_more_values_than_are_looked_at_are_refused_as_too_large() -> None:
    raw = simple(extra=[0] * MAX_VALUES)
    assert [problem.code for problem in problems_of(raw)] == ["TOO_LARGE"]


def test_fields_named_like_the_insides_of_python_are_ordinary_fields() -> None:
    odd = dict.fromkeys(("__class__", "__dict__", "model_fields", "common", "label", "edges", "self", "graph_data"), 1)
    raw = {**simple(), **odd}
    raw["graphData"]["nodes"][1].update(odd)
    assert problems_of(raw) == []
