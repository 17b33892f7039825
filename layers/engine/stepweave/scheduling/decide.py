"""What follows from the end of a node, as a pure function (architecture law 7; protocol rule E).

A work list of ended nodes is walked: each edge out of them is resolved, alive or dead. A node all of whose incoming
edges are resolved is ready when one of them is alive, else it is skipped and its own edges join the list. Light nodes
that are ready run here and now; nodes with an effect are started. The end of the run is a join too, over the sinks.
"""

from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Protocol

from stepweave.execution.ledger import Ledger
from stepweave.execution.outcome import Outcome
from stepweave.execution.visit import START, Join, PendingEdges, VisitBody, VisitStatus
from stepweave.graph.model import Node
from stepweave.graph.topology import Edge, Graph
from stepweave.scheduling.decision import (
    DYNAMODB,
    END,
    ITEMS_AN_EDGE,
    RESERVED_ITEMS,
    Bounds,
    Decision,
    Ended,
    Facts,
    FactsMissing,
    RunEnd,
    StaleFacts,
    Started,
)


class Rides(Protocol):
    """How decide runs light nodes and judges node types, without knowing any of them."""

    def is_light(self, node: Node) -> bool: ...

    def has_branches(self, node: Node) -> bool:
        """Whether the node's outcome chooses among its edges by their handle."""
        ...

    def run(
        self, node: Node, reach: int, body: Callable[[str], VisitBody | None], facts: Facts, ledger: Ledger = ()
    ) -> Outcome:
        """Runs a light node; `body` gives what an earlier node left behind. Pure."""
        ...

    def else_branch(self, node: Node) -> str | None:
        """The branch a node with branches takes when it failed under `skip` (contract §2)."""
        ...

    def weight(self, outcome: Outcome) -> int:
        """Bytes that the outcome will take in the transaction."""
        ...


def decide(graph: Graph, facts: Facts, rides: Rides, bounds: Bounds = DYNAMODB) -> Decision:
    """What to commit in a DAG when the visit of `facts` ends. Raises `FactsMissing`, `StaleFacts`; otherwise total."""
    return _Walk(graph, facts, rides, bounds).decision()


def outgoing(graph: Graph, node_id: str) -> Sequence[Edge]:
    """Edges out of a node; those of START lead to the roots and have negative indices."""
    if node_id != START:
        return graph.outgoing(node_id)
    return [Edge(-1 - position, START, root, None) for position, root in enumerate(graph.roots)]


def joins_ahead(graph: Graph, node_id: str) -> list[str]:
    """The joins that the end of a node touches at least: worth reading before deciding."""
    ahead = [edge.target for edge in outgoing(graph, node_id) if len(graph.incoming(edge.target)) > 1]
    if node_id != START and not graph.outgoing(node_id) and len(graph.sinks) > 1:
        ahead.append(END)
    return list(dict.fromkeys(ahead))


def all_joins(graph: Graph) -> list[str]:
    """Every join that a run over the graph may come to have."""
    return [node_id for node_id in graph.nodes if len(graph.incoming(node_id)) > 1] + [END]


class _Walk:
    def __init__(self, graph: Graph, facts: Facts, rides: Rides, bounds: Bounds) -> None:
        self._graph = graph
        self._facts = facts
        self._rides = rides
        self._bounds = bounds
        self._joins: dict[str, Join] = {}
        self._ended: dict[str, Ended] = {}
        self._ready: list[Started] = []
        self._sinks: list[str] = []
        self._end: RunEnd | None = None
        self._items = RESERVED_ITEMS
        self._size = 0
        self._work: deque[PendingEdges] = deque()
        self._rest: list[PendingEdges] = []

    def decision(self) -> Decision:
        status = self._begin()
        while self._work and self._end is None:
            self._settle(self._work.popleft())
        if self._end is not None and self._end.status == "FAILED":
            self._ready.clear()
            self._rest.clear()
        self._close()
        return Decision(
            status=status,
            ended=tuple(self._ended.values()),
            started=tuple(self._ready),
            joins=self._joins,
            pending=tuple(self._rest),
            end=self._end,
        )

    def _begin(self) -> VisitStatus | None:
        visit = self._facts.visit
        if visit.status != "RUNNING":
            self._work.extend(visit.pending)
            return None
        if visit.node_id == START:
            self._follow(START, None, 0)
            return "SUCCESS"
        assert self._facts.outcome is not None, "a running visit ends with an outcome"
        return self._judge(visit.node_id, self._facts.outcome, visit.reach)

    def _judge(self, node_id: str, outcome: Outcome, reach: int) -> VisitStatus:
        """The status that an outcome has under the fail strategy, with what follows from it (contract §3)."""
        node = self._graph.nodes[node_id]
        reach |= 1 << self._graph.order[node_id]
        if outcome.status == "SUCCESS":
            self._follow(node_id, outcome.branch, reach)
            return "SUCCESS"
        if is_passed_over(node, self._facts):
            self._follow(node_id, self._rides.else_branch(node), reach)
            return "SKIPPED"
        self._end = RunEnd("FAILED", node_id, outcome.error)
        return "FAILED"

    def _follow(self, node_id: str, branch: str | None, reach: int | None) -> None:
        edges = tuple(edge.index for edge in outgoing(self._graph, node_id))
        if edges:
            self._work.append(PendingEdges(node_id, branch, reach, edges))
        elif node_id != START:
            self._sinks.append(node_id)

    def _settle(self, entry: PendingEdges) -> None:
        for position, index in enumerate(entry.edges):
            if self._items + ITEMS_AN_EDGE > self._bounds.items or self._size > self._bounds.size:
                self._rest.append(PendingEdges(entry.node_id, entry.branch, entry.reach, entry.edges[position:]))
                return
            edge = self._edge(index)
            self._resolve(edge, entry.reach if self._is_live(edge, entry) else None)
            if self._end is not None:
                return

    def _edge(self, index: int) -> Edge:
        return self._graph.edges[index] if index >= 0 else outgoing(self._graph, START)[-1 - index]

    def _is_live(self, edge: Edge, entry: PendingEdges) -> bool:
        if entry.reach is None:
            return False
        if edge.source == START or not self._rides.has_branches(self._graph.nodes[edge.source]):
            return True
        return edge.handle is not None and edge.handle == entry.branch

    def _resolve(self, edge: Edge, reach: int | None) -> None:
        arrived = self._arrive(edge, reach)
        if arrived is None:
            return
        self._items += 2
        live = {index: mask for index, mask in arrived.items() if mask is not None}
        node = self._graph.nodes[edge.target]
        if not live:
            self._ended[node.id] = Ended(node.id, "SKIPPED", None, 0, None)
            self._follow(node.id, None, None)
            return
        reached = 0
        for mask in live.values():
            reached |= mask
        source = self._source(live)
        if self._rides.is_light(node):
            self._ride(node, reached, source)
        else:
            forked = bool(self._ready) or bool(self._facts.visit.outs) or self._facts.hand_over
            self._ready.append(Started(node.id, reached, source, forked))

    def _arrive(self, edge: Edge, reach: int | None) -> dict[int, int | None] | None:
        """Adds an edge to its node's join; gives all edges of the node once the last is in."""
        expected = max(1, len(self._graph.incoming(edge.target)))
        if expected == 1:
            return {edge.index: reach}
        join = self._join(edge.target)
        known = join.known()
        if edge.index in known:
            raise StaleFacts
        known[edge.index] = reach
        self._joins[edge.target] = Join(join.version, known)
        return known if len(known) == expected else None

    def _join(self, name: str) -> Join:
        if name not in self._joins:
            if name not in self._facts.joins:
                raise FactsMissing(joins=frozenset([name]))
            self._items += 1
            self._joins[name] = self._facts.joins[name]
        return self._joins[name]

    def _source(self, live: Iterable[int]) -> str | None:
        """The node that a visit comes from: the nearest of those whose edges are alive; None at the start."""
        sources = [source for source in (self._edge(index).source for index in live) if source != START]
        return self._graph.nearest_first(sources)[0] if sources else None

    def _ride(self, node: Node, reach: int, source: str | None) -> None:
        outcome = self._rides.run(node, reach, self._body, self._facts)
        self._size += self._rides.weight(outcome)
        self._ended[node.id] = Ended(node.id, self._judge(node.id, outcome, reach), outcome, reach, source)

    def _body(self, node_id: str) -> VisitBody | None:
        return left_by(node_id, self._ended, self._facts)

    def _close(self) -> None:
        """The end of the run as a join over the sinks; a single sink needs no item."""
        if self._end is not None or not self._sinks:
            return
        everything = self._graph.sinks
        if len(everything) > 1:
            join = self._join(END)
            known = join.known()
            for sink in self._sinks:
                position = self._graph.order[sink]
                if position in known:
                    raise StaleFacts
                known[position] = 0
            self._joins[END] = Join(join.version, known)
            if len(known) < len(everything):
                return
        self._end = RunEnd("SUCCESS")


def is_passed_over(node: Node, facts: Facts) -> bool:
    """Whether the run goes on when the node fails (contract §3, `skip`)."""
    return (facts.run.fail_strategy or node.common.fail_strategy) == "skip"


def left_by(node_id: str, ended: Mapping[str, Ended], facts: Facts) -> VisitBody | None:
    """What a node left behind in its latest visit: in this very decision, or before it. Raises `FactsMissing`."""
    if node_id in ended:
        outcome = ended[node_id].outcome
        return _body_of(outcome) if outcome is not None else None
    if node_id == facts.visit.node_id and facts.outcome is not None:
        return _body_of(facts.outcome)
    if node_id not in facts.bodies:
        raise FactsMissing(bodies=frozenset([node_id]))
    return facts.bodies[node_id]


def _body_of(outcome: Outcome) -> VisitBody:
    return VisitBody(outcome.variables, outcome.envelope, outcome.logs, outcome.error)
