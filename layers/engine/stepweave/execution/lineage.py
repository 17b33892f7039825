"""How a run came to a visit (contract §6, `path`): every live path in a DAG, the chain of visits in AGENTIC mode. Pure."""

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

MOST_PATHS = 100
MOST_DEPTH = 200


@dataclass(frozen=True, slots=True)
class VisitFact:
    """What a path needs to know of a visit. `order` is its `sortOrder`, None while it runs.

    `sources` are the visits from which it was reached: in a DAG one for each live edge into its node, in the order of
    `graphData.edges`; in AGENTIC mode the one before it, none for the first.
    """

    visit_uuid: str
    node_id: str
    iteration: int
    order: int | None
    sources: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Path:
    """Visits one after the other, the current one last."""

    visits: tuple[VisitFact, ...]
    has_backtrack: bool = False


@dataclass(frozen=True, slots=True)
class Lineage:
    """`visits` are all that lead to the current one, in `sortOrder`, with the current one last. `backtracks` are the
    steps to a node that had been visited before, as `G->C`, each once. `truncated`: there is more than is told."""

    visits: tuple[VisitFact, ...]
    paths: tuple[Path, ...]
    backtracks: tuple[str, ...] = ()
    truncated: bool = False


def dag_lineage(current: str, facts: Mapping[str, VisitFact]) -> Lineage:
    """Every path over live edges to the visit `current`; `facts` hold it and all that lead to it, by `visitUuid`.

    Walks back from `current`, so that each step taken belongs to a path that is told: the work is bounded by the paths
    told and not by those there are. Of a path that is deeper than `MOST_DEPTH`, its end is told.
    """
    paths: list[Path] = []
    truncated = False
    ahead = [_Tail(facts[current], None, 1)]
    while ahead:
        if len(paths) == MOST_PATHS:
            truncated = True
            break
        tail = ahead.pop()
        sources = dict.fromkeys(tail.visit.sources)  # two edges between the same nodes are one step
        if not sources or tail.depth == MOST_DEPTH:
            truncated = truncated or bool(sources)
            paths.append(Path(tail.whole()))
        else:
            ahead.extend(_Tail(facts[source], tail, tail.depth + 1) for source in reversed(sources))
    return Lineage(_all_before(current, facts), tuple(paths), truncated=truncated)


def agentic_lineage(visits: Sequence[VisitFact]) -> Lineage:
    """The chain of visits up to the last of `visits`, which are all up to it in `sortOrder`.

    Each node stands by its latest visit (contract §6): A, B, C, G, C gives A, B, G, C and the backtrack `G->C`.
    """
    latest: dict[str, VisitFact] = {}
    nodes = {visit.visit_uuid: visit.node_id for visit in visits}
    backtracks: dict[str, None] = {}
    before: str | None = None
    for visit in visits:
        if latest.pop(visit.node_id, None) is not None:
            source = nodes.get(visit.sources[0]) if visit.sources else before
            backtracks[f"{source}->{visit.node_id}"] = None
        latest[visit.node_id] = visit
        before = visit.node_id
    shown = tuple(latest.values())[-MOST_DEPTH:]
    path = Path(shown, has_backtrack=bool(backtracks))
    return Lineage(shown, (path,), tuple(backtracks), truncated=len(shown) < len(latest))


class _Tail(NamedTuple):
    """The end of a path, from `visit` on; `depth` counts its visits."""

    visit: VisitFact
    rest: "_Tail | None"
    depth: int

    def whole(self) -> tuple[VisitFact, ...]:
        visits = [self.visit]
        rest = self.rest
        while rest is not None:
            visits.append(rest.visit)
            rest = rest.rest
        return tuple(visits)


def _all_before(current: str, facts: Mapping[str, VisitFact]) -> tuple[VisitFact, ...]:
    found = {current}
    waiting = deque(found)
    while waiting:
        new = [source for source in facts[waiting.popleft()].sources if source not in found]
        found.update(new)
        waiting.extend(new)
    found.discard(current)
    before = sorted((facts[each] for each in found), key=lambda visit: visit.order or 0)
    return (*before, facts[current])
