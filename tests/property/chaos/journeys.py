"""What an AGENTIC run comes to, played without a store, a chain or a ledger: the other opinion (`reference` for a DAG)."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from stepweave.execution.visit import PLANNER
from tests.property.chaos.nodes import Seen, value_of
from tests.property.chaos.planners import MOST_TRIES, think
from tests.property.chaos.workflows import Json, Workflow

OFF_CANVAS = "off-canvas"

Stop = tuple[str, int]
"""A visit by its node and its number; the planner's visits are numbered by those before them."""


@dataclass(frozen=True, slots=True)
class Decided:
    """A visit of the planner; `decision` as it is stored, None where the planner failed."""

    number: int
    decision: Json | None


@dataclass(frozen=True, slots=True)
class Visited:
    """A visit of a node: `source` is where it comes from, `decision` what chose it, `script` what it plays."""

    node: Json
    iteration: int
    status: Literal["SUCCESS", "SKIPPED", "FAILED"]
    value: int | None
    source: Stop | None
    decision: Json | None

    @property
    def stop(self) -> Stop:
        return self.node["id"], self.iteration


@dataclass(frozen=True, slots=True)
class Arrived:
    """The end: the run's output, or the node that stopped it, PLANNER among them."""

    output: Json | None
    stopped_by: str | None = None


Way = Decided | Visited | Arrived


def journey(workflow: Workflow, inputs: Mapping[str, Any], broken: Collection[Stop]) -> Iterator[Way]:
    """Everything that happens in a run, in its order; what is in `broken` fails, because the platform gave it up."""
    return _Traveller(workflow, inputs, broken).travel()


class _Traveller:
    def __init__(self, workflow: Workflow, inputs: Mapping[str, Any], broken: Collection[Stop]) -> None:
        self._workflow = workflow
        self._planner: Json = workflow.definition["planner"]
        self._nodes = {node["id"]: node for node in workflow.nodes}
        self._outputs = [node["id"] for node in workflow.nodes if node["type"] == "output"]
        self._roots = [node["id"] for node in workflow.nodes if node["type"] == "userInput"]
        self._inputs = inputs
        self._broken = broken
        self._visits: list[Visited] = []

    def travel(self) -> Iterator[Way]:
        for root in self._roots:
            yield self._visit(self._nodes[root], None, from_outside=True)
            if self._failed():
                yield Arrived(None, root)
                return
        while True:
            decision = self._decide()
            yield Decided(len(self._visits), decision)
            if decision is None:
                yield Arrived(None, PLANNER)
                return
            if decision["next"] is not None:
                visited = self._visit(self._node(decision), decision)
                yield visited
                if self._failed():
                    yield Arrived(None, visited.node["id"])
                    return
                gave = visited.node["type"] == "output"
                if gave and (visited.status == "SUCCESS" or decision["isFinal"]):
                    yield self._end()
                    return
            if decision["isFinal"]:
                drawn = [edge["target"] for edge in self._workflow.edges if edge["source"] == self._last()[0]]
                last = next((target for target in drawn if target in self._outputs), self._outputs[0])
                yield self._visit(self._nodes[last], None)
                yield Arrived(None, last) if self._failed() else self._end()
                return

    def _end(self) -> Arrived:
        last = self._visits[-1]
        return Arrived({"value": last.value, last.node["id"]: last.value} if last.status == "SUCCESS" else {})

    def _failed(self) -> bool:
        return self._visits[-1].status == "FAILED"

    def _last(self) -> Stop:
        return self._visits[-1].stop

    def _counts(self) -> dict[str, int]:
        """How often each node was visited, the one visited last first."""
        names = [visit.node["id"] for visit in self._visits]
        return {name: names.count(name) for name in reversed(names)}

    def _decide(self) -> Json | None:
        number = len(self._visits)
        counts = self._counts()
        thought = think(
            self._planner["instructions"],
            [node_id for node_id in self._nodes if node_id not in self._roots],
            self._outputs,
            list(counts.items()),
            off_canvas=self._planner["allowOffCanvas"],
        )
        if (PLANNER, number) in self._broken or thought.flaky >= MOST_TRIES:
            return None
        decided = thought.decided | ({"next": OFF_CANVAS} if "instruction" in thought.decided else {})
        following = decided["next"]
        if following in (None, *self._outputs):
            return decided
        made = number - len(self._roots)
        if made >= self._planner["maxVisits"] or counts.get(following, 0) >= self._planner["maxVisitsPerNode"]:
            return None
        return decided

    def _node(self, decision: Json) -> Json:
        if decision["next"] != OFF_CANVAS:
            return self._nodes[decision["next"]]
        script = {"script": decision["script"], "instruction": decision["instruction"]}
        data = {"reads": True, "fails": False, "failStrategy": "abort", "flaky": 0, "retry": {"maxAttempts": 3}}
        return {"id": OFF_CANVAS, "type": "effect", "data": data | script}

    def _visit(self, node: Json, decision: Json | None, *, from_outside: bool = False) -> Visited:
        iteration = self._counts().get(node["id"], 0) + 1
        data = node["data"]
        flaky = node["type"] == "effect" and data["flaky"] >= data["retry"]["maxAttempts"]
        status: Literal["SUCCESS", "SKIPPED", "FAILED"] = "SUCCESS"
        value = None
        if data["fails"] or flaky or (node["id"], iteration) in self._broken:
            status = "SKIPPED" if (self._workflow.fail_strategy or data["failStrategy"]) == "skip" else "FAILED"
        else:
            name = node["id"] + data.get("instruction", "")
            value = value_of(name, self._inputs, self._seen() if data["reads"] else ())
        source = None if from_outside else self._last()
        visited = Visited(node, iteration, status, value, source, decision)
        self._visits.append(visited)
        return visited

    def _seen(self) -> list[Seen]:
        """Each node as its latest visit left it."""
        latest = {visit.node["id"]: visit for visit in self._visits}
        return [(name, 200 if visit.status == "SUCCESS" else 400, visit.value) for name, visit in latest.items()]
