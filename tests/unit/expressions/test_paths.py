"""Paths into values (contract §3)."""

import pytest

from stepweave.expressions.paths import MISSING, find_alike, read_path, search, steps_of, walk_loosely

VALUE = {
    "a": {"b": [{"c": 1}, {"c": [10, 20]}], "nothing": None, "zero": 0, "空": "空"},
    "a.b": "not by a path",
    "tool calls": [],
}


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("a.b[0].c", 1),
        ("a.b[1].c[1]", 20),
        ("a.b[-1].c[-2]", 10),
        ("a.zero", 0),
        ("a.空", "空"),
        ("tool calls", []),
        ("a.b", [{"c": 1}, {"c": [10, 20]}]),
    ],
)
def test_a_path_leads_to_a_value(path: str, found: object) -> None:
    assert read_path(VALUE, path) == found


@pytest.mark.parametrize(
    "path",
    ["x", "a.x", "a.b[2]", "a.b[-3]", "a.b.c", "a[0]", "a.zero.x", "a.空[0]", "a.nothing", "a.nothing.x", "[0]"],
)
def test_a_path_that_leads_nowhere_finds_nothing(path: str) -> None:
    assert read_path(VALUE, path) is MISSING


@pytest.mark.parametrize(
    "path", ["", ".", ".a", "a.", "a..b", "a.[0]", "a[", "a]", "a[x]", "a[]", "a[0", "[", "a[99999999999]", "a[0]b"]
)
def test_text_that_is_no_path_finds_nothing(path: str) -> None:
    assert read_path(VALUE, path) is MISSING


@pytest.mark.parametrize("value", [None, True, 1, 1.5, "text", [], {}])
def test_values_of_every_type_can_be_asked(value: object) -> None:
    assert read_path(value, "a[0]") is MISSING


def test_an_array_can_be_where_a_path_begins() -> None:
    assert read_path([{"a": 1}], "[0].a") == 1


def test_steps_are_names_and_indices() -> None:
    assert steps_of("a.b[0][1].c") == ("a", "b", 0, 1, "c")


def test_loosely_names_count_without_case_dash_and_underscore() -> None:
    steps = steps_of("User-Info.first_name[0]")
    assert steps is not None
    assert walk_loosely({"userInfo": {"FirstName": ["x"]}}, steps) == "x"


def test_loosely_the_exact_name_goes_first_and_a_dead_end_is_left_again() -> None:
    assert walk_loosely({"A_b": 1, "ab": 2}, ("ab",)) == 2
    assert walk_loosely({"ab": {"x": 1}, "A_B": {"c": 3}}, ("ab", "c")) == 3
    assert walk_loosely({"A-b": None, "AB": 4}, ("ab",)) == 4


def test_loosely_the_search_of_a_long_path_does_not_run_out_of_stack() -> None:
    value: object = "end"
    for _ in range(5_000):
        value = {"A": value}
    assert walk_loosely(value, ("a",) * 5_000) == "end"


def test_a_name_of_nothing_but_dashes_is_like_no_other() -> None:
    assert find_alike({"_": 1, "": 2}, "-") is MISSING
    assert walk_loosely({"_": 1}, ("-",)) is MISSING


def test_jmespath_selects_from_a_value() -> None:
    assert search({"items": [{"n": 1}, {"n": 2}]}, "items[?n > `1`].n | [0]") == 2


@pytest.mark.parametrize(
    "expression",
    ["", "a[", "abs(@)", "unknown(@)", "nothing", "a < b", "max_by(l, &n)", "l[::0]", "[" * 5_000, "not_null()"],
)
def test_jmespath_that_is_faulty_or_finds_nothing_gives_nothing(expression: str) -> None:
    assert search({"a": "x", "b": 1, "l": [{"n": "x"}, {"n": 1}]}, expression) is MISSING
