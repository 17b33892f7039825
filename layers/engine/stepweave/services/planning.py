"""The planner's part in a step of an AGENTIC run: its visits, found by their numbers, and what they decided."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from stepweave import ids
from stepweave.execution.ledger import total
from stepweave.execution.outcome import Result
from stepweave.execution.view import View
from stepweave.execution.visit import PLANNER, Visit, VisitBody
from stepweave.graph.model import Node
from stepweave.graph.off_canvas import instructed
from stepweave.graph.spec import Specs
from stepweave.graph.topology import Graph

if TYPE_CHECKING:
    from stepweave.nodes.planner import Past


Plan = Callable[[Graph, Specs, View, "Past", Any], Result]
"""How a decision is come to, from what the planner may know of the run; the last argument is an `execution.Work`."""


def by_model(graph: Graph, specs: Specs, view: View, past: "Past", work: Any) -> Result:
    from stepweave.nodes.planner import plan  # only the function that plans needs it

    return plan(graph, specs, view, past, work)


class Planning:
    """`left_by` gives what an ended visit left behind, by run and visit."""

    def __init__(self, specs: Specs, left_by: Callable[[str, str], VisitBody], plan: Plan = by_model) -> None:
        self._specs = specs
        self._left_by = left_by
        self._plan = plan

    def plan(self, graph: Graph, view: View, visit: Visit, work: Any) -> Result:
        """Runs a visit of the planner; `work` is an `execution.Work`."""
        from stepweave.nodes.planner import Past

        number = total(visit.ledger)
        first = number == len(graph.roots)
        before = None if first else self._planned(visit.run_id, number - 1)
        return self._plan(graph, self._specs, view, Past(visit.ledger, before), work)

    def decided(self, graph: Graph, visit: Visit) -> Mapping[str, Any] | None:
        """The decision that chose a visit: the planner's visits are numbered by the visits before them."""
        if graph.mode == "DAG" or visit.is_hidden:
            return None
        return self._planned(visit.run_id, total(visit.ledger)).decision

    def node(self, graph: Graph, visit: Visit, decided: Mapping[str, Any] | None) -> Node:
        """The node that a visit runs; one that is not drawn does what the planner says."""
        if visit.node_id == PLANNER:
            from stepweave.nodes.planner import pseudo_node

            return pseudo_node(graph)
        node = graph.nodes[visit.node_id]
        if visit.node_id == graph.off_canvas and decided is not None:
            return instructed(node, decided["instruction"], decided.get("script"))
        return node

    def _planned(self, run_id: str, number: int) -> VisitBody:
        return self._left_by(run_id, ids.visit_uuid(run_id, PLANNER, number))
