"""What must hold before a node runs (contract §3)."""

from typing import Any

import pytest

from stepweave.expressions.preconditions import check
from stepweave.expressions.resolution import Found, Resolver
from stepweave.graph.node_data import InputField
from tests.builders.scopes import WrittenScope


def declare(name: str, type_name: str = "string", **rest: Any) -> InputField:
    return InputField.model_validate({"name": name, "type": type_name, **rest})


def test_every_problem_is_told_at_once_each_with_its_name_and_types() -> None:
    scope = WrittenScope({"up": {"count": "many", "flag": 1}}, {"doc": "gone.txt"})
    declared = [
        declare("count", "number", required=True),
        declare("gone", required=True),
        declare("flag", "boolean"),
        declare("doc", "filePath"),
        declare("mapped", "object", required=True, sourceNodeId="up", sourceField="data.detail", sourcePath="a.b"),
    ]
    problems = check(declared, Resolver(scope), {"a.txt"}).problems
    needed = [('"count"', "number", "string", '"up"'), ('"gone"',), ('"flag"', "boolean", "number")]
    needed += [('"doc"', '"gone.txt"'), ('"mapped"', '"up"', '"data.detail.a.b"')]
    assert len(problems) == len(needed)
    for problem, words in zip(problems, needed, strict=True):
        for word in words:
            assert word in problem.zh
            assert word in problem.en


def test_values_are_given_as_their_declared_types_have_them() -> None:
    resolver = Resolver(WrittenScope({"up": {"n": 3, "b": True, "l": [1], "unasked": 1}}, {}))
    checked = check([declare("n"), declare("b"), declare("l", "array"), declare("none", "number")], resolver, None)
    assert checked.problems == []
    assert checked.values == {"n": "3", "b": "true", "l": [1]}
    assert resolver.name("n") == Found("3", "up")


def test_a_default_stands_in_and_is_held_against_the_type_too() -> None:
    resolver = Resolver(WrittenScope())
    checked = check([declare("a", required=True, default="x"), declare("b", "number", default="x")], resolver, None)
    assert checked.values["a"] == "x"
    assert len(checked.problems) == 1


@pytest.mark.parametrize(
    ("kind", "value"), [("string", ""), ("number", 0), ("boolean", False), ("array", []), ("object", {})]
)
def test_an_empty_value_is_there(kind: str, value: object) -> None:
    assert check([declare("x", kind, required=True)], Resolver(WrittenScope({}, {"x": value})), None).problems == []


@pytest.mark.parametrize("value", ["text", 1, True, [1], {"a": 1}])
def test_an_input_that_declares_no_type_takes_every_value_as_it_is(value: object) -> None:
    untyped = InputField.model_validate({"name": "x", "required": True})
    checked = check([untyped], Resolver(WrittenScope({}, {"x": value})), None)
    assert checked.values == {"x": value}
    assert checked.problems == []


@pytest.mark.parametrize(
    ("path", "ok"),
    [
        *[(path, True) for path in ("in/a.txt", "./in/a.txt", "in//a.txt", "in/../in/a.txt")],
        *[(path, False) for path in ("in", "", "A.txt", "/in/a.txt", "../in/a.txt")],
    ],
)
def test_a_file_path_names_a_file_of_the_run(path: str, ok: bool) -> None:
    checked = check([declare("f", "filePath")], Resolver(WrittenScope({}, {"f": path})), {"in/a.txt"})
    assert (checked.problems == []) is ok


def test_where_the_files_are_not_known_a_path_is_taken_as_it_is() -> None:
    assert check([declare("f", "filePath")], Resolver(WrittenScope({}, {"f": "x"})), None).problems == []
