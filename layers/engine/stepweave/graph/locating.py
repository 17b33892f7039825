"""Faults of shape, told as problems of the nodes and edges in which they are."""

from typing import Any, Final

from stepweave.graph import shape
from stepweave.graph.edge import Edge
from stepweave.graph.problem import Problem, quoted
from stepweave.graph.shape import Fault, Path
from stepweave.texts import Text

# Far above what people draw; below it every step of validation takes a second at most.
MAX_NODES = 10_000
MAX_EDGES = 30_000

_NODE_CODES: Final = {"id": "BAD_ID", "type": "UNKNOWN_TYPE", "data": "BAD_DATA"}
_CODES: Final = {"name": "BAD_NAME", "mode": "BAD_MODE", "planner": "BAD_PLANNER"}


def too_many(value: dict[str, Any]) -> list[Fault]:
    """More nodes or edges than are looked at."""
    graph_data = value.get("graphData")
    if not isinstance(graph_data, dict):
        return []
    faults = []
    for name, limit in (("nodes", MAX_NODES), ("edges", MAX_EDGES)):
        items = graph_data.get(name)
        if isinstance(items, list) and len(items) > limit:
            text = Text(f"有 {len(items)} 项，最多 {limit} 项", f"has {len(items)} items, {limit} are allowed")
            faults.append(Fault(("graphData", name), text, "TOO_LARGE"))
    return faults


def locate(fault: Fault, value: dict[str, Any]) -> Problem:
    """The problem of a fault whose path counts from the whole definition, `value`."""
    match fault.path:
        case ("graphData", "nodes", int(index), *inside):
            return _node_problem(fault, value["graphData"]["nodes"][index], tuple(inside))
        case ("graphData", "edges", int(index), *_):
            return Problem(
                fault.code or "BAD_EDGE",
                _sentence(fault.path, fault),
                edge=_edge(index, value["graphData"]["edges"][index]),
            )
        case _:
            first = str(fault.path[0]) if fault.path else ""
            return Problem(fault.code or _CODES.get(first, "BAD_DEFINITION"), _sentence(fault.path, fault))


def _node_problem(fault: Fault, node: Any, inside: Path) -> Problem:
    code = fault.code or _NODE_CODES.get(str(inside[0]) if inside else "", "BAD_NODE")
    node_id = node.get("id") if isinstance(node, dict) else None
    if not isinstance(node_id, str):
        return Problem(code, _sentence(fault.path, fault))
    return node_problem(node_id, Fault(inside, fault.text), code)


def node_problem(node_id: str, fault: Fault, code: str = "BAD_DATA") -> Problem:
    """A fault inside a node; its path counts from the node."""
    return Problem(code, _sentence(fault.path, fault, node_id), node_id)


def _sentence(path: Path, fault: Fault, node_id: str | None = None) -> Text:
    place = shape.spell(path)
    if node_id is None:
        return Text(f"{place or '工作流定义'} {fault.text.zh}", f"{place or 'the definition'} {fault.text.en}")
    of_zh, of_en = (f" 的 {place}", f": {place}") if place else ("", "")
    return Text(f"节点 {quoted(node_id)}{of_zh} {fault.text.zh}", f"node {quoted(node_id)}{of_en} {fault.text.en}")


def _edge(index: int, raw: Any) -> Edge | None:
    """The edge as far as it says where it leads."""
    if not isinstance(raw, dict):
        return None
    source, target, handle = raw.get("source"), raw.get("target"), raw.get("sourceHandle")
    if not isinstance(source, str) or not isinstance(target, str):
        return None
    return Edge(index, source, target, handle if isinstance(handle, str) else None)
