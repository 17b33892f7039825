"""Decisions as values: what the end of a node means for the rest of the run. The shell (services) carries them out."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from stepweave.execution.ledger import Ledger
from stepweave.execution.outcome import Outcome
from stepweave.execution.run import Run
from stepweave.execution.visit import Join, PendingEdges, Visit, VisitBody, VisitStatus

END = "#end"
"""The join over the graph's sinks; no node id looks like this."""


RESERVED_ITEMS = 5
ITEMS_AN_EDGE = 3


@dataclass(frozen=True, slots=True)
class Bounds:
    """What one transaction may hold (DynamoDB: 100 items, 4 MB; protocol rule E).

    Fewer than 8 items would not settle a single edge: own head and body, RUN, the events, the end of the run, and for
    the edge its join, a visit's head and body.
    """

    items: int = 90
    size: int = 3_000_000

    def __post_init__(self) -> None:
        if self.items < RESERVED_ITEMS + ITEMS_AN_EDGE:
            raise ValueError(f"a transaction must hold {RESERVED_ITEMS + ITEMS_AN_EDGE} items, not {self.items}")


DYNAMODB = Bounds()


@dataclass(frozen=True, slots=True)
class Facts:
    """Everything a decision may use. What is missing is asked for by `FactsMissing`, never guessed.

    `outcome` is what came of the node that ends now; None when the visit has ended before and only its `pending`
    edges are to be settled, and for the run's start. `inputs` are the run's, `bodies` ended visits by node, `files` tells
    which of the paths asked about name a file of the run.
    `hand_over`: this chain is long enough, whatever is ready gets a chain of its own. `decided` is the planner's decision
    that chose this visit (AGENTIC), None where it chose none.
    """

    run: Run
    visit: Visit
    outcome: Outcome | None
    inputs: Mapping[str, object] | None = None
    joins: Mapping[str, Join] = field(default_factory=dict)
    bodies: Mapping[str, VisitBody | None] = field(default_factory=dict)
    files: Mapping[str, bool] = field(default_factory=dict)
    hand_over: bool = False
    decided: Mapping[str, Any] | None = None


class FactsMissing(Exception):
    """The decision needs these joins and bodies, to know of these files, or the run's inputs; ask again with them."""

    def __init__(
        self,
        *,
        joins: frozenset[str] = frozenset(),
        bodies: frozenset[str] = frozenset(),
        files: frozenset[str] = frozenset(),
        inputs: bool = False,
    ) -> None:
        super().__init__(f"joins {sorted(joins)}, bodies {sorted(bodies)}, files {sorted(files)}, inputs {inputs}")
        self.joins = joins
        self.bodies = bodies
        self.files = files
        self.inputs = inputs


class StaleFacts(Exception):
    """The facts were read across another commit (an edge is there already): read all of them again."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a visit stands among all visits: the how manieth of its node it is, and what lies before it (AGENTIC)."""

    iteration: int = 1
    source_iteration: int = 1
    ledger: Ledger = ()


DAG_PLACE = Place()
"""In a DAG each node has one visit."""


@dataclass(frozen=True, slots=True)
class Ended:
    """A node that ended in this decision: a light node that rode along, or (`dead`) one on a path not taken."""

    node_id: str
    status: VisitStatus
    outcome: Outcome | None
    reach: int
    source: str | None
    place: Place = DAG_PLACE
    decided: Mapping[str, Any] | None = None

    @property
    def dead(self) -> bool:
        return self.outcome is None


@dataclass(frozen=True, slots=True)
class Started:
    """A node with an effect that is ready. `forked`: a new chain opens for it, else this chain goes on with it."""

    node_id: str
    reach: int
    source: str | None
    forked: bool
    place: Place = DAG_PLACE


@dataclass(frozen=True, slots=True)
class RunEnd:
    status: Literal["SUCCESS", "FAILED"]
    failed_node: str | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Decision:
    """`status` is the own visit's (None: it had ended before). `joins` holds each touched join as it will stand,
    with the version it was read at. `ended` is in the order in which the events will tell it."""

    status: VisitStatus | None
    ended: tuple[Ended, ...] = ()
    started: tuple[Started, ...] = ()
    joins: Mapping[str, Join] = field(default_factory=dict)
    pending: tuple[PendingEdges, ...] = ()
    end: RunEnd | None = None
