from typing import Any

import pytest

from stepweave.graph.model import Node
from stepweave.graph.node_data import repeated_names
from stepweave.graph.shape import spell
from stepweave.graph.spec import Field


def node(**data: Any) -> Node:
    return Node(id="n", type="llm", data=data)


def faults(**data: Any) -> list[str]:
    return [spell(fault.path) for fault in node(**data).common_faults[1]]


def test_what_is_not_said_has_the_defaults_of_the_contract() -> None:
    common = node().common
    assert common.fail_strategy == "abort"
    assert (common.retry.max_attempts, common.retry.backoff_seconds) == (3, 1)
    assert common.timeout_seconds is None
    assert (common.inputs, common.outputs) == ([], [])


def test_what_is_said_is_read() -> None:
    common = node(
        failStrategy="skip",
        retry={"maxAttempts": 5, "backoffSeconds": 0.5},
        timeoutSeconds=30,
        inputs=[
            {"name": "x", "type": "number", "required": True, "default": 2},
            {"name": "y", "sourceNodeId": "a", "sourceField": "trace.tool_calls[0].result", "sourcePath": "b.c[0]"},
        ],
        outputs=[{"name": "r", "type": "filePath", "description": "d"}],
    ).common
    assert common.fail_strategy == "skip"
    assert (common.retry.max_attempts, common.retry.backoff_seconds, common.timeout_seconds) == (5, 0.5, 30)
    plain, mapped = common.inputs
    assert (plain.name, plain.type, plain.required, plain.default, plain.is_mapped) == ("x", "number", True, 2, False)
    assert (mapped.type, mapped.required, mapped.is_mapped) == ("string", False, True)
    assert (mapped.source_node_id, mapped.source_field, mapped.source_path) == (
        "a",
        "trace.tool_calls[0].result",
        "b.c[0]",
    )
    assert common.output_fields == (Field("r", "filePath", description="d"),)


def test_null_and_empty_strings_are_what_editors_leave_behind() -> None:
    assert faults(label=None, inputs=None, outputs=None, failStrategy=None, retry=None, timeoutSeconds=None) == []
    empty = node(inputs=[{"name": "x", "type": None, "sourceNodeId": "", "sourceField": None, "sourcePath": ""}])
    assert empty.common_faults[1] == ()
    assert not empty.common.inputs[0].is_mapped


@pytest.mark.parametrize(
    ("data", "place"),
    [
        ({"label": 3}, "label"),
        ({"failStrategy": "retry"}, "failStrategy"),
        ({"retry": 3}, "retry"),
        ({"retry": {"maxAttempts": 0}}, "retry.maxAttempts"),
        ({"retry": {"maxAttempts": 1.5}}, "retry.maxAttempts"),
        ({"retry": {"maxAttempts": True}}, "retry.maxAttempts"),
        ({"retry": {"maxAttempts": 10**6}}, "retry.maxAttempts"),
        ({"retry": {"backoffSeconds": -1}}, "retry.backoffSeconds"),
        ({"retry": {"backoffSeconds": "1"}}, "retry.backoffSeconds"),
        ({"timeoutSeconds": 0}, "timeoutSeconds"),
        ({"timeoutSeconds": "9"}, "timeoutSeconds"),
        ({"inputs": {}}, "inputs"),
        ({"inputs": ["x"]}, "inputs[0]"),
        ({"inputs": [{}]}, "inputs[0].name"),
        ({"inputs": [{"name": " "}]}, "inputs[0].name"),
        ({"inputs": [{"name": "x", "type": "int"}]}, "inputs[0].type"),
        ({"inputs": [{"name": "x", "required": "yes"}]}, "inputs[0].required"),
        ({"inputs": [{"name": "x", "sourceNodeId": 4}]}, "inputs[0].sourceNodeId"),
        ({"inputs": [{"name": "x", "sourcePath": "a[?"}]}, "inputs[0].sourcePath"),
        ({"inputs": [{"name": "x", "sourcePath": "(" * 900}]}, "inputs[0].sourcePath"),
        ({"inputs": [{"name": "x", "sourcePath": "a" * 1001}]}, "inputs[0].sourcePath"),
        ({"outputs": [{"name": "x", "type": ["string"]}]}, "outputs[0].type"),
        ({"outputs": [{"name": "x", "description": 1}]}, "outputs[0].description"),
    ],
)
def test_a_fault_is_told_with_its_place(data: dict[str, Any], place: str) -> None:
    assert faults(**data) == [place]


def test_one_fault_hides_no_other_and_sound_parts_stay_readable() -> None:
    broken = node(
        label="Reader",
        failStrategy="?",
        retry={"maxAttempts": 0, "backoffSeconds": 9},
        inputs=[{"name": 1}, {"name": "y"}],
    )
    common, found = broken.common_faults
    assert sorted(spell(fault.path) for fault in found) == ["failStrategy", "inputs[0].name", "retry.maxAttempts"]
    assert [declared.name for declared in common.inputs] == ["y"]
    assert (common.fail_strategy, common.retry.max_attempts, common.retry.backoff_seconds) == ("abort", 3, 9)


def test_a_name_declared_twice_is_told_for_inputs_and_outputs_apart() -> None:
    common = node(inputs=[{"name": "x"}, {"name": "y"}, {"name": "x"}], outputs=[{"name": "x"}, {"name": "x"}]).common
    assert [spell(fault.path) for fault in repeated_names(common)] == ["inputs[2].name", "outputs[1].name"]


def test_a_node_is_called_by_its_label_else_by_its_id() -> None:
    assert node(label="Summarise").label == "Summarise"
    assert node(label="").label == "n"
    assert node(label=7).label == "n"
