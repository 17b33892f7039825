"""What follows from the end of a visit in AGENTIC mode, as a pure function: the planner decides, and its decision is carried
out (contract §2). Such a run is one chain: the `userInput` nodes, then planner, node, planner, node … to an `output`.
"""

from collections.abc import Mapping
from typing import Any

from stepweave.execution.ledger import Ledger, after, count, mask, total
from stepweave.execution.outcome import Outcome
from stepweave.execution.visit import PLANNER, START, PendingEdges, VisitBody, VisitStatus
from stepweave.graph.model import Node
from stepweave.graph.topology import Graph
from stepweave.scheduling.decide import Rides, is_passed_over, left_by
from stepweave.scheduling.decision import (
    DYNAMODB,
    RESERVED_ITEMS,
    Bounds,
    Decision,
    Ended,
    Facts,
    Place,
    RunEnd,
    Started,
)

_ITEMS_A_VISIT = 2


def decide_agentic(graph: Graph, facts: Facts, rides: Rides, bounds: Bounds = DYNAMODB) -> Decision:
    """What to commit when the visit of `facts` ends. Raises `FactsMissing`; otherwise total.

    The planner's visit ends with an outcome whose `decision` has been checked (`scheduling.planning`).
    """
    return _Turn(graph, facts, rides, bounds).decision()


class _Turn:
    def __init__(self, graph: Graph, facts: Facts, rides: Rides, bounds: Bounds) -> None:
        self._graph = graph
        self._facts = facts
        self._rides = rides
        self._bounds = bounds
        self._ledger: Ledger = facts.visit.ledger
        self._ended: dict[str, Ended] = {}
        self._started: list[Started] = []
        self._rest: list[PendingEdges] = []
        self._end: RunEnd | None = None

    def decision(self) -> Decision:
        match self._facts.visit.node_id:
            case node_id if node_id == START:
                status = self._open()
            case node_id if node_id == PLANNER:
                status = self._obey()
            case node_id:
                status = self._leave(self._graph.nodes[node_id])
        return Decision(
            status=status,
            ended=tuple(self._ended.values()),
            started=tuple(self._started) if self._end is None else (),
            pending=tuple(self._rest) if self._end is None else (),
            end=self._end,
        )

    def _open(self) -> VisitStatus | None:
        """The `userInput` nodes, as many as one transaction holds; after the last of them the planner is asked."""
        visit = self._facts.visit
        roots = self._graph.roots
        first = visit.pending[0].edges[0] if visit.status != "RUNNING" else 0
        for done in roots[:first]:
            self._ledger = after(self._ledger, self._graph.order[done])
        size = 0
        for place in range(first, len(roots)):
            room = self._bounds.items - RESERVED_ITEMS - _ITEMS_A_VISIT * len(self._ended)
            if self._ended and (room < _ITEMS_A_VISIT or size > self._bounds.size):
                self._rest.append(PendingEdges(START, None, 0, tuple(range(place, len(roots)))))
                break
            size += self._rides.weight(self._ride(self._graph.nodes[roots[place]], None, from_outside=True))
            if self._end is not None:
                break
        if not self._rest:
            self._ask()
        return "SUCCESS" if visit.status == "RUNNING" else None

    def _obey(self) -> VisitStatus:
        """Carries out what the planner decided."""
        outcome = self._facts.outcome
        assert outcome is not None, "a running visit ends with an outcome"
        if outcome.decision is None:
            self._end = RunEnd("FAILED", PLANNER, outcome.error)
            return "FAILED"
        following = outcome.decision["next"]
        if following is None:
            self._conclude()
        elif self._rides.is_light(self._graph.nodes[following]):
            self._ride(self._graph.nodes[following], outcome.decision)
            self._go_on(outcome.decision, following)
        else:
            self._started.append(self._start(following))
        return "SUCCESS"

    def _leave(self, node: Node) -> VisitStatus:
        """The end of a node with an effect."""
        outcome = self._facts.outcome
        assert outcome is not None, "a running visit ends with an outcome"
        status = self._judge(node, outcome)
        self._ledger = after(self._ledger, self._graph.order[node.id])
        self._go_on(self._facts.decided, node.id)
        return status

    def _go_on(self, decided: Mapping[str, Any] | None, node_id: str) -> None:
        """After a visit: an `output` that gave something ends the run, `isFinal` ends it with one, else the planner is
        asked. An `output` that was to be the last is, also where it failed and was passed over."""
        if self._end is not None:
            return
        is_final = decided is not None and decided["isFinal"]
        ended = self._ended.get(node_id)
        if ended is not None and node_id in self._graph.outputs and (is_final or ended.status == "SUCCESS"):
            self._end = RunEnd("SUCCESS")
        elif is_final:
            self._conclude()
        else:
            self._ask()

    def _conclude(self) -> None:
        """The run ends with an `output`: one to which an edge leads from the node visited last, else the first."""
        outputs = self._graph.outputs
        drawn = [target for target in self._graph.successors(self._last()) if target in outputs]
        self._ride(self._graph.nodes[(drawn or outputs)[0]], None)
        if self._end is None:
            self._end = RunEnd("SUCCESS")

    def _ask(self) -> None:
        """The planner's visits are numbered by the visits before them, so that a visit tells which one chose it."""
        place = Place(total(self._ledger), 1, self._ledger)
        self._started.append(Started(PLANNER, mask(self._ledger), None, self._facts.hand_over, place))

    def _start(self, node_id: str) -> Started:
        source, place = self._coming_to(node_id)
        return Started(node_id, mask(self._ledger), source, self._facts.hand_over, place)

    def _ride(self, node: Node, decided: Mapping[str, Any] | None, *, from_outside: bool = False) -> Outcome:
        reach = mask(self._ledger)
        outcome = self._rides.run(node, reach, self._body, self._facts, self._ledger)
        source, place = (None, Place(1, 1, self._ledger)) if from_outside else self._coming_to(node.id)
        status = self._judge(node, outcome)
        self._ended[node.id] = Ended(node.id, status, outcome, reach, source, place, decided)
        self._ledger = after(self._ledger, self._graph.order[node.id])
        return outcome

    def _judge(self, node: Node, outcome: Outcome) -> VisitStatus:
        """The status under the fail strategy (contract §3); the planner is told of a failure that was skipped."""
        if outcome.status == "SUCCESS":
            return "SUCCESS"
        if is_passed_over(node, self._facts):
            return "SKIPPED"
        self._end = RunEnd("FAILED", node.id, outcome.error)
        return "FAILED"

    def _coming_to(self, node_id: str) -> tuple[str, Place]:
        """The node that a visit comes from is the one visited before it."""
        iteration = count(self._ledger, self._graph.order[node_id]) + 1
        return self._last(), Place(iteration, self._ledger[0][1], self._ledger)

    def _last(self) -> str:
        return self._graph.ids[self._ledger[0][0]]

    def _body(self, node_id: str) -> VisitBody | None:
        return left_by(node_id, self._ended, self._facts)
