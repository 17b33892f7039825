"""The head of a visit: one execution of a node in a run, small enough to be written at every step (protocol.md §1)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Self

from stepweave.execution.ledger import Ledger, count

VisitStatus = Literal["RUNNING", "SUCCESS", "FAILED", "SKIPPED"]

START = ""
"""The pseudo node whose visit opens a run: its edges lead to the `userInput` nodes. Nobody outside sees it."""

PLANNER = "#planner"
"""The pseudo node whose visits decide where an AGENTIC run goes; outside, only what they decided is seen."""


@dataclass(frozen=True, slots=True)
class PendingEdges:
    """Edges out of an ended node that one transaction could not settle any more; `reach` is None on a dead path."""

    node_id: str
    branch: str | None
    reach: int | None
    edges: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Visit:
    """`owner` is the chain (execution name) that may end this visit, `attempt` the newest invocation of it.

    `chunk` counts the stream commits of the visit, `tries` its failed attempts. `reach` is the set of nodes, as a bit
    mask over `graphData.nodes`, that lead here over live edges (AGENTIC: those in the `ledger`). `source` is the node it
    comes from, by its `source_iteration`th visit. `outs` are the visits that its end made ready, `pending`
    the edges still to settle, `waiting` the question not answered yet, `saved` the `chunk` with which the node last
    stored a state (0: never). `owned_at` is when the owner got the visit. `dead` marks a node on a path not taken.
    """

    run_id: str
    visit_uuid: str
    node_id: str
    iteration: int
    status: VisitStatus
    owner: str
    attempt: int = 0
    chunk: int = 0
    tries: int = 0
    reach: int = 0
    source: str | None = None
    source_iteration: int = 1
    ledger: Ledger = ()
    dead: bool = False
    outs: tuple[str, ...] = ()
    pending: tuple[PendingEdges, ...] = ()
    waiting: str | None = None
    saved: int = 0
    sort_order: int | None = None
    started_at: str | None = None
    owned_at: str | None = None
    ended_at: str | None = None

    @property
    def is_over(self) -> bool:
        """Nothing is left to do for this visit, not even an edge to settle."""
        return self.status != "RUNNING" and not self.pending

    @property
    def is_hidden(self) -> bool:
        """A visit of the engine's own, not of a node: it has no events, and no list shows it."""
        return self.node_id in (START, PLANNER)

    def latest(self, position: int) -> int:
        """The number of the latest visit of a node before this one, by the node's place; in a DAG there is only one."""
        return count(self.ledger, position) or 1


@dataclass(frozen=True, slots=True)
class VisitPlace:
    """Where a visit stands in its run: the part of its head that paths are made of."""

    visit_uuid: str
    node_id: str
    iteration: int
    sort_order: int | None
    source: str | None
    source_iteration: int

    @classmethod
    def of(cls, visit: Visit) -> Self:
        return cls(
            visit.visit_uuid, visit.node_id, visit.iteration, visit.sort_order, visit.source, visit.source_iteration
        )


@dataclass(frozen=True, slots=True)
class VisitBody:
    """What a visit left behind, written once: `variables` it resolved, its envelope, its log (contract §3, §5)."""

    variables: Mapping[str, Any]
    output: Mapping[str, Any]
    logs: tuple[Mapping[str, Any], ...] = ()
    error: str | None = None
    decision: Mapping[str, Any] | None = None
    """In AGENTIC mode what the planner decided: in its own visit, and in the one that it chose."""


@dataclass(frozen=True, slots=True)
class SavedState:
    """What a node with an effect stored to go on from: its own `state`, the `answers` people gave by the call that
    asked, and in `asking` the call whose question is open."""

    state: Mapping[str, Any]
    answers: Mapping[str, Any] = field(default_factory=dict)
    asking: str | None = None


@dataclass(frozen=True, slots=True)
class Join:
    """Where several edges meet: what is known of each, guarded by `version`.

    `edges` maps an edge's index to the reach that came over it, or to None when the edge is dead. For the end of the
    run, the join over the sinks, the keys are the sinks' positions in `graphData.nodes`.
    """

    version: int = 0
    edges: Mapping[int, int | None] | None = None

    def known(self) -> dict[int, int | None]:
        return dict(self.edges or {})
