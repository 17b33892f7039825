"""What a node calls what it gives (contract §2)."""

import pytest

from stepweave.graph.spec import Field
from stepweave.nodes.naming import output_fields, repeated, resolve_output_var_name, single_output
from tests.builders.nodes import node


@pytest.mark.parametrize(
    "data", [{}, {"outputs": []}, {"outputs": None}, {"outputs": [{"name": " "}]}, {"outputs": "x"}]
)
def test_a_node_that_declares_no_output_gives_result(data: dict) -> None:
    assert resolve_output_var_name(node("agent", **data)) == "result"
    assert output_fields(node("llm", **data)) == (Field("result"),)


def test_the_declared_name_and_type_are_used() -> None:
    declared = node("agent", outputs=[{"name": "report", "type": "number", "description": "d"}])
    assert single_output(declared) == (Field("report", "number", description="d"), None)


def test_a_node_with_a_single_output_uses_the_first_and_names_the_ignored_ones() -> None:
    field, warning = single_output(node("agent", outputs=[{"name": "a"}, {"name": "b"}, {"name": "c"}]))
    assert field.name == "a"
    assert warning is not None
    for text in (warning.zh, warning.en):
        assert all(f'"{name}"' in text for name in "abc")


def test_repeated_names_are_found_in_any_json() -> None:
    assert list(repeated([{"id": "a"}, {"id": "b"}, {"id": "a"}, 1, {"id": 1}, {}, {"id": "a"}], "id")) == [2, 6]
    assert list(repeated("text", "id")) == list(repeated(None, "id")) == []
