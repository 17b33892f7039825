"""What somebody who asks for context may see of a run (contract §6): a visit what lies before it, an outsider all that
has ended."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from stepweave import ids
from stepweave.execution.run import Run
from stepweave.execution.visit import Visit
from stepweave.graph.topology import Graph


class ContextView(Protocol):
    @property
    def run(self) -> Run: ...

    @property
    def graph(self) -> Graph: ...

    def latest(self, node_id: str) -> int | None:
        """The number of the node's latest visit that can be seen; None: none can."""
        ...

    def nodes(self) -> Iterator[str]:
        """The nodes of which a visit can be seen."""
        ...

    def visible(self) -> Iterable[tuple[str, int]]:
        """The visits that can be seen, as node and iteration."""
        ...


@dataclass(frozen=True, slots=True)
class VisitView:
    """Of a visit: its predecessors over live edges (DAG), all earlier visits (AGENTIC). It is told by the visit's head
    alone, by `reach` and `ledger`, and never changes."""

    run: Run
    graph: Graph
    visit: Visit

    def latest(self, node_id: str) -> int | None:
        position = self.graph.order.get(node_id)
        if position is None or not self.visit.reach >> position & 1:
            return None
        return self.visit.latest(position)

    def nodes(self) -> Iterator[str]:
        return (node_id for node_id, position in self.graph.order.items() if self.visit.reach >> position & 1)

    def visible(self) -> Iterable[tuple[str, int]]:
        return before(self.graph, self.visit)


@dataclass(frozen=True, slots=True)
class RunView:
    """Of an agent outside: every visit of `visits` that has ended, without those of the engine's own and those on paths
    that were not taken."""

    run: Run
    graph: Graph
    visits: Sequence[Visit]

    def latest(self, node_id: str) -> int | None:
        return max((visit.iteration for visit in self._ended() if visit.node_id == node_id), default=None)

    def nodes(self) -> Iterator[str]:
        found = {visit.node_id for visit in self._ended()}
        return (node_id for node_id in self.graph.order if node_id in found)

    def visible(self) -> Iterable[tuple[str, int]]:
        return ((visit.node_id, visit.iteration) for visit in self._ended())

    def _ended(self) -> Iterator[Visit]:
        return (
            visit for visit in self.visits if visit.sort_order is not None and not visit.dead and not visit.is_hidden
        )


def before(graph: Graph, visit: Visit) -> list[tuple[str, int]]:
    """The visits that lie before a visit, as node and iteration: of each predecessor its one (DAG), or all (AGENTIC)."""
    reached = [(node_id, position) for node_id, position in graph.order.items() if visit.reach >> position & 1]
    latest = dict(visit.ledger)
    return [
        (node_id, iteration) for node_id, position in reached for iteration in range(1, latest.get(position, 1) + 1)
    ]


def uuid_of(run: Run, node_id: str, iteration: int) -> str:
    return ids.visit_uuid(run.run_id, node_id, iteration)
