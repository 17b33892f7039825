"""`condition` (contract §2): which branch is taken, and what is read to find out."""

from typing import Any

import pytest

from stepweave.nodes.condition import Condition
from tests.builders.nodes import node
from tests.builders.scopes import WrittenScope


def branch(name: str, *conditions: dict[str, Any], logic: str = "AND") -> dict[str, Any]:
    return {"id": name, "logic": logic, "conditions": list(conditions)}


def when(left: Any, operator: str, right: Any = None) -> dict[str, Any]:
    return {"left": left, "operator": operator, "right": right}


def run(scope: WrittenScope, *branches: dict[str, Any], else_branch: str | None = "else", **data: Any) -> Any:
    return Condition().run(node("condition", branches=list(branches), elseBranch=else_branch, **data), scope)


def test_the_choice_is_told_and_no_variables_are_given() -> None:
    outcome = run(WrittenScope({}, {"score": 61.5}), branch("high", when("{{score}}", "gte", 60)))
    assert outcome.status == "SUCCESS"
    assert outcome.branch == "high"
    assert outcome.envelope == {
        "status": 200,
        "message": "处理成功",
        "data": {},
        "metadata": {"selectedBranch": "high"},
    }
    assert outcome.variables == {"score": 61.5}


@pytest.mark.parametrize(
    ("left", "operator", "right", "holds"),
    [
        ("{{n}}", "lte", "0.95", True),
        ("{{code}}", "eq", "200", True),
        ("{{empty}}", "isEmpty", None, True),
        ("{{gone}}", "isEmpty", None, True),
        ("{{gone}}", "eq", "", False),
        ("{{gone}}", "ne", "x", True),
        ("{{gone}}{{gone}}", "eq", "", True),
        ("{{flag}}", "isTrue", None, True),
        ("{{flag}}", "eq", "true", True),
        ("{{list}}", "contains", "a", True),
        ("a", "in", "{{list}}", True),
        ("a", "in", ["{{n}}", "{{first}}"], True),
        ("{{a}}{{b}}", "eq", "ab", True),
        ("{{up.trace.tool_calls[0].name}}", "eq", "todo", True),
        ("{{up.status}}", "eq", 200, True),
        ("{{code}}", "eq", "{{code}}", True),
        ("{{first}}", "matches", "^[a-c]$", True),
    ],
)
def test_both_sides_are_templates_and_a_lone_reference_keeps_its_type(
    left: str, operator: str, right: object, holds: bool
) -> None:
    inputs = {"n": 0, "code": 200, "empty": "", "flag": True, "list": ["a"], "first": "a", "a": "a", "b": "b"}
    up = {"status": 200, "message": "", "data": {}, "trace": {"tool_calls": [{"name": "todo"}]}}
    outcome = run(WrittenScope({"up": up}, inputs), branch("b", when(left, operator, right)))
    assert outcome.branch == ("b" if holds else "else")


def test_only_what_the_choice_needs_is_read() -> None:
    scope = WrittenScope({"a": {"x": 1}, "b": {"y": 2}, "c": {"z": 3}})
    outcome = run(scope, branch("one", when("{{x}}", "eq", 2)), branch("two", when("{{y}}", "eq", 2)), branch("three"))
    assert outcome.branch == "two"
    assert scope.reads == ["a", "b"]
    assert outcome.variables == {"x": 1, "y": 2}


def test_without_a_branch_that_holds_and_without_else_no_branch_is_taken_and_the_log_says_so() -> None:
    outcome = run(WrittenScope(), branch("b", when("x", "eq", "y")), else_branch=None)
    assert outcome.status == "SUCCESS"
    assert outcome.branch is None
    assert outcome.envelope["metadata"] == {"selectedBranch": None}
    assert [entry["type"] for entry in outcome.logs] == ["WARN"]


def test_what_resolves_to_nothing_warns() -> None:
    (entry,) = run(WrittenScope(), branch("b", when("{{gone}}", "isEmpty"))).logs
    assert entry["type"] == "WARN"
    assert '"gone"' in entry["message"]
    assert entry["timestamp"] is None


def test_a_pattern_from_a_template_that_cannot_be_used_fails_the_node() -> None:
    outcome = run(WrittenScope({}, {"p": "("}), branch("b", when("x", "matches", "{{p}}")))
    assert outcome.status == "FAILED"
    assert outcome.branch is None
    assert "RE2" in (outcome.error or "")
    assert outcome.envelope["status"] == 400


def test_failed_preconditions_fail_the_node_with_all_of_them() -> None:
    declared = [{"name": "a", "required": True}, {"name": "b", "required": True}]
    outcome = run(WrittenScope(), branch("b", when("x", "eq", "x")), inputs=declared)
    assert outcome.status == "FAILED"
    assert '"a"' in (outcome.error or "")
    assert '"b"' in (outcome.error or "")


def test_the_graph_is_told_its_branches_and_the_scheduler_its_else() -> None:
    declared = node(
        "condition", branches=[branch("x", when(1, "eq", 1)), branch("y", when(1, "eq", 1))], elseBranch="z"
    )
    assert Condition().handles(declared) == ("x", "y", "z")
    assert Condition().else_branch(declared) == "z"
    assert Condition().outputs(declared) == ()
    alone = node("condition", branches=[branch("x", when(1, "eq", 1))], elseBranch="")
    assert Condition().handles(alone) == ("x",)
    assert Condition().else_branch(alone) is None


def test_else_may_be_one_of_the_branches() -> None:
    shared = node("condition", branches=[branch("x", when(1, "eq", 1))], elseBranch="x")
    assert Condition().handles(shared) == ("x",)
    assert Condition().problems(shared) == []


@pytest.mark.parametrize(
    "comparison",
    [when(None, "isEmpty"), when("a", "ne", None), when(1, "in", [1]), {"left": "a", "operator": "isTrue"}],
)
def test_sides_of_every_json_type_are_valid(comparison: dict[str, Any]) -> None:
    assert Condition().problems(node("condition", branches=[branch("x", comparison)])) == []


def test_all_problems_of_the_data_are_told_with_their_places() -> None:
    declared = node(
        "condition",
        branches=[
            branch("a", when("x", "eq", "y")),
            branch("a", when("x", "equals", "y")),
            branch("c"),
            branch("d", when("x", "matches", "("), {"operator": "eq"}),
            branch("e", when("x", "eq", "y"), logic="XOR"),
        ],
        elseBranch=1,
    )
    told = " ".join(problem.message.en for problem in Condition().problems(declared))
    places = ["[1].id", "[1].conditions[0].operator", "[2].conditions", "[3].conditions[0].right"]
    for place in (*places, "[3].conditions[1].left", "[4].logic"):
        assert f"data.branches{place}" in told
    assert "data.elseBranch" in told


def test_a_condition_without_branches_is_refused() -> None:
    for data in ({}, {"branches": []}, {"branches": None}):
        (problem,) = Condition().problems(node("condition", **data))
        assert "data.branches" in problem.message.zh


def test_a_pattern_with_a_reference_is_judged_only_when_it_is_filled() -> None:
    assert Condition().problems(node("condition", branches=[branch("b", when("x", "matches", "({{p}}"))])) == []


@pytest.mark.parametrize("branches", [1, "x", {}, [1], [[]], [{"id": 1}], [{"conditions": {}}]])
def test_any_json_in_the_data_is_judged_without_raising(branches: object) -> None:
    odd = node("condition", branches=branches, elseBranch="e")
    assert Condition().problems(odd)
    assert set(Condition().handles(odd)) <= {"e"}
    assert Condition().run(odd, WrittenScope()).status == "SUCCESS"
