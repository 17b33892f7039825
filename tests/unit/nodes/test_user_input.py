"""`userInput` (contract §2): the variables a run begins with."""

from typing import Any

import pytest

from stepweave.nodes.user_input import UserInput, input_problems
from tests.builders.nodes import node
from tests.builders.scopes import WrittenScope

VALUES = {"string": "text", "number": 1.5, "boolean": True, "array": [1], "object": {"a": 1}, "filePath": "a.txt"}


def declaring(*variables: dict[str, Any], node_id: str = "in") -> Any:
    return node("userInput", node_id, variables=list(variables))


def test_it_gives_its_variables_from_the_runs_inputs_with_their_defaults() -> None:
    declared = declaring({"name": "a"}, {"name": "b", "type": "number", "default": 2}, {"name": "c"}, {"name": "d"})
    outcome = UserInput().run(declared, WrittenScope({}, {"a": "x", "d": None, "undeclared": 1}))
    assert outcome.status == "SUCCESS"
    assert outcome.envelope == {"status": 200, "message": "处理成功", "data": {"a": "x", "b": 2}}
    assert outcome.variables == {"a": "x", "b": 2}
    assert outcome.branch is None


def test_texts_follow_the_language_of_the_run() -> None:
    assert UserInput().run(declaring(), WrittenScope(), "en").envelope["message"] == "processed"


def test_it_fails_with_every_problem_where_the_inputs_were_not_checked_before() -> None:
    declared = declaring({"name": "a", "required": True}, {"name": "b", "type": "number"})
    outcome = UserInput().run(declared, WrittenScope({}, {"b": "x"}), "en")
    assert outcome.status == "FAILED"
    assert outcome.error is not None
    assert '"a"' in outcome.error
    assert '"b"' in outcome.error


@pytest.mark.parametrize("declared", VALUES)
@pytest.mark.parametrize("given", VALUES)
def test_each_type_accepts_its_own_values_and_the_compatible(declared: str, given: str) -> None:
    texts = {"string", "filePath"}
    compatible = declared == given or {declared, given} <= texts
    compatible |= declared == "string" and given in ("number", "boolean")
    problems = input_problems([declaring({"name": "v", "type": declared})], {"v": VALUES[given]})
    assert (problems == []) is compatible
    if not compatible:
        assert all('"v"' in text and declared in text for text in (problems[0].zh, problems[0].en))


def test_the_check_at_the_start_names_every_variable_of_every_node_once() -> None:
    nodes = [
        declaring({"name": "topic", "required": True}, {"name": "n", "type": "number"}),
        declaring(
            {"name": "topic", "required": True}, {"name": "fine", "required": True, "default": "d"}, node_id="in2"
        ),
        node("llm", "w", variables=[{"name": "other", "required": True}]),
    ]
    problems = input_problems(nodes, {"n": "x"})
    assert len(problems) == 2
    assert ['"topic"' in problems[0].zh, '"n"' in problems[1].en] == [True, True]


@pytest.mark.parametrize("value", ["", 0, False])
def test_an_empty_value_is_given(value: object) -> None:
    kind = {str: "string", int: "number", bool: "boolean"}[type(value)]
    assert input_problems([declaring({"name": "v", "type": kind, "required": True})], {"v": value}) == []


@pytest.mark.parametrize("value", VALUES.values())
def test_a_variable_without_a_type_takes_any_value(value: object) -> None:
    outcome = UserInput().run(declaring({"name": "v"}), WrittenScope({}, {"v": value}))
    assert outcome.envelope["data"] == {"v": value}


def test_null_counts_as_not_given() -> None:
    assert len(input_problems([declaring({"name": "v", "required": True})], {"v": None})) == 1


def test_a_file_path_names_a_file_of_the_run_where_the_files_are_known() -> None:
    nodes = [declaring({"name": "doc", "type": "filePath", "required": True})]
    assert input_problems(nodes, {"doc": "a.txt"}, ["a.txt"]) == []
    assert input_problems(nodes, {"doc": "b.txt"}) == []
    (problem,) = input_problems(nodes, {"doc": "b.txt"}, ["a.txt"])
    assert '"doc"' in problem.en
    assert '"b.txt"' in problem.en


def test_it_tells_the_graph_its_variables() -> None:
    declared = declaring({"name": "a", "type": "number", "required": True, "default": 1, "description": "d"})
    (field,) = UserInput().outputs(declared)
    assert (field.name, field.type, field.required, field.default, field.description) == ("a", "number", True, 1, "d")
    assert UserInput().handles(declared) is None


def test_valid_data_has_no_problems() -> None:
    assert UserInput().problems(declaring()) == UserInput().problems(node("userInput")) == []
    variables = [{"name": kind, "type": kind, "default": value, "description": ""} for kind, value in VALUES.items()]
    more = [{"name": "s", "type": "string", "default": 5}, {"name": "any", "default": {"a": 1}}]
    assert UserInput().problems(declaring(*variables, *more)) == []


def test_all_problems_of_the_data_are_told_with_their_places() -> None:
    declared = declaring(
        {"name": "a"},
        {"name": "a"},
        {"type": "number"},
        {"name": "t", "type": "date"},
        {"name": "d", "type": "number", "default": "x"},
        {"name": "_git"},
        {"name": "r", "required": "yes"},
    )
    told = " ".join(problem.message.en for problem in UserInput().problems(declared))
    for place in ("[1].name", "[2].name", "[3].type", "[4].default", "[5].name", "[6].required"):
        assert f"data.variables{place}" in told


@pytest.mark.parametrize("variables", [1, "x", {}, [1], [[]], [None], [{"name": 1}], [{"name": ""}]])
def test_any_json_in_the_data_is_judged_without_raising(variables: object) -> None:
    odd = node("userInput", variables=variables)
    assert len(UserInput().problems(odd)) == 1
    assert UserInput().outputs(odd) == ()
    assert UserInput().run(odd, WrittenScope()).status == "SUCCESS"
