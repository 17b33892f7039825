"""A planner without a model: what it decides is a function of a seed and of the visits so far, in whatever process."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from stepweave.execution.ledger import total
from stepweave.execution.outcome import Outcome, failed, succeeded
from stepweave.execution.view import View
from stepweave.graph.spec import Specs
from stepweave.graph.topology import Graph
from stepweave.nodes.planner import Past
from stepweave.scheduling.planning import Refused, read_decision
from stepweave.services.visit_work import VisitWork

Visited = Sequence[tuple[str, int]]
"""The nodes visited, each with the number of its visits, the one visited last first."""

MOST_TRIES = 3
"""How often a planner is asked at most: it has no `retry` of its own, so the default holds (contract §2)."""

_LONGEST = 16


@dataclass(frozen=True, slots=True)
class Thought:
    """`decided` as the planner answers it; before that it fails `flaky` times as a provider does."""

    decided: dict[str, Any]
    flaky: int


def think(seed: str, nodes: Sequence[str], outputs: Sequence[str], visited: Visited, *, off_canvas: bool) -> Thought:
    """`nodes` are those to choose from, outputs among them. Now and then it wants what the limits do not allow."""
    chance = Random(f"{seed} {visited}")
    number = sum(visits for _, visits in visited)
    inner = [node_id for node_id in nodes if node_id not in outputs]
    decided: dict[str, Any] = {"next": chance.choice(inner), "reason": f"after {number}", "isFinal": False}
    if chance.random() < 0.1 or number > _LONGEST:
        decided |= chance.choice([{"next": chance.choice(outputs)}, {"next": None, "isFinal": True}])
    elif chance.random() < 0.05:
        decided |= {"isFinal": True}
    elif off_canvas and chance.random() < 0.2:
        script = chance.choices(["say", "ask", "save"], k=chance.choice([0, 1, 2, 3]))
        decided |= {"next": None, "instruction": f"do {number}", "script": script}
    return Thought(decided, chance.choice([0] * 60 + [1] * 6 + [MOST_TRIES]))


class Wanderer:
    """`Plan` (services): `asked` counts how often each of the planner's visits was run, by its number."""

    def __init__(self, chance: Random) -> None:
        self._chance = chance
        self.asked: Counter[int] = Counter()

    def __call__(self, graph: Graph, specs: Specs, view: View, past: Past, work: VisitWork) -> Outcome:
        number = total(past.ledger)
        self.asked[number] += 1
        work.clock.sleep(self._chance.choice([0, 0.1]))
        ids = tuple(graph.order)
        visited = [(ids[position], visits) for position, visits in past.ledger]
        if past.before is not None:
            assert past.before.output["data"]["number"] == number - 1, "the planner is told of another visit of its own"
        assert view.envelope(visited[0][0]) is not None, "the planner cannot see what was visited last"
        assert graph.planner is not None, "the workflow is an AGENTIC one"
        choice = [node_id for node_id in graph.nodes if node_id not in (*graph.roots, graph.off_canvas)]
        thought = think(
            graph.planner.instructions or "",
            choice,
            graph.outputs,
            visited,
            off_canvas=graph.off_canvas is not None,
        )
        if work.tries < thought.flaky:
            return failed("the planner's provider is busy", retryable=True)
        try:
            decided = read_decision(json.dumps(thought.decided), graph, past.ledger)
        except Refused as refused:
            return failed(refused.text.to(work.language))
        return succeeded("", {"number": number}, decision=decided)
