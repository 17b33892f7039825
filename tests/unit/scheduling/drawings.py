"""Graphs in one line, outcomes by name, and facts in which everything is known: for decisions that read as examples."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from stepweave.execution.outcome import Outcome, failed, succeeded
from stepweave.execution.run import Run
from stepweave.execution.visit import START, Join, PendingEdges, Visit, VisitBody
from stepweave.graph.model import Node, parse_definition
from stepweave.graph.topology import Graph
from stepweave.scheduling.decide import decide
from stepweave.scheduling.decision import DYNAMODB, Bounds, Decision, Facts, FactsMissing

GOOD = succeeded("ok", {"value": 1})
BAD = failed("it broke")


def takes(branch: str | None) -> Outcome:
    return succeeded("ok", {}, branch=branch)


def drawn(arrows: str, **data: Mapping[str, Any]) -> Graph:
    """`in > a b; pick:yes > c`: from each node to those behind the arrow, after the colon the handle.

    The type of a node is its name without digits: `in` and `out` are light, `pick` has branches, the rest have effects.
    The order of appearance is that of `graphData.nodes`. `data` is that of a node, by its id.
    """
    edges, names = [], []
    for part in arrows.split(";"):
        source, targets = (side.strip() for side in part.split(">"))
        source, _, handle = source.partition(":")
        names += [source, *targets.split()]
        edges += [{"source": source, "target": each, "sourceHandle": handle or None} for each in targets.split()]
    nodes = [{"id": name, "type": _type(name), "data": dict(data.get(name, {}))} for name in dict.fromkeys(names)]
    return Graph.of(parse_definition({"name": "drawn", "graphData": {"nodes": nodes, "edges": edges}}))


def _type(name: str) -> str:
    kind = name.rstrip("0123456789")
    return {"in": "userInput", "out": "output"}.get(kind, kind)


@dataclass
class Rides:
    """Light nodes come to what `outcomes` says, else to GOOD. `needs` are bodies that a node reads, `saw` what they
    were, `ran` the nodes in the order they ran."""

    outcomes: Mapping[str, Outcome] = field(default_factory=dict)
    otherwise: str | None = None
    needs: Mapping[str, list[str]] = field(default_factory=dict)
    weighs: int = 100
    saw: dict[str, list[VisitBody | None]] = field(default_factory=dict)
    ran: list[str] = field(default_factory=list)

    def is_light(self, node: Node) -> bool:
        return node.type in ("userInput", "output", "pick")

    def has_branches(self, node: Node) -> bool:
        return node.type == "pick"

    def run(self, node: Node, reach: int, body: Callable[[str], VisitBody | None], facts: Facts) -> Outcome:
        self.saw[node.id] = [body(each) for each in self.needs.get(node.id, [])]
        self.ran.append(node.id)
        return self.outcomes.get(node.id, GOOD)

    def else_branch(self, node: Node) -> str | None:
        return self.otherwise if self.has_branches(node) else None

    def weight(self, outcome: Outcome) -> int:
        return self.weighs


RUN = Run("0000c0de", "drawn", 1, 1, "RUNNING", "2030-01-01T00:00:00.000Z")


def visit(graph: Graph, node_id: str, **changes: Any) -> Visit:
    """A running visit that everything before the node leads to."""
    reach = 0 if node_id == START else graph.ancestors_mask(node_id)
    return Visit(
        "0000c0de", f"visit of {node_id}", node_id, 1, **{"status": "RUNNING", "owner": "c", "reach": reach, **changes}
    )


def arrived(**edges: int | None) -> dict[int, int | None]:
    """Edges of a join that are known: `e3=1` came over edge 3 with that reach, `e3=None` is dead."""
    return {int(name[1:]): reach for name, reach in edges.items()}


def ends(
    graph: Graph,
    node_id: str,
    outcome: Outcome | None = GOOD,
    *,
    rides: Rides | None = None,
    bounds: Bounds = DYNAMODB,
    joins: Mapping[str, Mapping[int, int | None]] | None = None,
    run: Run | None = None,
    hand_over: bool = False,
    **visit_changes: Any,
) -> Decision:
    """What follows from the end of a node. Joins that are not given are empty, bodies that are asked for are there."""
    rides = rides or Rides()
    known = {name: Join(1, dict(edges)) for name, edges in (joins or {}).items()}
    run = run or RUN
    facts = Facts(run, visit(graph, node_id, **visit_changes), outcome, joins=known, hand_over=hand_over)
    while True:
        rides.ran.clear()
        try:
            return decide(graph, facts, rides, bounds)
        except FactsMissing as missing:
            known = {**facts.joins, **{name: Join() for name in missing.joins}}
            bodies = {**facts.bodies, **{each: VisitBody({}, {"data": {"by": each}}) for each in missing.bodies}}
            facts = Facts(run, facts.visit, outcome, joins=known, bodies=bodies, hand_over=hand_over)


def edges_of(pending: tuple[PendingEdges, ...]) -> list[tuple[str, tuple[int, ...]]]:
    return [(each.node_id, each.edges) for each in pending]
