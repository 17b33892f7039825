"""What a node resolved, and nothing else (contract §3)."""

from typing import Any

import pytest

from stepweave.nodes.inputs import Inputs
from tests.builders.nodes import node
from tests.builders.scopes import WrittenScope


def inputs_of(scope: WrittenScope, *declared: dict[str, Any]) -> Inputs:
    return Inputs.of(node("llm", inputs=list(declared)), scope)


def test_of_twenty_predecessors_with_five_fields_only_the_two_values_referred_to_are_loaded() -> None:
    scope = WrittenScope({f"n{i}": {f"f{i}_{k}": f"v{i}.{k}" for k in range(5)} for i in range(20)})
    inputs = inputs_of(scope, {"name": "x", "sourceNodeId": "n3", "sourceField": "f3_2"})
    assert inputs.render("{{x}} and {{n17.f17_0}}") == "v3.2 and v17.0"
    assert inputs.variables == {"x": "v3.2", "n17.f17_0": "v17.0"}
    assert scope.reads == ["n3", "n17"]
    assert inputs.warnings == []


def test_a_node_that_refers_to_nothing_reads_nothing() -> None:
    scope = WrittenScope({"a": {"x": 1}}, {"y": 2})
    inputs = inputs_of(scope)
    assert inputs.render("plain") == "plain"
    assert inputs.variables == {}
    assert scope.reads == []


def test_references_join_the_variables_as_they_are_written() -> None:
    inputs = inputs_of(WrittenScope({"a": {"o": {"k": [1]}}}, {"t": "T"}))
    assert inputs.render("{{ t }}|{{a.o}}|{{a.o.k[0]}}|{{a__o}}|{{o.k}}") == 'T|{"k": [1]}|1|{"k": [1]}|[1]'
    assert inputs.variables == {"t": "T", "a.o": {"k": [1]}, "a.o.k[0]": 1, "a__o": {"k": [1]}, "o.k": [1]}


def test_what_resolves_to_nothing_renders_empty_warns_once_and_is_no_variable() -> None:
    inputs = inputs_of(WrittenScope({}, {"null": None}))
    assert inputs.render("<{{gone}}{{gone}}{{null}}>") == "<>"
    assert inputs.render("{{gone}}") == ""
    assert inputs.variables == {}
    assert ['"gone"' in inputs.warnings[0].zh, '"null"' in inputs.warnings[1].en] == [True, True]
    assert len(inputs.warnings) == 2
    assert inputs.failure() is None


def test_a_required_input_that_is_missing_fails_the_node_with_all_problems_in_one_message() -> None:
    inputs = inputs_of(
        WrittenScope({}, {"count": "many"}),
        {"name": "count", "type": "number", "required": True},
        {"name": "gone", "required": True},
    )
    failure = inputs.failure()
    assert failure is not None
    for word in ('"count"', "number", '"gone"'):
        assert word in failure.zh
        assert word in failure.en


def test_a_template_uses_a_declared_input_as_its_type_has_it() -> None:
    inputs = inputs_of(WrittenScope({"a": {"b": True}}), {"name": "b", "type": "string"})
    assert inputs.value("{{b}}") == "true"
    assert inputs.variables == {"b": "true"}


def test_files_of_the_run_are_only_asked_about() -> None:
    class Files:
        def __contains__(self, path: object) -> bool:
            return path == "a.txt"

    doc = {"name": "doc", "type": "filePath"}
    assert inputs_of(WrittenScope({}, {"doc": "a.txt"}, files=Files()), doc).problems == []
    assert len(inputs_of(WrittenScope({}, {"doc": "b.txt"}, files=Files()), doc).problems) == 1


@pytest.mark.parametrize(
    ("side", "value"),
    [
        ("{{n}}", 61.5),
        ("{{l}}", [1]),
        ("{{gone}}", None),
        ("{{null}}", None),
        ("{{n}}!", "61.5!"),
        ("{{gone}}{{gone}}", ""),
        ("60", "60"),
        (60, 60),
        (True, True),
        (None, None),
        (["{{n}}", "{{n}}%", 1], [61.5, "61.5%", 1]),
        ({"k": "{{l}}"}, {"k": [1]}),
    ],
)
def test_a_lone_reference_keeps_its_type(side: object, value: object) -> None:
    assert inputs_of(WrittenScope({}, {"n": 61.5, "l": [1], "null": None})).value(side) == value


def test_two_sources_of_a_name_are_told_in_the_log_of_the_node() -> None:
    inputs = inputs_of(WrittenScope({"near": {"x": 1}, "far": {"x": 2}}))
    inputs.render("{{x}}")
    (entry,) = inputs.logs("en")
    assert (entry["type"], entry["timestamp"]) == ("WARN", None)
    assert '"near"' in entry["message"]
    assert '"far"' in entry["message"]


def test_the_legacy_spread_brings_every_field_of_every_predecessor() -> None:
    scope = WrittenScope({"a": {"x": 1, "_git": 0}, "b": {"x": 2, "y": 3}}, {"z": 4}, flat=True)
    inputs = inputs_of(scope, {"name": "y"})
    assert inputs.variables == {"a__x": 1, "b__x": 2, "b__y": 3, "y": 3}


def test_what_the_scope_raises_while_it_reads_goes_through() -> None:
    class Unread(Exception):
        pass

    class Scope(WrittenScope):
        def envelope(self, node_id: str) -> Any:
            raise Unread

    with pytest.raises(Unread):
        inputs_of(Scope({"a": {"x": 1}})).render("{{a.x}}")
