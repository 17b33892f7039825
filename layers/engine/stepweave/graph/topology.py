"""How the nodes of a definition hang together: what every other package asks about the drawing."""

from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from stepweave.graph.components import components
from stepweave.graph.edge import Edge
from stepweave.graph.model import OUTPUT, USER_INPUT, Definition, Mode, Node, Planner
from stepweave.graph.off_canvas import off_canvas_node

__all__ = ["Edge", "Graph", "reachable"]


@dataclass(frozen=True, eq=False)
class Graph:
    """The nodes and edges of a definition, immutable; derived facts are computed when first asked for, then kept.

    Works on definitions that validation refuses, too: an edge to a missing node is left out (the others keep their
    index in `graphData.edges`), of nodes with the same id the first counts, and cycles are allowed. An id that is
    not in `nodes` raises `KeyError`.
    """

    nodes: Mapping[str, Node]
    order: Mapping[str, int]
    edges: tuple[Edge, ...]
    _incoming: Mapping[str, tuple[Edge, ...]]
    _outgoing: Mapping[str, tuple[Edge, ...]]
    mode: Mode
    planner: Planner | None = None
    off_canvas: str | None = None
    """The id of the node that is not drawn: it stands for what the planner may have done beside the palette."""

    @classmethod
    def of(cls, definition: Definition) -> "Graph":
        nodes: dict[str, Node] = {}
        for node in definition.nodes:
            nodes.setdefault(node.id, node)
        planner = definition.planner if definition.mode == "AGENTIC" else None
        beside = off_canvas_node(planner, nodes) if planner is not None and planner.allow_off_canvas else None
        if beside is not None:
            nodes[beside.id] = beside
        order = {node_id: place for place, node_id in enumerate(nodes)}
        edges = tuple(edge for edge in definition.edges if edge.source in nodes and edge.target in nodes)
        incoming: dict[str, list[Edge]] = {node_id: [] for node_id in nodes}
        outgoing: dict[str, list[Edge]] = {node_id: [] for node_id in nodes}
        for edge in edges:
            outgoing[edge.source].append(edge)
            incoming[edge.target].append(edge)
        return cls(
            nodes,
            order,
            edges,
            {node_id: tuple(into) for node_id, into in incoming.items()},
            {node_id: tuple(out) for node_id, out in outgoing.items()},
            definition.mode,
            planner,
            beside.id if beside is not None else None,
        )

    def incoming(self, node_id: str) -> tuple[Edge, ...]:
        """The edges into a node, in the order of `graphData.edges`."""
        return self._incoming[node_id]

    def outgoing(self, node_id: str) -> tuple[Edge, ...]:
        """The edges out of a node, in the order of `graphData.edges`."""
        return self._outgoing[node_id]

    def successors(self, node_id: str) -> tuple[str, ...]:
        """Where the edges out of a node lead, one id for each edge."""
        return tuple(edge.target for edge in self._outgoing[node_id])

    def predecessors(self, node_id: str) -> tuple[str, ...]:
        """Where the edges into a node come from, one id for each edge."""
        return tuple(edge.source for edge in self._incoming[node_id])

    @cached_property
    def ids(self) -> tuple[str, ...]:
        """The nodes by their places: the other way round than `order`."""
        return tuple(self.order)

    @cached_property
    def roots(self) -> tuple[str, ...]:
        """Where a run starts: the `userInput` nodes, in a DAG those without incoming edges."""
        return tuple(
            node_id
            for node_id, node in self.nodes.items()
            if node.type == USER_INPUT and (self.mode == "AGENTIC" or not self._incoming[node_id])
        )

    @cached_property
    def outputs(self) -> tuple[str, ...]:
        """The `output` nodes."""
        return tuple(node_id for node_id, node in self.nodes.items() if node.type == OUTPUT)

    @cached_property
    def sinks(self) -> tuple[str, ...]:
        """The nodes without outgoing edges: when all of them have ended, the run has (protocol rule E)."""
        return tuple(node_id for node_id in self.nodes if not self._outgoing[node_id])

    @cached_property
    def levels(self) -> Mapping[str, int]:
        """For each node the longest path to it from a node without incoming edges: in a valid DAG, a `userInput`.

        The nodes of a cycle share one level.
        """
        levels: dict[str, int] = {}
        for members in reversed(self._components):
            before = [
                levels[edge.source] for member in members for edge in self._incoming[member] if edge.source in levels
            ]
            level = max(before, default=-1) + 1
            for member in members:
                levels[member] = level
        return levels

    @cached_property
    def cycles(self) -> tuple[tuple[str, ...], ...]:
        """The sets of nodes that reach each other, in the order of `graphData.nodes`; self-loops are not counted."""
        return tuple(sorted((c for c in self._components if len(c) > 1), key=lambda members: self.order[members[0]]))

    def ancestors(self, node_id: str) -> frozenset[str]:
        """The nodes from which a path leads to this one; the node itself only if it stands in a cycle."""
        known = self._ancestors.get(node_id)
        if known is None:
            known = frozenset(reachable(self.predecessors(node_id), self.predecessors))
            self._ancestors[node_id] = known
        return known

    def ancestors_mask(self, node_id: str) -> int:
        """`ancestors` as bits: bit `order[a]` is set for each ancestor a."""
        return self._masks[node_id]

    def nearest_first(self, node_ids: Iterable[str]) -> list[str]:
        """Highest level first, on one level the later in `graphData.nodes` (contract §3, resolution order 3)."""
        return sorted(node_ids, key=lambda node_id: (self.levels[node_id], self.order[node_id]), reverse=True)

    def reverse_topological(self) -> list[str]:
        """All nodes, each after everything that it leads to (in a cycle there is no such order)."""
        return self.nearest_first(self.nodes)

    @cached_property
    def _ancestors(self) -> dict[str, frozenset[str]]:
        return {}

    @cached_property
    def _components(self) -> tuple[tuple[str, ...], ...]:
        """Reverse topological; the members of each in the order of `graphData.nodes`."""
        ids = list(self.nodes)
        found = components([[self.order[target] for target in self.successors(node_id)] for node_id in ids])
        return tuple(tuple(ids[place] for place in members) for members in found)

    @cached_property
    def _masks(self) -> Mapping[str, int]:
        """One pass of whole-word operations for all nodes: cheap for sets of thousands."""
        masks: dict[str, int] = {}
        for members in reversed(self._components):
            inside = set(members)
            mask = 0
            for member in members:
                for source in self.predecessors(member):
                    mask |= 1 << self.order[source]
                    if source not in inside:
                        mask |= masks[source]
            for member in members:
                masks[member] = mask
        return masks


def reachable[Id](starts: Iterable[Id], step: Callable[[Id], Sequence[Id]]) -> set[Id]:
    """`starts` and everything that repeated `step`s lead to, in linear time."""
    found = set(starts)
    waiting = deque(found)
    while waiting:
        for following in step(waiting.popleft()):
            if following not in found:
                found.add(following)
                waiting.append(following)
    return found
