"""What must hold at the end of every schedule of an AGENTIC run (contract §2).

Such a run is one chain, so that everything its log tells but for deltas is known in advance: the visits and decisions of
`journeys`, in that order, as far as the run came.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import zip_longest
from typing import Any

from stepweave import ids
from stepweave.execution.visit import PLANNER, START, Visit
from tests.property.chaos.examination import STALLED, Examination
from tests.property.chaos.journeys import OFF_CANVAS, Arrived, Decided, Stop, Visited, Way, journey
from tests.property.chaos.questions import question_faults
from tests.property.chaos.streams import stream_faults
from tests.property.chaos.workflows import Json, Workflow
from tests.property.chaos.world import INPUTS, RUN_ID, World

_PLANNER_FAILED = "规划器执行失败"


class AgenticExamination(Examination):
    def __init__(self, world: World) -> None:
        super().__init__(world)
        broken = {(visit.node_id, visit.iteration) for visit in self.broken}
        self._way: list[Way] = list(journey(world.workflow, INPUTS, broken))
        self._stops: dict[Stop, Visit] = {(visit.node_id, visit.iteration): visit for visit in self.heads}
        self._told = {visit["visitUuid"]: visit for visit in self.recorded()}

    def faults(self) -> Iterator[str]:
        yield from self.common_faults()
        yield from self._story()
        yield from self._end()
        yield from self._stored()
        for way in self._way:
            if isinstance(way, Visited) and way.stop in self._stops:
                yield from self._visit(way, self._stops[way.stop])
        yield from self._effects()

    def _story(self) -> Iterator[str]:
        """One visit for one decision, its end and its record, then the next decision; nothing else is told."""
        told = [
            _short(event.type, event.data)
            for event in self.events
            if event.type != "node_stream" and not event.is_terminal
        ]
        expected = [line for way in self._way for line in _lines(way)]
        whole = self._came_to_its_own_end()
        for place, (line, wanted) in enumerate(zip_longest(told, expected)):
            if line != wanted and (whole or line is not None):
                yield f"event {place} but for deltas is {line}, not {wanted}"
                return

    def _came_to_its_own_end(self) -> bool:
        return self.run.error != "CANCELLED" and STALLED not in (self.run.error or "")

    def _end(self) -> Iterator[str]:
        if not self._came_to_its_own_end():
            return
        end = self._way[-1]
        assert isinstance(end, Arrived)
        if (self.run.status == "SUCCESS") != (end.output is not None):
            yield f"ended {self.run.status}, {self.run.error}; the reference says {end}"
        elif end.output is not None:
            if (given := self.events[-1].data["output"]["data"]) != end.output:
                yield f"the run's output is {given}, not {end.output}"
        elif end.stopped_by != (self.run.failed_node or PLANNER):
            yield f"{self.run.failed_node} stopped the run, not {end.stopped_by}"
        elif (self.run.failed_node is None) != (self.run.error or "").startswith(_PLANNER_FAILED):
            yield f"the planner failed, and the run with {self.run.error}"

    def _stored(self) -> Iterator[str]:
        """Visits are those of the story; at most the last one is not told, where the run was ended from outside."""
        planned = {way.number: way.decision for way in self._way if isinstance(way, Decided)}
        known = {way.stop for way in self._way if isinstance(way, Visited)}
        unheard = []
        for (node_id, number), visit in self._stops.items():
            if visit.visit_uuid != ids.visit_uuid(RUN_ID, node_id, number):
                yield f"visit {number} of {node_id} has a strange id"
            if node_id == START:
                continue
            if node_id != PLANNER:
                if (node_id, number) not in known:
                    yield f"visit {number} of {node_id} was never to be"
                if visit.visit_uuid not in self._told:
                    unheard.append(visit)
            elif number not in planned:
                yield f"the planner was asked after {number} visits"
            elif visit.visit_uuid not in self.left:
                unheard.append(visit)
            elif self.left[visit.visit_uuid].decision != planned[number]:
                yield f"the planner decided {self.left[visit.visit_uuid].decision}, not {planned[number]}"
        if len(unheard) > 1 or (unheard and self._came_to_its_own_end()):
            yield f"visits ended unheard: {[(visit.node_id, visit.iteration) for visit in unheard]}"
        for visit in unheard:
            if visit.status != "FAILED" or visit.visit_uuid in self.left:
                yield f"{visit.node_id} ended unheard as {visit.status}"

    def _visit(self, way: Visited, visit: Visit) -> Iterator[str]:
        """What a visit left behind, and what it told on its way."""
        node_id = visit.node_id
        events = [event for event in self.events if event.data.get("visitUuid") == visit.visit_uuid]
        alone = _alone(self.world.workflow, way.node)
        left = self.left.get(visit.visit_uuid)
        bodies = {node_id: left} if left is not None else {}
        yield from stream_faults(alone, events, {node_id: visit}, bodies)
        people = self.world.people
        stored = {name: item for name, item in people.stored().items() if item["visitUuid"] == visit.visit_uuid}
        accepted = {name: answers for name, answers in people.accepted.items() if name in stored}
        yield from question_faults(alone, stored, accepted, events, {node_id: visit}, bodies)
        told = self._told.get(visit.visit_uuid)
        if told is None:
            return
        if left is None or left.output["data"].get("value") != way.value:
            yield f"{way.stop} left {left and left.output['data']}, not {way.value}: it saw something else"
        elif json.loads(told["outputJson"])["data"] != left.output["data"] or told["errorMsg"] != left.error:
            yield f"{way.stop} is told otherwise than it is stored"
        elif left.decision != _shown(way.decision):
            yield f"{way.stop} follows from {left.decision}, stored is {way.decision}"
        if (visit.status, visit.sort_order) != (told["status"], told["sortOrder"]):
            yield f"{way.stop} is stored as {visit.status} at {visit.sort_order}"

    def _effects(self) -> Iterator[str]:
        """Without any fault the planner is asked once for each of its attempts, and an effect happens once."""
        if self.world.weather.until:
            return
        for number, times in self.world.planner.asked.items():
            if times > self._stops[PLANNER, number].tries + 1:
                yield f"the planner was asked {times} times after {number} visits, without a fault"
        most: dict[str, int] = {}
        for way in self._way:
            if isinstance(way, Visited) and way.stop in self._stops:
                stops = sum(act != "say" for act in way.node["data"].get("script", []))
                most[way.node["id"]] = most.get(way.node["id"], 0) + self._stops[way.stop].tries + 1 + stops
        for node_id, times in self.world.types.effect.began.items():
            if times > most.get(node_id, 0):
                yield f"{node_id} ran {times} times without a fault"


def _alone(workflow: Workflow, node: Json) -> Workflow:
    """The workflow as one visit has to do with it."""
    return replace(workflow, definition={"graphData": {"nodes": [node], "edges": []}})


def _shown(decision: Json | None) -> Json | None:
    return {name: value for name, value in decision.items() if name != "script"} if decision is not None else None


def _short(kind: str, data: Mapping[str, Any]) -> list[Any]:
    """What is known in advance of an event."""
    match kind:
        case "planner_decision":
            return [kind, data["decision"]]
        case "node_status":
            return [kind, data["nodeId"], data["visitUuid"], data["status"]]
        case _:
            visit = data["visit"]
            known = ["nodeId", "iterSeq", "visitUuid", "fromVisitUuid", "fromNodeId", "status", "offCanvas"]
            return [kind, *(visit[name] for name in known), visit["decisionJson"] and json.loads(visit["decisionJson"])]


def _lines(way: Way) -> Iterator[list[Any]]:
    """The events that tell it, as `_short` has them."""
    if isinstance(way, Decided) and way.decision is not None:
        yield ["planner_decision", _shown(way.decision)]
    if not isinstance(way, Visited):
        return
    node_id, iteration = way.stop
    uuid = ids.visit_uuid(RUN_ID, node_id, iteration)
    source = way.source and ids.visit_uuid(RUN_ID, *way.source)
    yield ["node_status", node_id, uuid, "RUNNING"]
    yield ["node_status", node_id, uuid, way.status]
    known = [node_id, iteration, uuid, source, way.source and way.source[0], way.status, node_id == OFF_CANVAS]
    yield ["visit_recorded", *known, _shown(way.decision)]
