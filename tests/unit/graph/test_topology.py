import pytest

from stepweave.graph.components import components
from stepweave.graph.topology import reachable
from tests.unit.graph.definitions import agentic, drawing, edge, graph_of, line, node

# in ─ a ─ c ─ out, in ─ b ─ c, in ─ c, late (a second input) ─ b
DIAMOND = drawing(
    [
        node("in", "userInput"),
        node("c"),
        node("a"),
        node("b"),
        node("late", "userInput"),
        node("out", "output"),
    ],
    [
        edge("in", "a"),
        edge("in", "b"),
        edge("a", "c"),
        edge("b", "c"),
        edge("in", "c"),
        edge("c", "out"),
        edge("late", "b"),
    ],
)


def test_nodes_keep_the_order_of_the_drawing() -> None:
    graph = graph_of(DIAMOND)
    assert dict(graph.order) == {"in": 0, "c": 1, "a": 2, "b": 3, "late": 4, "out": 5}
    assert list(graph.nodes) == list(graph.order)


def test_edges_in_and_out_of_a_node_keep_their_order_and_index() -> None:
    graph = graph_of(DIAMOND)
    assert [(each.index, each.source) for each in graph.incoming("c")] == [(2, "a"), (3, "b"), (4, "in")]
    assert [(each.index, each.target) for each in graph.outgoing("in")] == [(0, "a"), (1, "b"), (4, "c")]
    assert graph.predecessors("b") == ("in", "late")
    assert graph.successors("out") == ()


def test_roots_are_the_inputs_without_edges_into_them_and_sinks_have_none_out() -> None:
    graph = graph_of(DIAMOND)
    assert graph.roots == ("in", "late")
    assert graph.sinks == ("out",)


def test_an_input_behind_another_node_is_no_root() -> None:
    graph = graph_of(drawing([node("a", "userInput"), node("b", "userInput"), node("x")], line("a", "b")))
    assert graph.roots == ("a",)
    assert graph.sinks == ("b", "x")


def test_the_level_is_the_longest_way_from_an_input() -> None:
    assert dict(graph_of(DIAMOND).levels) == {"in": 0, "late": 0, "a": 1, "b": 1, "c": 2, "out": 3}


def test_nearest_first_is_highest_level_first_then_the_later_in_the_drawing() -> None:
    graph = graph_of(DIAMOND)
    assert graph.nearest_first(["in", "a", "b", "c", "late"]) == ["c", "b", "a", "late", "in"]
    assert graph.nearest_first([]) == []


def test_reverse_topological_order_puts_each_node_after_all_it_leads_to() -> None:
    assert graph_of(DIAMOND).reverse_topological() == ["out", "c", "b", "a", "late", "in"]


def test_ancestors_are_all_nodes_upstream_and_not_the_node_itself() -> None:
    graph = graph_of(DIAMOND)
    assert graph.ancestors("c") == {"in", "a", "b", "late"}
    assert graph.ancestors("in") == frozenset()
    assert graph.ancestors("c") is graph.ancestors("c")


def test_the_mask_has_a_bit_for_each_ancestor() -> None:
    graph = graph_of(DIAMOND)
    for node_id in graph.nodes:
        assert graph.ancestors_mask(node_id) == sum(1 << graph.order[ancestor] for ancestor in graph.ancestors(node_id))


def test_two_handles_may_lead_to_one_node() -> None:
    graph = graph_of(drawing([node("if", "condition"), node("a")], [edge("if", "a", "yes"), edge("if", "a", "no")]))
    assert [(each.index, each.handle) for each in graph.incoming("a")] == [(0, "yes"), (1, "no")]


def test_in_a_cycle_the_nodes_share_a_level_and_are_their_own_ancestors() -> None:
    nodes = [node("in", "userInput"), node("a"), node("b"), node("after")]
    graph = graph_of(agentic(nodes, [*line("in", "a", "b", "a"), edge("b", "after")]))
    assert graph.cycles == (("a", "b"),)
    assert dict(graph.levels) == {"in": 0, "a": 1, "b": 1, "after": 2}
    assert graph.ancestors("a") == {"in", "a", "b"}
    assert graph.ancestors_mask("after") == 0b111


def test_edges_to_missing_nodes_are_left_out_and_the_others_keep_their_index() -> None:
    graph = graph_of(drawing([node("a"), node("b")], [edge("a", "gone"), edge("gone", "b"), edge("a", "b")]))
    assert [each.index for each in graph.edges] == [2]
    assert graph.incoming("b") == graph.outgoing("a") == graph.edges


def test_of_two_nodes_with_one_id_the_first_counts() -> None:
    graph = graph_of(drawing([node("a", "userInput"), node("b"), node("a", "output")], []))
    assert [each.type for each in graph.nodes.values()] == ["userInput", "llm"]


def test_an_unknown_node_is_an_error_of_the_caller() -> None:
    graph = graph_of(DIAMOND)
    for ask in (graph.incoming, graph.outgoing, graph.ancestors, graph.ancestors_mask):
        with pytest.raises(KeyError):
            ask("gone")


def test_the_empty_graph_has_nothing() -> None:
    graph = graph_of(drawing([], []))
    assert (graph.roots, graph.sinks, dict(graph.levels), graph.reverse_topological(), graph.cycles) == (
        (),
        (),
        {},
        [],
        (),
    )


def test_components_stand_after_what_they_lead_to_and_a_long_chain_needs_no_recursion() -> None:
    assert components([[1], [2], [1, 3], []]) == [[3], [1, 2], [0]]
    count = 50_000
    chain = [[place + 1] for place in range(count - 1)]
    assert len(components([*chain, []])) == count
    assert components([*chain, [0]]) == [list(range(count))]


def test_reachable_includes_where_it_starts_and_ends_in_cycles() -> None:
    steps = {1: [2], 2: [3, 1], 3: [], 4: [1]}
    assert reachable([2], steps.__getitem__) == {1, 2, 3}
    assert reachable([], steps.__getitem__) == set()
