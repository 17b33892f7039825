"""What must hold at the end of every schedule of a DAG, whatever has happened in it."""

import json
from collections.abc import Iterator
from typing import Any

from stepweave.execution.visit import START, Visit, VisitBody
from tests.property.chaos.examination import STALLED, Examination
from tests.property.chaos.questions import question_faults
from tests.property.chaos.reference import Fate, fates, output
from tests.property.chaos.streams import stream_faults
from tests.property.chaos.world import INPUTS, World


class DagExamination(Examination):
    def __init__(self, world: World) -> None:
        super().__init__(world)
        self._visits: dict[str, Visit] = {visit.node_id: visit for visit in self.heads}
        self._bodies: dict[str, VisitBody] = {
            visit.node_id: self.left[visit.visit_uuid] for visit in self.heads if visit.visit_uuid in self.left
        }
        self._fates = fates(world.workflow, INPUTS, {visit.node_id for visit in self.broken})

    def faults(self) -> Iterator[str]:
        yield from self.common_faults()
        if len(self._visits) != len(self.heads):
            yield f"{len(self.heads)} visits of {len(self._visits)} nodes"
        yield from self._order()
        yield from self._end()
        yield from self._nodes()
        world = self.world
        yield from stream_faults(world.workflow, self.events, self._visits, self._bodies)
        stored, accepted = world.people.stored(), world.people.accepted
        yield from question_faults(world.workflow, stored, accepted, self.events, self._visits, self._bodies)
        yield from self._effects()

    def _order(self) -> Iterator[str]:
        """Each node once: RUNNING, then its end and its record; after all edges into it are resolved (law 4)."""
        began: dict[str, int] = {}
        ended: dict[str, int] = {}
        for place, event in enumerate(self.events):
            if event.type != "node_status":
                continue
            node_id, status = event.data["nodeId"], event.data["status"]
            if node_id in (began if status == "RUNNING" else ended):
                yield f"{node_id} is told {status} twice"
            (began if status == "RUNNING" else ended)[node_id] = event.id
            if status == "RUNNING":
                continue
            after = self.events[place + 1]
            if after.type != "visit_recorded" or after.data["visit"]["nodeId"] != node_id:
                yield f"the end of {node_id} is not followed by its record"
            if (node_id not in began) != self._visits[node_id].dead:
                yield f"{node_id} ended without RUNNING, or is dead and was RUNNING"
            if self._visits[node_id].status != status:
                yield f"{node_id} told {status}, stored {self._visits[node_id].status}"
        if len(self.recorded()) != len(ended):
            yield "records and ends do not match"
        for edge in self.world.workflow.edges:
            first = began.get(edge["target"], ended.get(edge["target"]))
            if first is not None and ended.get(edge["source"], first) >= first:
                yield f"{edge['target']} starts before its edge from {edge['source']} is resolved"

    def _end(self) -> Iterator[str]:
        """How the run ended is what the reference says, unless somebody else ended it."""
        failed = {node_id for node_id, fate in self._fates.items() if fate.status == "FAILED"}
        if self.run.status == "SUCCESS":
            if failed:
                yield f"SUCCESS though {sorted(failed)} must stop the run"
            elif (given := self.events[-1].data["output"]["data"]) != output(self.world.workflow, self._fates):
                yield f"the run's output is {given}"
            return
        if self.run.failed_node is None:
            if self.run.error != "CANCELLED" and STALLED not in (self.run.error or ""):
                yield f"given up: {self.run.error}"
        elif self.run.failed_node not in failed:
            yield f"{self.run.failed_node} stopped the run, which the reference lets go on"
        elif self._visits[self.run.failed_node].status != "FAILED":
            yield f"{self.run.failed_node} stopped the run and is {self._visits[self.run.failed_node].status}"

    def _nodes(self) -> Iterator[str]:
        """What each node that was told to have ended came to."""
        if self.run.status == "SUCCESS":
            for node_id in self._fates.keys() - self._visits.keys():
                yield f"{node_id} never ran"
        told = {visit["nodeId"]: visit for visit in self.recorded()}
        for node_id, visit in self._visits.items():
            if node_id == START:
                continue
            if node_id in told:
                yield from self._node(node_id, visit, told[node_id])
            elif self.run.status == "SUCCESS":
                yield f"the end of {node_id} is not told"
            elif visit.status != "FAILED" or node_id in self._bodies:
                yield f"{node_id} ended unheard as {visit.status}"

    def _node(self, node_id: str, visit: Visit, recorded: dict[str, Any]) -> Iterator[str]:
        fate: Fate = self._fates[node_id]
        if (visit.status, visit.dead) != (fate.status, fate.dead):
            yield f"{node_id} ended {visit.status}, dead {visit.dead}; the reference says {fate}"
            return
        if recorded["fromNodeId"] != fate.source:
            yield f"{node_id} comes from {recorded['fromNodeId']}, not {fate.source}"
        if recorded["sortOrder"] != visit.sort_order or recorded["status"] != visit.status:
            yield f"{node_id} is recorded otherwise than it is stored"
        body = self._bodies.get(node_id)
        if fate.dead:
            if body is not None:
                yield f"{node_id} is dead and left something"
            return
        if body is None:
            yield f"{node_id} left nothing"
            return
        if body.output["data"].get("value") != fate.value:
            yield f"{node_id} gave {body.output['data']}, not {fate.value}: it saw something else"
        if json.loads(recorded["outputJson"])["data"] != body.output["data"] or recorded["errorMsg"] != body.error:
            yield f"{node_id} is told otherwise than it is stored"
        if (body.error is None) != (fate.status == "SUCCESS"):
            yield f"{node_id} ended {fate.status} with error {body.error}"
        if any(entry["timestamp"] is None for entry in body.logs):
            yield f"{node_id} has a log entry without a time"

    def _effects(self) -> Iterator[str]:
        """Without any fault an effect happens once for each of its attempts."""
        if self.world.weather.until:
            return
        for node in self.world.workflow.nodes:
            node_id, number = node["id"], self.world.types.effect.began[node["id"]]
            stops = sum(act != "say" for act in node["data"].get("script", []))
            most = self._visits[node_id].tries + 1 + stops if node_id in self._visits else 0
            if number > most:
                yield f"{node_id} ran {number} times without a fault"
