"""Every operator on every type (contract §2)."""

import itertools
import time
from typing import Any

import pytest

from stepweave.expressions.conditions import (
    HOLDS_WITHOUT_A_SIDE,
    OPERATORS,
    UNARY,
    Branch,
    Comparison,
    PatternInvalid,
    evaluate,
    holds,
)
from stepweave.expressions.paths import MISSING

TYPES: dict[str, Any] = {
    "string": "text",
    "numeric": "5",
    "empty": "",
    "number": 5,
    "float": 0.5,
    "true": True,
    "false": False,
    "array": ["text", 5],
    "noArray": [],
    "object": {"a": 1},
    "noObject": {},
}


def test_the_table_has_the_operators_of_the_contract() -> None:
    named = "eq ne gt gte lt lte contains notContains startsWith endsWith in notIn isEmpty isNotEmpty isTrue isFalse matches"
    assert set(OPERATORS) == set(named.split())


@pytest.mark.parametrize("nothing", [None, MISSING])
@pytest.mark.parametrize("name", OPERATORS)
def test_without_a_left_side_only_four_operators_hold(name: str, nothing: object) -> None:
    for right in (*TYPES.values(), nothing):
        assert holds(nothing, name, right) == (name in {"isEmpty", "ne", "notContains", "notIn"})


@pytest.mark.parametrize("nothing", [None, MISSING])
@pytest.mark.parametrize("name", sorted(set(OPERATORS) - UNARY))
def test_without_a_right_side_only_three_operators_hold(name: str, nothing: object) -> None:
    for left in TYPES.values():
        assert holds(left, name, nothing) == (name in HOLDS_WITHOUT_A_SIDE)


@pytest.mark.parametrize("name", sorted(UNARY))
def test_an_operator_without_a_right_side_does_not_look_at_it(name: str) -> None:
    for left in TYPES.values():
        assert holds(left, name, None) == holds(left, name, "x")


EQUAL_PAIRS = {frozenset(pair) for pair in [("numeric", "number")]} | {frozenset([name]) for name in TYPES}


@pytest.mark.parametrize(("left", "right"), [*itertools.product(TYPES, TYPES)])
def test_eq_and_ne_on_every_pair_of_types(left: str, right: str) -> None:
    equal = frozenset([left, right]) in EQUAL_PAIRS
    assert holds(TYPES[left], "eq", TYPES[right]) is equal
    assert holds(TYPES[left], "ne", TYPES[right]) is not equal


@pytest.mark.parametrize(
    ("left", "right", "equal"),
    [
        (200, "200", True),
        ("1.0", "1", True),
        (1, 1.0, True),
        (" 5 ", 5, True),
        ("1e3", 1000, True),
        (0.1, "0.1", True),
        (9007199254740993, "9007199254740992", False),
        ("a", "A", False),
        ("a ", "a", False),
        (True, "true", True),
        ("false", False, True),
        (True, 1, False),
        (False, 0, False),
        (True, "True", False),
        ([1, "2"], ["1", 2], True),
        ([1, 2], [2, 1], False),
        ([1], [1, 2], False),
        ({"a": [1]}, {"a": [1.0]}, True),
        ({"a": 1}, {"b": 1}, False),
        ([None], [None], True),
        ([True], [1], False),
        ("[]", [], False),
        (float("nan"), float("nan"), False),
    ],
)
def test_eq_compares_as_numbers_where_both_are_else_the_same_json(left: object, right: object, equal: bool) -> None:
    assert holds(left, "eq", right) is equal
    assert holds(right, "eq", left) is equal
    assert holds(left, "ne", right) is not equal


@pytest.mark.parametrize(
    ("left", "right", "order"),
    [
        (0, "0.95", -1),
        ("0.95", 0, 1),
        ("10", "9", 1),
        (10, 9, 1),
        ("5", 5.0, 0),
        (9007199254740992, "9007199254740993", -1),
        (10**400, "1e401", -1),
        ("a", "b", -1),
        ("B", "a", -1),
        ("10", "9a", -1),
        ("\uff5e", "🚀", -1),
        ("é", "z", 1),
        ("", "a", -1),
        ("same", "same", 0),
    ],
)
def test_numbers_order_by_size_and_text_by_code_point(left: object, right: object, order: int) -> None:
    assert holds(left, "lt", right) is (order < 0)
    assert holds(left, "lte", right) is (order <= 0)
    assert holds(left, "gt", right) is (order > 0)
    assert holds(left, "gte", right) is (order >= 0)


@pytest.mark.parametrize("name", ["gt", "gte", "lt", "lte"])
@pytest.mark.parametrize(("left", "right"), [*itertools.product(TYPES, TYPES)])
def test_what_is_neither_two_numbers_nor_two_texts_has_no_order(left: str, right: str, name: str) -> None:
    texts, numbers = {"string", "numeric", "empty"}, {"numeric", "number", "float"}
    if not ({left, right} <= texts or {left, right} <= numbers):
        assert holds(TYPES[left], name, TYPES[right]) is False


@pytest.mark.parametrize(
    ("whole", "part", "there"),
    [
        ("hello", "ell", True),
        ("hello", "", True),
        ("hello", "Ell", False),
        ("大语言模型", "语言", True),
        ("abc123", 123, True),
        (12345, "34", True),
        ("it is true", True, True),
        (["a", "b"], "a", True),
        (["ab"], "a", False),
        ([200], "200", True),
        (["200"], 200, True),
        ([[1], 2], [1], True),
        ([True], True, True),
        ([1], True, False),
        ([None, "a"], "a", True),
        ([], "a", False),
        ({"a": 1}, "a", False),
        ("a", ["a"], False),
        ('{"a": 1}', {"a": 1}, False),
    ],
)
def test_contains_and_in_work_on_text_and_on_arrays(whole: object, part: object, there: bool) -> None:
    assert holds(whole, "contains", part) is there
    assert holds(whole, "notContains", part) is not there
    assert holds(part, "in", whole) is there
    assert holds(part, "notIn", whole) is not there


@pytest.mark.parametrize(
    ("text", "piece", "starts", "ends"),
    [
        ("abcab", "ab", True, True),
        ("abc", "ab", True, False),
        ("abc", "bc", False, True),
        ("abc", "", True, True),
        ("abc", "ABC", False, False),
        (2024, "20", True, False),
        ("2024", 24, False, True),
        (["ab"], "ab", False, False),
        ({"a": 1}, "a", False, False),
        ("a", ["a"], False, False),
    ],
)
def test_starts_and_ends_on_text(text: object, piece: object, starts: bool, ends: bool) -> None:
    assert holds(text, "startsWith", piece) is starts
    assert holds(text, "endsWith", piece) is ends


@pytest.mark.parametrize("kind", TYPES)
def test_empty_are_text_arrays_and_objects_without_anything_in_them(kind: str) -> None:
    empty = kind in {"empty", "noArray", "noObject"}
    assert holds(TYPES[kind], "isEmpty") is empty
    assert holds(TYPES[kind], "isNotEmpty") is not empty


@pytest.mark.parametrize("value", [" ", 0, False, [None], [""]])
def test_zero_false_and_spaces_are_not_empty(value: object) -> None:
    assert holds(value, "isNotEmpty")


@pytest.mark.parametrize("value", [*TYPES.values(), "true", "True ", "false", "FALSE", 1, 0, "yes", "1"])
def test_true_and_false_are_booleans_and_their_names(value: object) -> None:
    word = value.strip().lower() if isinstance(value, str) else value
    assert holds(value, "isTrue") is (word is True or word == "true")
    assert holds(value, "isFalse") is (word is False or word == "false")


@pytest.mark.parametrize(
    ("text", "pattern", "found"),
    [
        ("order 42 shipped", r"\d+", True),
        ("order", r"^\d+$", False),
        ("你好", "好$", True),
        ("HELLO", "(?i)hello", True),
        ("", "^$", True),
        ("a\nb", "a.b", False),
        ("a\nb", "(?s)a.b", True),
        (404, "^4", True),
        (True, "^t", True),
        ("\ud83d", "x", False),
        (["a"], "a", False),
        ({"a": 1}, "a", False),
    ],
)
def test_matches_searches_in_text(text: object, pattern: str, found: bool) -> None:
    assert holds(text, "matches", pattern) is found


@pytest.mark.parametrize("pattern", ["(a+)+$", "(a|aa)+$", "(.*)*x", "(a|a?)+b$", "^(([a-z])+.)+[A-Z]([a-z])+$"])
def test_a_pattern_can_not_be_made_to_hang(pattern: str) -> None:
    began = time.perf_counter()
    assert holds("a" * 100_000 + "!", "matches", pattern) is False
    assert time.perf_counter() - began < 2


@pytest.mark.parametrize("pattern", ["(", "[", "(?=x)", r"(a)\1", "a{1001}", "((a{100}){100}){100}", "*"])
def test_a_pattern_that_cannot_be_used_is_told_with_the_reason(pattern: str, capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(PatternInvalid) as told:
        holds("x", "matches", pattern)
    assert pattern in told.value.text.zh.replace("\\\\", "\\")
    assert "RE2" in told.value.text.en
    assert capfd.readouterr().err == ""


# --- branches


def branch(name: str, logic: Any, *conditions: Comparison) -> Branch:
    return Branch(name, logic, conditions)


YES = Comparison("yes", "eq", "yes")
NO = Comparison("no", "eq", "yes")


@pytest.mark.parametrize(
    ("logic", "conditions", "taken"),
    [
        ("AND", (YES, YES), True),
        ("AND", (YES, NO), False),
        ("OR", (NO, YES), True),
        ("OR", (NO, NO), False),
    ],
)
def test_a_branch_holds_when_all_or_any_of_its_conditions_do(logic: str, conditions: tuple, taken: bool) -> None:
    assert evaluate([branch("b", logic, *conditions)], None, lambda side: side) == ("b" if taken else None)


def test_the_first_branch_that_holds_wins_and_else_is_for_when_none_does() -> None:
    branches = [branch("a", "AND", NO), branch("b", "AND", YES), branch("c", "AND", YES)]
    assert evaluate(branches, "else", lambda side: side) == "b"
    assert evaluate(branches[:1], "else", lambda side: side) == "else"
    assert evaluate(branches[:1], None, lambda side: side) is None


def test_no_side_is_looked_at_that_the_choice_does_not_need() -> None:
    asked: list[str] = []

    def value(side: str) -> str:
        asked.append(side)
        return side

    branches = [
        branch("a", "AND", Comparison("1", "eq", "2"), Comparison("never", "eq", "never")),
        branch("b", "OR", Comparison("3", "isNotEmpty", "never"), Comparison("never", "eq", "never")),
        branch("c", "AND", Comparison("never", "eq", "never")),
    ]
    assert evaluate(branches, None, value) == "b"
    assert set(asked) == {"1", "2", "3"}
