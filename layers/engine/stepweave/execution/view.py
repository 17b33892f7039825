"""What one node may see of its run (contract §3): the initial inputs and the nodes that lead to it over live edges."""

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from typing import Any

from stepweave.execution.ledger import Ledger
from stepweave.execution.visit import VisitBody
from stepweave.graph.spec import Specs
from stepweave.graph.topology import Graph

Bodies = Callable[[str], VisitBody | None]
"""What an earlier node left behind, by node id, in its latest visit; None: nothing. Each call may read the store."""


class View:
    """The `Scope` (expressions) of one visit. Lazy: a body is asked for when something refers to it, `files` when a
    `filePath` is declared. With a `ledger` (AGENTIC) earlier nodes stand in its order, else the nearest come first."""

    def __init__(
        self,
        graph: Graph,
        specs: Specs,
        inputs: Mapping[str, Any],
        reach: int,
        bodies: Bodies,
        *,
        files: Container[str],
        flat: bool,
        ledger: Ledger = (),
    ) -> None:
        self._graph = graph
        self._specs = specs
        self._inputs = inputs
        self._reach = reach
        self._bodies = bodies
        self._files = files
        self._flat = flat
        self._ledger = ledger
        self._predecessors: tuple[str, ...] | None = None

    @property
    def inputs(self) -> Mapping[str, Any]:
        return self._inputs

    @property
    def files(self) -> Container[str]:
        return self._files

    @property
    def flat(self) -> bool:
        return self._flat

    def predecessors(self) -> Sequence[str]:
        if self._predecessors is None:
            self._predecessors = tuple(self._visited() if self._ledger else self._leading_here())
        return self._predecessors

    def envelope(self, node_id: str) -> Mapping[str, Any] | None:
        position = self._graph.order.get(node_id)
        if position is None or not self._reach >> position & 1:
            return None
        body = self._bodies(node_id)
        return body.output if body is not None else None

    def _leading_here(self) -> list[str]:
        return self._graph.nearest_first(
            node_id for node_id, position in self._graph.order.items() if self._reach >> position & 1
        )

    def _visited(self) -> Iterator[str]:
        """Latest visit first (contract §3)."""
        return (self._graph.ids[position] for position, _ in self._ledger)

    def declared(self, node_id: str) -> frozenset[str] | None:
        node = self._graph.nodes[node_id]
        spec = self._specs(node.type)
        outputs = spec.outputs(node) if spec is not None else None
        return frozenset(output.name for output in outputs) if outputs is not None else None
