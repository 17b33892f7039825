"""What a name stands for, and how little is read to find out (contract §3)."""

from typing import Any

import pytest

from stepweave.expressions.paths import MISSING
from stepweave.expressions.resolution import Found, Resolver
from stepweave.graph.node_data import InputField
from tests.builders.scopes import WrittenScope


def mapped(name: str, node_id: str, field: str = "", path: str = "", **rest: Any) -> InputField:
    source = {"sourceNodeId": node_id, "sourceField": field, "sourcePath": path}
    return InputField.model_validate({"name": name, **source, **rest})


def plain(name: str, **rest: Any) -> InputField:
    return InputField.model_validate({"name": name, **rest})


# --- order


def test_a_mapping_goes_before_inputs_and_predecessors() -> None:
    scope = WrittenScope({"near": {"x": "near"}, "far": {"x": "far"}}, {"x": "input"})
    assert Resolver(scope).declared(mapped("x", "far", "x")) == Found("far", "far")


def test_initial_inputs_go_before_predecessors_and_cost_no_read() -> None:
    scope = WrittenScope({"near": {"x": "near"}}, {"x": "input"})
    assert Resolver(scope).name("x") == Found("input", None)
    assert scope.reads == []


def test_a_null_input_is_missing_and_the_predecessors_are_asked() -> None:
    assert Resolver(WrittenScope({"near": {"x": 1}}, {"x": None})).name("x") == Found(1, "near")


@pytest.mark.parametrize("value", [0, False, "", [], {}])
def test_empty_values_are_values(value: object) -> None:
    assert Resolver(WrittenScope({"near": {"x": 1}}, {"x": value})).name("x") == Found(value, None)


def test_an_input_is_found_by_its_exact_name_only() -> None:
    resolver = Resolver(WrittenScope({}, {"User_Name": 1, "deep": {"x": 2}}))
    assert resolver.name("username") is MISSING
    assert resolver.name("deep.x") is MISSING


def test_an_input_whose_name_has_dots_is_found_whole_and_inside() -> None:
    resolver = Resolver(WrittenScope({"near": {"x": 1}}, {"chat.history": [{"content": "hi"}], "chat.message": "so"}))
    assert resolver.reference("chat.message") == Found("so")
    assert resolver.reference("chat.history") == Found([{"content": "hi"}])
    assert resolver.reference("chat.history[0].content") == Found("hi")
    assert resolver.reference("chat.history[1].content") is MISSING
    assert resolver.reference("chat") is MISSING


def test_the_nearest_predecessor_wins_on_each_level() -> None:
    scope = WrittenScope({"near": {"x": 1, "d": {"e": 3}}, "far": {"x": 2, "d": {"e": 4}}})
    assert Resolver(scope).name("x") == Found(1, "near")
    assert Resolver(scope).name("d.e") == Found(3, "near")


@pytest.mark.parametrize(
    ("nearer", "farther"),
    [
        ({"User_Name": "b"}, {"user-name": "a"}),  # (b) near, (a) far
        ({"user-name ": "d"}, {"USERNAME": "a"}),
    ],
)
def test_a_level_is_tried_on_every_predecessor_before_the_next(nearer: dict, farther: dict) -> None:
    assert Resolver(WrittenScope({"near": nearer, "far": farther})).name("user-name") == Found("a", "far")


def test_an_exact_nested_path_goes_before_one_that_is_alike() -> None:
    scope = WrittenScope({"near": {"User": {"first_name": "d"}}, "far": {"user": {"firstName": "c"}}})
    assert Resolver(scope).name("user.firstName") == Found("c", "far")


def test_a_name_with_a_dot_is_first_taken_whole() -> None:
    scope = WrittenScope({"near": {"user": {"name": "c"}}, "far": {"User.Name": "b"}, "farther": {"user.name": "a"}})
    assert Resolver(scope).name("user.name") == Found("a", "farther")


def test_a_nested_path_is_found_ignoring_case_dash_and_underscore() -> None:
    scope = WrittenScope({"near": {"userInfo": {"First_Name": ["x", "y"]}}})
    assert Resolver(scope).name("user-info.firstname[1]") == Found("y", "near")


def test_a_null_is_passed_over_in_favour_of_a_farther_value() -> None:
    scope = WrittenScope({"near": {"x": None}, "middle": {"X": 1}, "far": {"x": 2}})
    assert Resolver(scope).name("x") == Found(2, "far")


def test_a_failed_predecessor_gives_nothing() -> None:
    failed = {"status": 400, "message": "overloaded", "data": {}}
    scope = WrittenScope({"near": failed, "far": {"x": 2}}, declares={"near": ["x"]})
    assert Resolver(scope).name("x") == Found(2, "far")


def test_plain_status_and_message_are_no_names_of_every_node() -> None:
    assert Resolver(WrittenScope({"near": {"x": 1}}, {})).name("status") is MISSING


# --- mappings


@pytest.mark.parametrize(
    ("field", "path", "value"),
    [
        ("data.result", "", "r"),
        ("result", "", "r"),
        ("trace.thinking", "", "hm"),
        ("trace.tool_calls[0].name", "", "todo"),
        ("trace.tool_calls", "[?success].name | [0]", "todo"),
        ("metadata.usage.total", "", 7),
        ("data", "list[-1]", 3),
        ("", "list[0]", 1),
        ("list", "length(@)", 3),
        ("status", "", 200),
    ],
)
def test_a_mapping_reads_data_trace_and_metadata_and_goes_on_by_jmespath(field: str, path: str, value: object) -> None:
    envelope = {
        "status": 200,
        "message": "",
        "data": {"result": "r", "list": [1, 2, 3]},
        "trace": {"thinking": "hm", "tool_calls": [{"name": "todo", "success": True}]},
        "metadata": {"usage": {"total": 7}},
    }
    scope = WrittenScope({"agent": envelope})
    assert Resolver(scope).declared(mapped("x", "agent", field, path)) == Found(value, "agent")
    assert scope.reads == ["agent"]


def test_a_mapping_without_a_field_reads_the_field_of_its_own_name() -> None:
    assert Resolver(WrittenScope({"a": {"x": 1}})).declared(mapped("x", "a")) == Found(1, "a")


@pytest.mark.parametrize(("node_id", "field", "path"), [("a", "gone", ""), ("a", "x", "gone"), ("stranger", "x", "")])
def test_a_mapping_that_finds_nothing_takes_its_default_and_never_falls_through(
    node_id: str, field: str, path: str
) -> None:
    resolver = Resolver(WrittenScope({"a": {"x": {"y": 1}}}, {"name": "input"}))
    assert resolver.declared(mapped("name", node_id, field, path)) is MISSING
    assert resolver.declared(mapped("name", node_id, field, path, default="d")) == Found("d", None)


def test_a_node_that_does_not_lead_here_is_not_even_read() -> None:
    scope = WrittenScope({"a": {"x": 1}})
    assert Resolver(scope).declared(mapped("x", "stranger", "x")) is MISSING
    assert Resolver(scope).reference("stranger.x") is MISSING
    assert Resolver(scope).reference("stranger__x") is MISSING
    assert scope.reads == []


def test_an_input_without_a_mapping_is_found_by_name_or_takes_its_default() -> None:
    resolver = Resolver(WrittenScope({"a": {"x": 1}}))
    assert resolver.declared(plain("x", default=2)) == Found(1, "a")
    assert resolver.declared(plain("y", default=False)) == Found(False, None)


def test_a_name_that_the_node_declares_means_that_and_nothing_else() -> None:
    resolver = Resolver(WrittenScope({"a": {"x": 1, "o": {"p": 2}}}, {"x": 3}))
    resolver.bind("x", Found("own"))
    resolver.bind("o", MISSING)
    assert resolver.reference("x") == Found("own")
    assert resolver.reference("o") is MISSING
    assert resolver.reference("o.p") is MISSING


# --- references


def test_references_address_a_node_its_trace_and_flat_names() -> None:
    envelope = {"status": 200, "message": "m", "data": {"r_1": "v", "_r": "w"}, "trace": {"thinking": "hm"}}
    resolver = Resolver(WrittenScope({"node_1": envelope}))
    found = {name: resolver.reference(name) for name in ("node_1.r_1", "node_1__r_1", "node_1___r", "node_1.message")}
    assert [finding.value for finding in found.values() if finding is not MISSING] == ["v", "v", "w", "m"]
    assert resolver.reference("node_1.trace.thinking") == Found("hm", "node_1")


def test_a_visible_node_goes_before_a_variable_of_its_name() -> None:
    resolver = Resolver(WrittenScope({"user": {"id": 1}}, {"user": {"id": 2, "age": 3}}))
    assert resolver.reference("user.id") == Found(1, "user")
    assert resolver.reference("user.age") is MISSING
    assert resolver.reference("user") == Found({"id": 2, "age": 3}, None)


def test_a_path_goes_into_a_variable_where_no_node_has_its_name() -> None:
    resolver = Resolver(WrittenScope({"a": {"list": [{"k": 1}]}}, {"user": {"id": 2}}))
    assert resolver.reference("user.id") == Found(2, None)
    assert resolver.reference("list[0].k") == Found(1, "a")
    assert resolver.reference("a__list[0].k") == Found(1, "a")
    assert resolver.reference("user.gone") is MISSING


def test_a_path_that_a_nearer_variable_does_not_have_is_found_farther() -> None:
    scope = WrittenScope({"near": {"user": {"age": 1}}, "far": {"user": {"name": "x"}}})
    assert Resolver(scope).reference("user.name") == Found("x", "far")


def test_a_flat_name_of_a_variable_is_found_where_the_node_has_no_such_field() -> None:
    resolver = Resolver(WrittenScope({"user": {"x": 1}}, {"user__id": 2, "user__x": 3}))
    assert resolver.reference("user__id") == Found(2, None)
    assert resolver.reference("user__x") == Found(1, "user")


@pytest.mark.parametrize("name", ["_runtime", "_memory.x", "_git", "runtime", "a._git", "a___git", "a.data._git.x"])
def test_the_reserved_sections_are_out_of_reach_by_every_road(name: str) -> None:
    sections = {"_runtime": {"x": 1}, "_memory": {"x": 1}, "_git": {"x": 1}}
    resolver = Resolver(WrittenScope({"a": dict(sections)}, sections))
    assert resolver.reference(name) is MISSING
    assert resolver.declared(mapped("v", "a", "data", "_git")) is MISSING


@pytest.mark.parametrize("name", ["", " ", ".", "-", "_", "__", "a__", "a..b", "a.", "[0]", "a[", "{", "a.b." * 2_000])
def test_names_that_are_none_resolve_to_nothing(name: str) -> None:
    assert Resolver(WrittenScope({"n": {"-_-": 1, "b": {"": 2}}}, {"x": 1})).reference(name) is MISSING


# --- laziness


def twenty() -> dict[str, dict[str, str]]:
    return {f"n{i}": {f"f{i}_{k}": f"v{i}.{k}" for k in range(5)} for i in range(20)}


def test_names_that_the_graph_declares_cost_one_read_each_of_twenty() -> None:
    scope = WrittenScope(twenty())
    resolver = Resolver(scope)
    assert resolver.reference("f17_3") == Found("v17.3", "n17")
    assert resolver.reference("n4.f4_0") == Found("v4.0", "n4")
    assert resolver.reference("n5__f5_1") == Found("v5.1", "n5")
    assert resolver.declared(mapped("x", "n9", "f9_1")) == Found("v9.1", "n9")
    assert scope.reads == ["n17", "n4", "n5", "n9"]


def test_a_name_that_nobody_declares_costs_no_read() -> None:
    scope = WrittenScope(twenty())
    assert Resolver(scope).reference("nobody") is MISSING
    assert Resolver(scope).reference("no.body[0]") is MISSING
    assert scope.reads == []


def test_a_name_that_all_of_twenty_declare_costs_one_read() -> None:
    scope = WrittenScope({f"n{i}": {"result": i} for i in range(20)})
    assert Resolver(scope).name("result") == Found(0, "n0")
    assert scope.reads == ["n0"]


def test_a_name_alike_reads_only_nodes_that_declare_one_alike() -> None:
    scope = WrittenScope({**twenty(), "last": {"User_Name": "v"}})
    assert Resolver(scope).name("user-name") == Found("v", "last")
    assert scope.reads == ["last"]


def test_a_node_that_declares_nothing_has_to_be_read() -> None:
    scope = WrittenScope({"near": {"y": 1}, "far": {"x": 2}}, undeclared=["near", "far"])
    assert Resolver(scope).name("x") == Found(2, "far")
    assert set(scope.reads) == {"near", "far"}


def test_a_name_is_looked_for_once() -> None:
    scope = WrittenScope({"a": {"x": 1}, "b": {"x": 2}})
    resolver = Resolver(scope)
    assert resolver.name("x") == resolver.name("x") == resolver.reference("x")
    assert scope.reads == ["a"]
    assert len(resolver.warnings) == 1


# --- two candidates


@pytest.mark.parametrize("undeclared", [(), ("near", "far")])
@pytest.mark.parametrize(
    ("name", "nearer", "farther"),
    [
        ("x", {"x": 1}, {"x": 2}),
        ("x-y", {"X_Y": 1}, {"xy": 2}),
        ("d.e", {"d": {"e": 1}}, {"d": {"e": 2}}),
        ("d.e", {"D": {"e": 1}}, {"d": {"E": 2}}),
    ],
)
def test_two_predecessors_with_the_name_are_both_told_of(
    name: str, nearer: dict, farther: dict, undeclared: tuple[str, ...]
) -> None:
    resolver = Resolver(WrittenScope({"near": nearer, "far": farther}, undeclared=undeclared))
    assert resolver.name(name) == Found(1, "near")
    (warning,) = resolver.warnings
    for text in (warning.zh, warning.en):
        assert '"near"' in text
        assert '"far"' in text
        assert f'"{name}"' in text


@pytest.mark.parametrize(
    ("nodes", "inputs"),
    [
        ({"near": {"x": 1}, "far": {"y": 2}}, {}),
        ({"near": {"x": 1}, "far": {"X": 2}}, {}),
        ({"near": {"x": None}, "far": {"x": 2}}, {}),
        ({"near": {"x": 1}}, {"x": 2}),
        ({"near": {"d": {"x": 1}}, "far": {"x": 2}}, {}),
    ],
)
def test_one_candidate_on_the_level_is_not_ambiguous(nodes: dict, inputs: dict) -> None:
    resolver = Resolver(WrittenScope(nodes, inputs))
    assert resolver.name("x") is not MISSING
    assert resolver.warnings == []


def test_a_second_variable_without_the_path_inside_is_no_candidate() -> None:
    resolver = Resolver(WrittenScope({"near": {"d": {"e": 1}}, "far": {"d": {"f": 2}}}))
    assert resolver.name("d.e") == Found(1, "near")
    assert resolver.warnings == []


def test_an_addressed_node_is_never_ambiguous() -> None:
    resolver = Resolver(WrittenScope({"near": {"x": 1}, "far": {"x": 2}}))
    assert resolver.reference("far.x") == Found(2, "far")
    assert resolver.reference("far__x") == Found(2, "far")
    assert resolver.warnings == []
