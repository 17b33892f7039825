"""Explicit input mappings: each names a node that can run before the one that reads it (contract §2)."""

from collections.abc import Iterator

from stepweave.graph.model import USER_INPUT, Definition, Node
from stepweave.graph.node_data import InputField
from stepweave.graph.problem import Problem, quoted
from stepweave.graph.topology import Graph
from stepweave.texts import Text


def mapping_problems(definition: Definition, graph: Graph) -> Iterator[Problem]:
    """At most one problem for each mapped input."""
    for node in definition.nodes:
        for declared in node.common.inputs:
            if not declared.is_mapped:
                continue
            if declared.source_node_id not in graph.nodes:
                yield _unknown(node, declared)
            elif not _can_run_before(declared.source_node_id, node.id, definition, graph):
                yield _not_before(node, declared)


def _can_run_before(source: str, reader: str, definition: Definition, graph: Graph) -> bool:
    """DAG: a way leads from the source to the reader. AGENTIC: the planner is free to run any node before any
    other, also an earlier visit of the same; only the `userInput` nodes run before all else, in their order.
    """
    if definition.mode == "DAG":
        return source != reader and bool(graph.ancestors_mask(reader) >> graph.order[source] & 1)
    if graph.nodes[reader].type != USER_INPUT:
        return True
    return graph.nodes[source].type == USER_INPUT and graph.order[source] < graph.order[reader]


def _unknown(node: Node, declared: InputField) -> Problem:
    name, source = quoted(declared.name), quoted(declared.source_node_id)
    return Problem(
        "MAPPING_UNKNOWN_NODE",
        Text(
            f"节点 {quoted(node.id)} 的输入 {name} 引用了不存在的节点 {source}，请更正 sourceNodeId",
            f"input {name} of node {quoted(node.id)} is mapped from node {source}, which does not exist: correct sourceNodeId",
        ),
        node.id,
    )


def _not_before(node: Node, declared: InputField) -> Problem:
    name, source = quoted(declared.name), quoted(declared.source_node_id)
    return Problem(
        "MAPPING_NOT_BEFORE",
        Text(
            f"节点 {quoted(node.id)} 的输入 {name} 引用了节点 {source}，但它不会在该节点之前运行，请改用其上游节点",
            f"input {name} of node {quoted(node.id)} is mapped from node {source}, which cannot run before it: "
            "map it from a node upstream",
        ),
        node.id,
    )
