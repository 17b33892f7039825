"""`output` (contract §2): what a run gives."""

from typing import Any

import pytest

from stepweave.graph.spec import Field
from stepweave.nodes.output import Output
from tests.builders.nodes import node
from tests.builders.scopes import WrittenScope


def run(scope: WrittenScope, **data: Any) -> Any:
    return Output().run(node("output", **data), scope)


def declared(*names: str, **more: Any) -> list[dict[str, Any]]:
    return [{"name": name, **more} for name in names]


# --- declared


def test_declared_outputs_are_given_and_nothing_else() -> None:
    outcome = run(WrittenScope({"a": {"x": "1", "y": "2"}}, {"z": "3"}), outputs=declared("x", "z"))
    assert outcome.status == "SUCCESS"
    assert outcome.envelope == {"status": 200, "message": "处理成功", "data": {"x": "1", "z": "3"}}
    assert outcome.variables == {"x": "1", "z": "3"}
    assert outcome.logs == ()


def test_only_the_nodes_that_give_a_declared_output_are_read() -> None:
    scope = WrittenScope({f"n{i}": {f"f{i}": i} for i in range(20)})
    assert run(scope, outputs=declared("f3", "f9", type="number")).envelope["data"] == {"f3": 3, "f9": 9}
    assert scope.reads == ["n3", "n9"]


def test_a_mapping_says_where_an_output_comes_from() -> None:
    up = {"status": 200, "message": "", "data": {"x": [1, 2]}, "trace": {"thinking": "hm"}}
    outputs = [
        {"name": "last", "type": "number", "sourceNodeId": "up", "sourceField": "x", "sourcePath": "[-1]"},
        {"name": "thought", "sourceNodeId": "up", "sourceField": "trace.thinking"},
    ]
    assert run(WrittenScope({"up": up}), outputs=outputs).envelope["data"] == {"last": 2, "thought": "hm"}


def test_an_output_may_be_named_after_a_mapped_input() -> None:
    inputs = [{"name": "x", "sourceNodeId": "far", "sourceField": "y"}]
    outcome = run(WrittenScope({"near": {"x": "n"}, "far": {"y": "f"}}), inputs=inputs, outputs=declared("x"))
    assert outcome.envelope["data"] == {"x": "f"}


def test_a_declared_output_that_nothing_gives_is_null_and_warns() -> None:
    outcome = run(WrittenScope(), outputs=declared("x"))
    assert outcome.envelope["data"] == {"x": None}
    (entry,) = outcome.logs
    assert entry["type"] == "WARN"
    assert '"x"' in entry["message"]


def test_values_are_given_as_their_declared_types_have_them() -> None:
    scope = WrittenScope({}, {"x": 61.5})
    assert run(scope, outputs=declared("x", type="string")).envelope["data"] == {"x": "61.5"}
    assert run(scope, outputs=declared("x", type="number")).envelope["data"] == {"x": 61.5}
    assert run(scope, outputs=declared("x")).envelope["data"] == {"x": 61.5}


def test_values_that_do_not_fit_fail_the_node_with_every_problem() -> None:
    outcome = run(WrittenScope({}, {"x": "text", "y": [1]}), outputs=declared("x", "y", type="number"))
    assert outcome.status == "FAILED"
    assert '"x"' in (outcome.error or "")
    assert '"y"' in (outcome.error or "")
    assert outcome.envelope["status"] == 400


# --- nothing declared


def test_without_declared_outputs_the_nearer_and_later_overwrites() -> None:
    scope = WrittenScope(
        {"near": {"r": 3, "n": 1}, "middle": {"r": 2}, "far": {"r": 1, "f": 1}}, {"topic": "t", "f": 0}
    )
    outcome = run(scope)
    assert outcome.envelope["data"] == {"topic": "t", "f": 1, "r": 3, "n": 1}
    assert outcome.variables == outcome.envelope["data"]


def test_every_value_that_is_overwritten_is_told_with_both_places() -> None:
    logs = run(WrittenScope({"near": {"r": 2}, "far": {"r": 1, "f": 1}}, {"f": 0})).logs
    assert [entry["type"] for entry in logs] == ["WARN", "WARN"]
    assert '"far"' in logs[0]["message"]
    assert "运行输入" in logs[0]["message"]
    assert '"near"' in logs[1]["message"]
    assert '"far"' in logs[1]["message"]


def test_the_same_value_twice_is_no_loss() -> None:
    assert run(WrittenScope({"in": {"topic": "t"}}, {"topic": "t"})).logs == ()


def test_null_is_over_nothing_but_is_given_where_there_is_nothing_else() -> None:
    outcome = run(WrittenScope({"near": {"r": None, "absent": None}, "far": {"r": 1}}))
    assert outcome.envelope["data"] == {"r": 1, "absent": None}
    assert outcome.logs == ()


def test_a_failed_predecessor_adds_nothing() -> None:
    failed = {"status": 400, "message": "overloaded", "data": {}}
    assert run(WrittenScope({"near": failed, "far": {"r": 1}})).envelope["data"] == {"r": 1}


def test_nodes_that_have_no_variables_are_not_read() -> None:
    scope = WrittenScope({"condition": {}, "a": {"r": 1}})
    run(scope)
    assert scope.reads == ["a"]


def test_mapped_inputs_are_given_last() -> None:
    inputs = [{"name": "r", "sourceNodeId": "far", "sourceField": "r"}]
    scope = WrittenScope({"near": {"r": "2"}, "far": {"r": "1"}})
    assert run(scope, inputs=inputs).envelope["data"] == {"r": "1"}


def test_the_reserved_sections_are_not_given() -> None:
    assert run(WrittenScope({"a": {"_git": 1, "x": 1}}, {"_runtime": 2})).envelope["data"] == {"x": 1}


def test_a_run_without_any_value_gives_an_empty_object() -> None:
    assert run(WrittenScope()).envelope["data"] == {}


# --- what the graph is told


def test_it_tells_its_declared_outputs() -> None:
    assert Output().outputs(node("output", outputs=declared("x", type="number"))) == (Field("x", "number"),)
    assert Output().outputs(node("output")) is None
    assert Output().handles(node("output")) is None


def test_a_faulty_mapping_of_an_output_is_told_and_common_faults_are_left_to_the_graph() -> None:
    outputs = [{"name": "x", "sourceNodeId": "a", "sourcePath": "["}, {"name": 1}, {"name": "t", "type": "date"}]
    (problem,) = Output().problems(node("output", outputs=outputs))
    assert "data.outputs[0].sourcePath" in problem.message.en


@pytest.mark.parametrize("outputs", [1, "x", {}, [1], [[]], [{"name": 1}]])
def test_any_json_in_the_data_is_judged_without_raising(outputs: object) -> None:
    odd = node("output", outputs=outputs)
    assert Output().problems(odd) == []
    assert Output().run(odd, WrittenScope()).status == "SUCCESS"
