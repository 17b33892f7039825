from typing import Any

import pytest

from stepweave.errors import GraphInvalid
from stepweave.graph.validation import accept
from tests.unit.graph.definitions import (
    TYPES,
    Json,
    agentic,
    drawing,
    edge,
    found,
    line,
    node,
    problems_of,
    simple,
    validated,
)


def test_a_sound_definition_has_no_problems_and_is_given_back() -> None:
    assert validated(simple()) == []
    assert accept(simple(), TYPES.get).name == "drawn"


def test_both_ends_are_needed_in_both_modes() -> None:
    assert found(drawing([], [])) == found(agentic([], [])) == {("NO_INPUT", None), ("NO_OUTPUT", None)}
    assert found(agentic([node("a", "userInput")], [])) == {("NO_OUTPUT", None)}
    assert found(agentic([node("a", "output")], [])) == {("NO_INPUT", None)}


def test_a_direct_edge_from_input_to_output_does_not_count() -> None:
    raw = drawing([node("in", "userInput"), node("out", "output")], line("in", "out"))
    assert found(raw) == {("NO_NODE_BETWEEN", "out")}


def test_an_output_with_a_direct_edge_and_a_longer_way_is_sound() -> None:
    raw = simple()
    raw["graphData"]["edges"].append(edge("in", "out"))
    assert found(raw) == set()


def test_every_output_needs_a_node_in_between() -> None:
    raw = simple()
    raw["graphData"]["nodes"].append(node("second", "output"))
    raw["graphData"]["edges"].append(edge("in", "second"))
    assert found(raw) == {("NO_NODE_BETWEEN", "second")}


def test_another_input_or_output_is_a_node_in_between() -> None:
    nodes = [node("a", "userInput"), node("b", "userInput"), node("c", "output"), node("d", "output")]
    assert found(drawing(nodes, line("a", "b", "c", "d"))) == set()


def test_every_node_is_on_a_way_from_an_input_to_an_output() -> None:
    raw = simple()
    raw["graphData"]["nodes"] += [node("island"), node("dead-end"), node("source")]
    raw["graphData"]["edges"] += [edge("in", "dead-end"), edge("source", "out")]
    assert found(raw) == {
        ("UNREACHABLE", "island"),
        ("NO_WAY_OUT", "island"),
        ("NO_WAY_OUT", "dead-end"),
        ("UNREACHABLE", "source"),
    }


def test_an_output_that_nothing_reaches_is_told_once() -> None:
    raw = simple()
    raw["graphData"]["nodes"].append(node("lonely", "output"))
    assert found(raw) == {("UNREACHABLE", "lonely")}


def test_an_input_that_leads_nowhere_is_told() -> None:
    raw = simple()
    raw["graphData"]["nodes"].append(node("idle", "userInput"))
    assert found(raw) == {("NO_WAY_OUT", "idle")}


def test_a_cycle_names_its_nodes_in_the_order_of_the_way() -> None:
    nodes = [node("in", "userInput"), node("c"), node("b"), node("a"), node("out", "output")]
    problems = problems_of(drawing(nodes, [*line("in", "a", "b", "c", "a"), edge("c", "out")]))
    assert [(problem.code, problem.node_id) for problem in problems] == [("CYCLE", "c")]
    assert '"c" → "a" → "b" → "c"' in problems[0].message.en
    assert '"c" → "a" → "b" → "c"' in problems[0].message.zh


def test_cycles_that_share_nodes_are_told_together_and_separate_ones_apart() -> None:
    nodes = [node("in", "userInput"), *(node(each) for each in "abcde"), node("out", "output")]
    edges = [*line("in", "a", "b", "c", "d", "e", "out"), edge("b", "a"), edge("c", "b"), edge("e", "d")]
    problems = problems_of(drawing(nodes, edges))
    assert [(problem.code, problem.node_id) for problem in problems] == [("CYCLE", "a"), ("CYCLE", "d")]
    assert '"a", "b", "c"' in problems[0].message.en
    assert '"d" → "e" → "d"' in problems[1].message.en


def test_a_very_long_cycle_is_named_in_part() -> None:
    ids = [f"n{index}" for index in range(5_000)]
    nodes = [node("in", "userInput"), *(node(each) for each in ids), node("out", "output")]
    problems = problems_of(drawing(nodes, [*line("in", *ids, "n0"), edge("n7", "out")]))
    assert [problem.code for problem in problems] == ["CYCLE"]
    assert len(problems[0].message.en) < 1_000
    assert "(5000)" in problems[0].message.en


def test_cycles_and_unconnected_nodes_are_allowed_when_a_planner_decides() -> None:
    nodes = [node("in", "userInput"), node("a"), node("b"), node("out", "output")]
    assert found(agentic(nodes, line("a", "b", "a"))) == set()


@pytest.mark.parametrize("draw", [drawing, agentic])
def test_a_self_loop_is_told_in_both_modes_and_is_not_called_a_cycle(draw: Any) -> None:
    raw = draw(simple()["graphData"]["nodes"], [*line("in", "work", "out"), edge("work", "work")])
    assert found(raw) == {("SELF_LOOP", "work")}


@pytest.mark.parametrize("draw", [drawing, agentic])
def test_an_edge_to_a_missing_node_is_told_for_each_missing_end(draw: Any) -> None:
    raw = draw(
        simple()["graphData"]["nodes"], [*line("in", "work", "out"), edge("work", "gone"), edge("lost", "astray")]
    )
    problems = problems_of(raw)
    assert [problem.code for problem in problems] == ["UNKNOWN_NODE"] * 3
    assert [
        name for problem in problems for name in ("gone", "lost", "astray") if f'node "{name}"' in problem.message.en
    ] == [
        "gone",
        "lost",
        "astray",
    ]
    assert problems[0].to_json("zh")["edge"] == {"source": "work", "target": "gone", "sourceHandle": None}


@pytest.mark.parametrize("draw", [drawing, agentic])
def test_an_id_used_twice_is_told_once_and_an_id_of_a_wrong_form_too(draw: Any) -> None:
    nodes = [node("in", "userInput"), node("a__b"), node("a__b"), node("a__b"), node("out", "output")]
    problems = problems_of(draw(nodes, line("in", "a__b", "out")))
    assert [(problem.code, problem.node_id) for problem in problems] == [
        ("DUPLICATE_ID", "a__b"),
        *[("BAD_ID", "a__b")] * 3,
    ]
    assert "3" in problems[0].message.en


def branching(*edges: Json, draw: Any = drawing) -> Json:
    nodes = [
        node("in", "userInput"),
        node("if", "condition", branches=["yes", "else"]),
        node("work"),
        node("out", "output"),
    ]
    return draw(nodes, [*line("in", "if"), *line("work", "out"), *edges])  # type: ignore[no-any-return]


@pytest.mark.parametrize("draw", [drawing, agentic])
def test_an_edge_out_of_a_condition_names_one_of_its_branches(draw: Any) -> None:
    assert found(branching(edge("if", "work", "yes"), edge("if", "out", "else"), draw=draw)) == set()
    assert found(branching(edge("if", "work"), draw=draw)) == {("HANDLE_MISSING", "if")}
    assert found(branching(edge("if", "work", ""), draw=draw)) == {("HANDLE_MISSING", "if")}
    assert found(branching(edge("if", "work", "maybe"), draw=draw)) == {("HANDLE_UNKNOWN", "if")}


def test_the_branches_to_choose_from_are_told() -> None:
    problem = problems_of(branching(edge("if", "work", "maybe")))[0]
    assert '"yes", "else"' in problem.message.en
    assert '"maybe"' in problem.message.zh


def test_a_handle_on_an_edge_out_of_another_node_is_ignored() -> None:
    raw = simple()
    raw["graphData"]["edges"][0]["sourceHandle"] = "source-right"
    assert found(raw) == set()


def test_an_unknown_type_and_data_that_is_wrong_for_its_type_are_told() -> None:
    nodes = [node("in", "userInput"), node("a", "robot", retry=5), node("b", broken=True), node("out", "output")]
    problems = problems_of(drawing(nodes, line("in", "a", "b", "out")))
    assert [(problem.code, problem.node_id) for problem in problems] == [
        ("UNKNOWN_TYPE", "a"),
        ("BAD_DATA", "a"),
        ("BAD_DATA", "b"),
    ]
    assert '"robot"' in problems[0].message.en
    assert "data.retry" in problems[1].message.en


def test_a_node_without_a_type_is_of_an_unknown_one() -> None:
    raw = simple()
    del raw["graphData"]["nodes"][1]["type"]
    assert found(raw) == {("UNKNOWN_TYPE", "work")}


def test_common_data_is_checked_beside_the_data_of_the_type() -> None:
    raw = simple()
    raw["graphData"]["nodes"][1]["data"] = {
        "broken": True,
        "failStrategy": "never",
        "outputs": [{"name": "r"}, {"name": "r"}],
    }
    assert [problem.code for problem in problems_of(raw)] == ["BAD_DATA"] * 3


def test_a_planner_is_for_agentic_workflows_which_need_one_with_a_model() -> None:
    agentic_nodes = simple()["graphData"]["nodes"]
    assert found(simple(planner={"model": "m"})) == {("PLANNER_NOT_ALLOWED", None)}
    assert found(simple(planner=None)) == set()
    assert found(agentic(agentic_nodes, [])) == set()
    for planner in (None, {}, {"model": " "}):
        assert found(agentic(agentic_nodes, [], planner=planner)) == {("BAD_PLANNER", None)}


def test_the_name_is_checked_and_needed() -> None:
    assert found(simple(name="Bad Name")) == {("BAD_NAME", None)}
    assert found(simple(name="validate")) == {("RESERVED_NAME", None)}
    unnamed = simple()
    del unnamed["name"]
    assert found(unnamed) == {("BAD_NAME", None)}


def test_faults_of_shape_are_told_once_and_beside_those_of_meaning() -> None:
    raw = simple(name=5, mode="FLOW", planner={"model": 3})
    raw["graphData"]["nodes"][1].update(type=None, data=[])
    raw["graphData"]["nodes"].append(node("island", broken=True))
    raw["graphData"]["edges"].append({"source": "work", "target": {}})
    assert sorted((problem.code, problem.node_id or "") for problem in problems_of(raw)) == [
        ("BAD_DATA", "island"),
        ("BAD_DATA", "work"),
        ("BAD_EDGE", ""),
        ("BAD_MODE", ""),
        ("BAD_NAME", ""),
        ("BAD_PLANNER", ""),
        ("NO_WAY_OUT", "island"),
        ("UNKNOWN_TYPE", "work"),
        ("UNREACHABLE", "island"),
    ]


def test_the_error_carries_all_problems() -> None:
    with pytest.raises(GraphInvalid) as caught:
        accept(drawing([], [], name="runs"), TYPES.get)
    assert [problem.code for problem in caught.value.problems] == ["RESERVED_NAME", "NO_INPUT", "NO_OUTPUT"]
    assert caught.value.code == "GRAPH_INVALID"


def test_each_message_says_in_both_languages_what_where_and_what_to_do() -> None:
    raw = branching(edge("if", "work", "maybe"), edge("if", "if"), edge("gone", "out"))
    raw["graphData"]["nodes"] += [node("island", "robot"), node("_x")]
    problems = problems_of(raw)
    assert {"HANDLE_UNKNOWN", "HANDLE_MISSING", "SELF_LOOP", "UNKNOWN_NODE", "UNKNOWN_TYPE", "BAD_ID"} <= {
        problem.code for problem in problems
    }
    for problem in problems:
        for language in ("zh", "en"):
            assert f'"{problem.node_id or "gone"}"' in problem.to_json(language)["message"]
