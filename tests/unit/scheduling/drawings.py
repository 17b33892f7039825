"""Graphs in one line, outcomes by name, and facts in which everything is known: for decisions that read as examples."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from stepweave.execution.ledger import Ledger, after, count, mask, total
from stepweave.execution.outcome import Outcome, failed, succeeded
from stepweave.execution.run import Run
from stepweave.execution.visit import PLANNER, START, Join, PendingEdges, Visit, VisitBody
from stepweave.graph.model import Node, parse_definition
from stepweave.graph.topology import Graph
from stepweave.scheduling.agentic import decide_agentic
from stepweave.scheduling.decide import decide
from stepweave.scheduling.decision import DYNAMODB, Bounds, Decision, Facts, FactsMissing

GOOD = succeeded("ok", {"value": 1})
BAD = failed("it broke")


def takes(branch: str | None) -> Outcome:
    return succeeded("ok", {}, branch=branch)


def drawn(arrows: str, *, planner: Mapping[str, Any] | None = None, **data: Mapping[str, Any]) -> Graph:
    """`in > a b; pick:yes > c`: from each node to those behind the arrow, after the colon the handle.

    The type of a node is its name without digits: `in` and `out` are light, `pick` has branches, the rest have effects.
    The order of appearance is that of `graphData.nodes`. `data` is that of a node, by its id. With a `planner` the
    graph is AGENTIC.
    """
    edges, names = [], []
    for part in arrows.split(";"):
        source, targets = (side.strip() for side in part.split(">"))
        source, _, handle = source.partition(":")
        names += [source, *targets.split()]
        edges += [{"source": source, "target": each, "sourceHandle": handle or None} for each in targets.split()]
    nodes = [{"id": name, "type": _type(name), "data": dict(data.get(name, {}))} for name in dict.fromkeys(names)]
    mode = {"mode": "AGENTIC", "planner": {"model": "m", **planner}} if planner is not None else {}
    return Graph.of(parse_definition({"name": "drawn", "graphData": {"nodes": nodes, "edges": edges}, **mode}))


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

    def run(
        self, node: Node, reach: int, body: Callable[[str], VisitBody | None], facts: Facts, ledger: Ledger = ()
    ) -> Outcome:
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
    return _with_all_facts(decide, graph, facts, rides, bounds)


def wanders(
    graph: Graph,
    node_id: str,
    outcome: Outcome | None = GOOD,
    *,
    visited: Iterable[str] = (),
    decided: Mapping[str, Any] | None = None,
    rides: Rides | None = None,
    bounds: Bounds = DYNAMODB,
    run: Run | None = None,
    hand_over: bool = False,
    **visit_changes: Any,
) -> Decision:
    """The same in an AGENTIC graph, after these visits; `decided` is what chose the one that ends."""
    ledger = ledger_of(graph, visited)
    iteration = (
        total(ledger) if node_id == PLANNER else 1 if node_id == START else count(ledger, graph.order[node_id]) + 1
    )
    changes = {"status": "RUNNING", "owner": "c", "reach": mask(ledger), "ledger": ledger, **visit_changes}
    own = Visit("0000c0de", f"visit of {node_id}", node_id, iteration, **changes)
    facts = Facts(run or RUN, own, outcome, hand_over=hand_over, decided=decided)
    return _with_all_facts(decide_agentic, graph, facts, rides or Rides(), bounds)


def ledger_of(graph: Graph, visited: Iterable[str]) -> Ledger:
    """What the ledger says after these visits, the newest last."""
    ledger: Ledger = ()
    for node_id in visited:
        ledger = after(ledger, graph.order[node_id])
    return ledger


def _with_all_facts(
    follow: Callable[[Graph, Facts, Rides, Bounds], Decision], graph: Graph, facts: Facts, rides: Rides, bounds: Bounds
) -> Decision:
    while True:
        rides.ran.clear()
        try:
            return follow(graph, facts, rides, bounds)
        except FactsMissing as missing:
            known = {**facts.joins, **{name: Join() for name in missing.joins}}
            bodies = {**facts.bodies, **{each: VisitBody({}, {"data": {"by": each}}) for each in missing.bodies}}
            facts = replace(facts, joins=known, bodies=bodies)


def edges_of(pending: tuple[PendingEdges, ...]) -> list[tuple[str, tuple[int, ...]]]:
    return [(each.node_id, each.edges) for each in pending]
