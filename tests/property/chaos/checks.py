"""What must hold at the end of every schedule, whatever has happened in it."""

import json
from collections.abc import Iterator
from typing import Any

from stepweave.execution.run import Run
from stepweave.execution.visit import START, Visit, VisitBody
from stepweave.services.event_log import Event
from stepweave.store.runs import Runs
from tests.property.chaos.questions import question_faults
from tests.property.chaos.reference import Fate, fates, output
from tests.property.chaos.state_machine import GIVEN_UP
from tests.property.chaos.streams import stream_faults
from tests.property.chaos.world import INPUTS, RUN_ID, World

STALLED = "已放弃"  # of the sentence that gives a run up


def examine(world: World) -> list[str]:
    """Everything that is wrong with a world that has lived."""
    if world.wrong or not world.is_over:
        return world.wrong or ["the run never ended"]
    return list(_Examination(world).faults())


class _Examination:
    def __init__(self, world: World) -> None:
        runs = Runs(world.items, world.blobs)
        run = runs.get(RUN_ID)
        assert run is not None
        self._world = world
        self._run: Run = run
        self._visits: dict[str, Visit] = {visit.node_id: visit for visit in runs.visits(RUN_ID)}
        self._number = len(runs.visits(RUN_ID))
        found = runs.bodies(RUN_ID, [visit.visit_uuid for visit in self._visits.values()])
        self._bodies: dict[str, VisitBody] = {
            node_id: found[visit.visit_uuid] for node_id, visit in self._visits.items() if visit.visit_uuid in found
        }
        self._events: list[Event] = next(each.events for each in reversed(world.finished) if each.after == 0)
        broken = {node_id for node_id, body in self._bodies.items() if body.error == GIVEN_UP.zh}
        self._fates = fates(world.workflow, INPUTS, broken)

    def faults(self) -> Iterator[str]:
        yield from self._log()
        yield from self._counters()
        yield from self._left_over()
        yield from self._order()
        yield from self._end()
        yield from self._nodes()
        world = self._world
        yield from stream_faults(world.workflow, self._events, self._visits, self._bodies)
        yield from question_faults(world.workflow, world.people, self._events, self._visits, self._bodies)
        yield from self._effects()

    def _log(self) -> Iterator[str]:
        """The same, whole and contiguous, for every reader (contract §5)."""
        if [event.id for event in self._events] != list(range(1, self._run.last_seq + 1)):
            yield "event ids are not 1, 2, 3 …"
        for reader in self._world.finished:
            if reader.events != self._events[reader.after :]:
                yield f"readers differ, one from {reader.after}"
        if [event.id for event in self._events if event.is_terminal] != [len(self._events)]:
            yield "the terminal event is not the last and only one"

    def _counters(self) -> Iterator[str]:
        told = [event.data["visit"]["sortOrder"] for event in self._events if event.type == "visit_recorded"]
        if told != list(range(1, len(told) + 1)) or self._run.last_sort != len(told):
            yield f"sort orders {told}, lastSort {self._run.last_sort}"
        if self._run.visits != self._number or self._number != len(self._visits):
            yield f"nVisits {self._run.visits}, there are {self._number} of {len(self._visits)} nodes"
        if self._run.status == "SUCCESS" and self._run.running:
            yield f"running {self._run.running} at the end"

    def _left_over(self) -> Iterator[str]:
        if self._run.closing:
            yield "still closing"
        for node_id, visit in self._visits.items():
            if visit.status == "RUNNING":
                yield f"{node_id} is left RUNNING"
            if visit.pending:
                yield f"{node_id} is left with pending edges"

    def _order(self) -> Iterator[str]:
        """Each node once: RUNNING, then its end and its record; after all edges into it are resolved (law 4)."""
        began: dict[str, int] = {}
        ended: dict[str, int] = {}
        for place, event in enumerate(self._events):
            if event.type != "node_status":
                continue
            node_id, status = event.data["nodeId"], event.data["status"]
            if node_id in (began if status == "RUNNING" else ended):
                yield f"{node_id} is told {status} twice"
            (began if status == "RUNNING" else ended)[node_id] = event.id
            if status == "RUNNING":
                continue
            after = self._events[place + 1]
            if after.type != "visit_recorded" or after.data["visit"]["nodeId"] != node_id:
                yield f"the end of {node_id} is not followed by its record"
            if (node_id not in began) != self._visits[node_id].dead:
                yield f"{node_id} ended without RUNNING, or is dead and was RUNNING"
            if self._visits[node_id].status != status:
                yield f"{node_id} told {status}, stored {self._visits[node_id].status}"
        recorded = [event for event in self._events if event.type == "visit_recorded"]
        if len(recorded) != len(ended):
            yield "records and ends do not match"
        for edge in self._world.workflow.edges:
            first = began.get(edge["target"], ended.get(edge["target"]))
            if first is not None and ended.get(edge["source"], first) >= first:
                yield f"{edge['target']} starts before its edge from {edge['source']} is resolved"

    def _end(self) -> Iterator[str]:
        """How the run ended is what the reference says, unless somebody else ended it."""
        last = self._events[-1].data
        failed = {node_id for node_id, fate in self._fates.items() if fate.status == "FAILED"}
        if self._run.status == "SUCCESS":
            if failed:
                yield f"SUCCESS though {sorted(failed)} must stop the run"
            elif last["output"]["data"] != output(self._world.workflow, self._fates):
                yield f"the run's output is {last['output']['data']}"
            return
        if last["error"] != self._run.error or last["failedNodeId"] != self._run.failed_node:
            yield "the terminal event tells another end than the run"
        if self._run.error == "CANCELLED":
            if not self._world.begun["cancel"]:
                yield "cancelled by nobody"
        elif self._run.failed_node is None:
            if STALLED not in (self._run.error or "") or self._world.revivals >= 5:
                yield f"given up: {self._run.error}"
        elif self._run.failed_node not in failed:
            yield f"{self._run.failed_node} stopped the run, which the reference lets go on"
        elif self._visits[self._run.failed_node].status != "FAILED":
            yield f"{self._run.failed_node} stopped the run and is {self._visits[self._run.failed_node].status}"

    def _nodes(self) -> Iterator[str]:
        """What each node that was told to have ended came to."""
        if self._run.status == "SUCCESS":
            for node_id in self._fates.keys() - self._visits.keys():
                yield f"{node_id} never ran"
        told = {e.data["visit"]["nodeId"]: e.data["visit"] for e in self._events if e.type == "visit_recorded"}
        for node_id, visit in self._visits.items():
            if node_id == START:
                continue
            if node_id in told:
                yield from self._node(node_id, visit, told[node_id])
            elif self._run.status == "SUCCESS":
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
        if self._world.weather.until:
            return
        for node in self._world.workflow.nodes:
            node_id, number = node["id"], self._world.types.effect.began[node["id"]]
            stops = sum(act != "say" for act in node["data"].get("script", []))
            most = self._visits[node_id].tries + 1 + stops if node_id in self._visits else 0
            if number > most:
                yield f"{node_id} ran {number} times without a fault"
        if self._world.sleepers:
            yield f"{self._world.sleepers} chains sleep for ever"
