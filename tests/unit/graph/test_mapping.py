import pytest

from tests.unit.graph.definitions import Json, agentic, drawing, found, line, mapped, node, problems_of

# in ─ a ─ b ─ out and in ─ side ─ out: `side` and `b` do not lead to each other.
EDGES = [*line("in", "a", "b", "out"), *line("in", "side", "out")]


def with_mapping(reader: str, source: str) -> list[Json]:
    nodes = [node("in", "userInput"), node("a"), node("b"), node("side"), node("out", "output")]
    for each in nodes:
        if each["id"] == reader:
            each["data"]["inputs"] = [mapped(source)]
    return nodes


@pytest.mark.parametrize(("reader", "source"), [("a", "in"), ("b", "a"), ("b", "in"), ("out", "side"), ("out", "in")])
def test_a_mapping_from_any_node_upstream_is_sound(reader: str, source: str) -> None:
    assert found(drawing(with_mapping(reader, source), EDGES)) == set()


@pytest.mark.parametrize(("reader", "source"), [("a", "b"), ("a", "a"), ("b", "side"), ("in", "out"), ("side", "a")])
def test_a_mapping_from_downstream_from_beside_or_from_itself_is_told(reader: str, source: str) -> None:
    problems = problems_of(drawing(with_mapping(reader, source), EDGES))
    assert [(problem.code, problem.node_id) for problem in problems] == [("MAPPING_NOT_BEFORE", reader)]
    for words in (problems[0].message.zh, problems[0].message.en):
        assert f'"{reader}"' in words
        assert f'"{source}"' in words
        assert '"x"' in words


def test_a_mapping_from_a_missing_node_is_told_in_both_modes() -> None:
    nodes = with_mapping("a", "gone")
    assert found(drawing(nodes, EDGES)) == found(agentic(nodes, EDGES)) == {("MAPPING_UNKNOWN_NODE", "a")}


@pytest.mark.parametrize("source", ["in", "b", "side", "out", "a"])
def test_a_planner_may_run_any_node_before_any_other_and_again(source: str) -> None:
    assert found(agentic(with_mapping("a", source), [])) == set()


def test_before_the_inputs_of_an_agentic_workflow_only_earlier_inputs_run() -> None:
    def of(reader: str, source: str) -> set[tuple[str, str | None]]:
        nodes = [node("one", "userInput"), node("work"), node("two", "userInput"), node("out", "output")]
        next(each for each in nodes if each["id"] == reader)["data"]["inputs"] = [mapped(source)]
        return found(agentic(nodes, []))

    assert of("two", "one") == set()
    assert of("one", "two") == of("one", "one") == {("MAPPING_NOT_BEFORE", "one")}
    assert of("two", "work") == {("MAPPING_NOT_BEFORE", "two")}


def test_each_faulty_mapping_of_a_node_is_told() -> None:
    nodes = with_mapping("a", "gone")
    nodes[1]["data"]["inputs"] += [
        mapped("b", "y"),
        mapped("in", "z"),
        {"name": "w", "type": "?", "sourceNodeId": "lost"},
    ]
    assert [problem.code for problem in problems_of(drawing(nodes, EDGES))] == [
        "BAD_DATA",
        "MAPPING_UNKNOWN_NODE",
        "MAPPING_NOT_BEFORE",
        "MAPPING_UNKNOWN_NODE",
    ]
