"""What a planner answered, read and held against the palette and the limits (contract §2). Pure.

A decision is `{next, reason, isFinal}`; `next` is a node, or null where the run is to end. Where `allowOffCanvas` is
set, it may hold an `instruction` of the planner's own instead of a node: it is then for the graph's `off_canvas` node.
"""

from collections.abc import Mapping
from typing import Any

from stepweave.execution.ledger import Ledger, count, total
from stepweave.expressions.conversion import convert
from stepweave.expressions.paths import MISSING
from stepweave.expressions.structured import find_object
from stepweave.expressions.templates import to_text
from stepweave.graph.model import USER_INPUT, Node, Planner
from stepweave.graph.problem import quoted
from stepweave.graph.topology import Graph
from stepweave.texts import Text

_REASON_CHARACTERS = 2_000
_INSTRUCTION_CHARACTERS = 20_000
_NAMED_NODES = 30
_NOTHING = ("", "null", "none")

Decided = dict[str, Any]


class Refused(Exception):
    """The decision cannot be carried out; the text is for the planner, and for people where it stays so."""

    def __init__(self, text: Text) -> None:
        super().__init__(str(text))
        self.text = text


def read_decision(answer: str, graph: Graph, ledger: Ledger) -> Decided:
    """The decision in a planner's answer. Raises `Refused` with the node or the limit that stands against it."""
    found = find_object(answer, ("next", "isFinal"))
    if found is None:
        raise Refused(
            Text("回答不是 JSON：" + quoted(answer), "the answer is not JSON: " + quoted(answer)),
        )
    decided = _read(found, graph)
    _check_limits(decided, graph, ledger)
    return decided


def visits_left(graph: Graph, ledger: Ledger) -> int:
    """How many nodes the planner may still visit; `userInput` nodes ran by themselves and do not count."""
    return planner_of(graph).max_visits - (total(ledger) - len(graph.roots))


def palette(graph: Graph) -> list[Node]:
    """The nodes that a planner is shown: those drawn, but for the `userInput` nodes, which run by themselves."""
    return [node for node in graph.nodes.values() if node.type != USER_INPUT and node.id != graph.off_canvas]


def _read(found: Mapping[str, Any], graph: Graph) -> Decided:
    final = convert(found.get("isFinal") or False, "boolean")
    if final is MISSING:
        raise Refused(Text("isFinal 必须是 true 或 false", "isFinal must be true or false"))
    reason = to_text(found.get("reason"))[:_REASON_CHARACTERS]
    instruction = found.get("instruction")
    following = _next(found, graph)
    if isinstance(instruction, str) and instruction.strip() and following in (None, graph.off_canvas):
        if graph.off_canvas is None:
            raise Refused(
                Text(
                    "此工作流不允许自拟指令（allowOffCanvas 为 false），请从节点中选择 next",
                    "this workflow allows no instruction of your own (allowOffCanvas is false): choose next from the nodes",
                )
            )
        decided: Decided = {"next": graph.off_canvas, "reason": reason, "isFinal": final}
        decided["instruction"] = instruction[:_INSTRUCTION_CHARACTERS]
        return decided | ({"script": found["script"]} if found.get("script") is not None else {})
    if following is None and not final:
        raise Refused(
            Text("next 为空时 isFinal 必须为 true", "next may be null only where isFinal is true: name a node")
        )
    if following is not None:
        _check_node(following, graph)
    return {"next": following, "reason": reason, "isFinal": final}


def _next(found: Mapping[str, Any], graph: Graph) -> Any:
    """Models write spaces around an id, and null as a word."""
    following = found.get("next") or None
    if not isinstance(following, str) or following in graph.nodes:
        return following
    following = following.strip()
    return None if following.lower() in _NOTHING and following not in graph.nodes else following


def _check_node(following: Any, graph: Graph) -> None:
    if isinstance(following, str) and following in graph.nodes and following != graph.off_canvas:
        return
    name = quoted(to_text(following))
    if following == graph.off_canvas:
        raise Refused(Text(f"next 为 {name} 时需要 instruction", f"next {name} needs an instruction"))
    names = [quoted(node.id) for node in palette(graph)]
    listed = ", ".join(names[:_NAMED_NODES]) + (", …" if len(names) > _NAMED_NODES else "")
    raise Refused(
        Text(
            f"节点 {name} 不存在，可选的节点：{listed}",
            f"there is no node {name}; the nodes are {listed}",
        )
    )


def _check_limits(decided: Decided, graph: Graph, ledger: Ledger) -> None:
    """An `output` may always be visited: a planner at its limit can still bring the run to an end."""
    following = decided["next"]
    planner = planner_of(graph)
    if following is None or following in graph.outputs:
        return
    if visits_left(graph, ledger) <= 0:
        most = planner.max_visits
        raise Refused(
            Text(
                f"已访问 {most} 次节点，达到上限 maxVisits（{most}），只能结束运行",
                f"{most} visits were made, which is the limit maxVisits ({most}): the run can only be ended",
            )
        )
    visits = count(ledger, graph.order[following])
    if visits >= planner.max_visits_per_node:
        most = planner.max_visits_per_node
        raise Refused(
            Text(
                f"节点 {quoted(following)} 已访问 {visits} 次，达到上限 maxVisitsPerNode（{most}），请选择其他节点",
                f"node {quoted(following)} was visited {visits} times, which is the limit maxVisitsPerNode ({most}): "
                "choose another node",
            )
        )


def planner_of(graph: Graph) -> Planner:
    assert graph.planner is not None, "a saved AGENTIC definition has a planner"
    return graph.planner
