"""Whether a definition can be run; every problem is gathered, none hides another (contract §2)."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from stepweave.graph.connectivity import dag_problems, end_problems
from stepweave.graph.edge import Edge
from stepweave.graph.locating import locate, node_problem
from stepweave.graph.mapping import mapping_problems
from stepweave.graph.model import Definition, Node, Planner, read_definition
from stepweave.graph.naming import node_id_problem, workflow_name_problem
from stepweave.graph.node_data import repeated_names
from stepweave.graph.problem import Problem, arrow, graph_invalid, quoted
from stepweave.graph.shape import Fault
from stepweave.graph.spec import Specs
from stepweave.graph.topology import Graph
from stepweave.texts import Text

PlannerFaults = Callable[[Planner], Iterable[Fault]]
"""What is wrong with a planner's model and script, which the graph knows nothing of; paths count from the planner."""


def accept(raw: Any, specs: Specs, planner_faults: PlannerFaults = lambda _: ()) -> Definition:
    """The definition that a client sent, found valid.

    Raises `GraphInvalid`, and nothing else whatever `raw` is, with the faults of shape and those of meaning together.
    """
    definition, problems = read_definition(raw)
    if definition is not None:
        told = {_place(problem) for problem in problems}
        problems += [problem for problem in validate(definition, specs, planner_faults) if not _follows(problem, told)]
    if definition is None or problems:
        raise graph_invalid(problems)
    return definition


_Place = tuple[str, str | None, Edge | None]


def _place(problem: Problem) -> _Place:
    return problem.code, problem.node_id, problem.edge


def _follows(problem: Problem, told: set[_Place]) -> bool:
    """What was misshapen stands at its default by now: the same problem at the same place is that one again, and
    whether a planner is allowed cannot be said while the mode is unknown.
    """
    return _place(problem) in told or (problem.code == "PLANNER_NOT_ALLOWED" and ("BAD_MODE", None, None) in told)


def validate(definition: Definition, specs: Specs, planner_faults: PlannerFaults = lambda _: ()) -> list[Problem]:
    """Every problem of a parsed definition: of the whole, then of nodes and edges in their order, then of the ways.

    Time grows linearly with nodes and edges, but for sets of ancestors as bits: n² bits, a word at a time.
    """
    graph = Graph.of(definition)
    return [
        *_whole(definition, planner_faults),
        *_duplicates(definition),
        *(problem for node in definition.nodes for problem in _node(node, specs)),
        *(problem for edge in definition.edges for problem in _edge(edge, graph, specs)),
        *end_problems(definition.nodes),
        *(dag_problems(graph) if definition.mode == "DAG" else ()),
        *mapping_problems(definition, graph),
    ]


def _whole(definition: Definition, planner_faults: PlannerFaults) -> Iterator[Problem]:
    name = workflow_name_problem(definition.name)
    if name is not None:
        yield name
    planner = definition.planner
    if definition.mode == "AGENTIC" and (planner is None or not planner.model.strip()):
        text = Text(
            "AGENTIC 模式需要 planner，并且要填写其 model",
            "an AGENTIC workflow needs a planner that names its model: fill in planner.model",
        )
        yield Problem("BAD_PLANNER", text)
    elif definition.mode == "AGENTIC" and planner is not None:
        for fault in planner_faults(planner):
            yield locate(fault.below("planner"), {})
    if definition.mode == "DAG" and planner is not None:
        yield Problem(
            "PLANNER_NOT_ALLOWED",
            Text(
                "planner 仅用于 AGENTIC 模式，请删除它或更改 mode",
                "planner is for AGENTIC workflows only: remove it or change the mode",
            ),
        )


def _duplicates(definition: Definition) -> Iterator[Problem]:
    for node_id, count in Counter(node.id for node in definition.nodes).items():
        if count > 1:
            text = Text(
                f"{count} 个节点使用了同一 ID {quoted(node_id)}，请改为各不相同",
                f"{count} nodes have the id {quoted(node_id)}: give each its own",
            )
            yield Problem("DUPLICATE_ID", text, node_id)


def _node(node: Node, specs: Specs) -> Iterator[Problem]:
    form = node_id_problem(node.id)
    if form is not None:
        yield form
    spec = specs(node.type)
    if spec is None:
        text = Text(
            f"节点 {quoted(node.id)} 的类型 {quoted(node.type)} 不存在，请更正 type",
            f"node {quoted(node.id)} is of type {quoted(node.type)}, which does not exist: correct its type",
        )
        yield Problem("UNKNOWN_TYPE", text, node.id)
    common, faults = node.common_faults
    for fault in (*faults, *repeated_names(common)):
        yield node_problem(node.id, fault.below("data"))
    if spec is not None:
        yield from spec.problems(node)


def _edge(edge: Edge, graph: Graph, specs: Specs) -> Iterator[Problem]:
    for end in dict.fromkeys((edge.source, edge.target)):
        if end not in graph.nodes:
            text = Text(
                f"连线 {arrow(edge)} 引用了不存在的节点 {quoted(end)}，请更正或删除",
                f"edge {arrow(edge)} names node {quoted(end)}, which does not exist: correct or remove it",
            )
            yield Problem("UNKNOWN_NODE", text, edge=edge)
    if edge.source == edge.target:
        text = Text(
            f"节点 {quoted(edge.source)} 连向了自身，请删除这条连线",
            f"node {quoted(edge.source)} is joined to itself: remove the edge",
        )
        yield Problem("SELF_LOOP", text, edge.source, edge)
    if edge.source in graph.nodes:
        yield from _handle(edge, graph.nodes[edge.source], specs)


def _handle(edge: Edge, source: Node, specs: Specs) -> Iterator[Problem]:
    spec = specs(source.type)
    handles = None if spec is None else spec.handles(source)
    if handles is None or edge.handle in handles:
        return
    names = ", ".join(quoted(handle) for handle in handles[:20]) or "—"
    if edge.handle is None:
        text = Text(
            f"连线 {arrow(edge)} 从节点 {quoted(source.id)} 的分支出发，但没有 sourceHandle，请选择其一：{names}",
            f"edge {arrow(edge)} leaves a branch of node {quoted(source.id)} but has no sourceHandle: choose one of {names}",
        )
        yield Problem("HANDLE_MISSING", text, source.id, edge)
    else:
        text = Text(
            f"连线 {arrow(edge)} 的 sourceHandle {quoted(edge.handle)} 不是节点 {quoted(source.id)} 的分支，请选择其一：{names}",
            f"edge {arrow(edge)} has sourceHandle {quoted(edge.handle)}, which is no branch of node {quoted(source.id)}: "
            f"choose one of {names}",
        )
        yield Problem("HANDLE_UNKNOWN", text, source.id, edge)
