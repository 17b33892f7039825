"""What a drawing must have so that a run can start, reach every node, and end (contract §2)."""

from collections.abc import Iterable
from functools import reduce
from operator import or_

from stepweave.graph.model import OUTPUT, USER_INPUT, Node
from stepweave.graph.problem import Problem, quoted
from stepweave.graph.topology import Graph, reachable
from stepweave.texts import Text

_NAMED_NODES = 50


def end_problems(nodes: Iterable[Node]) -> list[Problem]:
    """Both modes: somewhere to start and somewhere to end."""
    types = {node.type for node in nodes}
    problems = []
    if USER_INPUT not in types:
        problems.append(
            Problem(
                "NO_INPUT",
                Text("缺少 userInput 节点，请至少添加一个", "there is no userInput node: add at least one"),
            )
        )
    if OUTPUT not in types:
        problems.append(
            Problem("NO_OUTPUT", Text("缺少 output 节点，请至少添加一个", "there is no output node: add at least one"))
        )
    return problems


def dag_problems(graph: Graph) -> list[Problem]:
    """DAG only: no cycle; every node on a way from a `userInput` to an `output`; some node between the two."""
    inputs = [node_id for node_id, node in graph.nodes.items() if node.type == USER_INPUT]
    outputs = [node_id for node_id, node in graph.nodes.items() if node.type == OUTPUT]
    reached = reachable(inputs, graph.successors)
    leading_out = reachable(outputs, graph.predecessors)
    inputs_mask = reduce(or_, (1 << graph.order[node_id] for node_id in inputs), 0)
    problems = [_cycle(members, graph) for members in graph.cycles]
    for node_id, node in graph.nodes.items():
        if node_id not in reached:
            problems.append(_unreachable(node_id))
        elif node.type == OUTPUT and not _has_node_between(node_id, inputs_mask, graph):
            problems.append(_nothing_between(node_id))
        if node_id not in leading_out:
            problems.append(_no_way_out(node_id))
    return problems


def _has_node_between(output: str, inputs: int, graph: Graph) -> bool:
    """A node before the output is itself reached from a `userInput` other than it; a direct edge does not count.

    `inputs` has the bits of the `userInput` nodes.
    """
    return any(
        graph.ancestors_mask(source) & inputs & ~(1 << graph.order[source])
        for source in graph.predecessors(output)
        if source != output
    )


def _cycle(members: tuple[str, ...], graph: Graph) -> Problem:
    """A plain cycle is told as the way round; where several share nodes, all of their nodes are named."""
    inside = set(members)
    following = {node_id: {target for target in graph.successors(node_id) if target in inside} for node_id in members}
    is_plain = all(len(targets - {node_id}) == 1 for node_id, targets in following.items())
    if not is_plain:
        named = ", ".join(quoted(node_id) for node_id in members[:_NAMED_NODES]) + _rest(len(members))
        message = Text(f"节点 {named} 之间存在环，请断开", f"nodes {named} form cycles: break them")
        return Problem("CYCLE", message, members[0])
    way = [members[0]]
    while len(way) <= min(len(members), _NAMED_NODES):
        way.append(next(iter(following[way[-1]] - {way[-1]})))
    named = " → ".join(quoted(node_id) for node_id in way) + _rest(len(members))
    return Problem("CYCLE", Text(f"存在环：{named}，请断开", f"there is a cycle: {named}: break it"), members[0])


def _rest(count: int) -> str:
    return f" … ({count})" if count > _NAMED_NODES else ""


def _unreachable(node_id: str) -> Problem:
    return Problem(
        "UNREACHABLE",
        Text(
            f"从 userInput 节点无法到达节点 {quoted(node_id)}，请连线或删除它",
            f"node {quoted(node_id)} is not reached from any userInput node: connect it or remove it",
        ),
        node_id,
    )


def _no_way_out(node_id: str) -> Problem:
    return Problem(
        "NO_WAY_OUT",
        Text(
            f"节点 {quoted(node_id)} 无法到达任何 output 节点，请连线或删除它",
            f"node {quoted(node_id)} leads to no output node: connect it or remove it",
        ),
        node_id,
    )


def _nothing_between(node_id: str) -> Problem:
    return Problem(
        "NO_NODE_BETWEEN",
        Text(
            f"output 节点 {quoted(node_id)} 与 userInput 节点直接相连，请在两者之间至少放一个节点",
            f"output node {quoted(node_id)} is joined to userInput nodes directly: put at least one node in between",
        ),
        node_id,
    )
