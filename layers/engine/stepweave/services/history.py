"""What people debug with (contract §3, Snapshot): each visit of a run with the variables as they stood after it."""

from collections.abc import Iterator, Mapping
from typing import Any

from stepweave.execution.envelope import data_of
from stepweave.execution.run import Run
from stepweave.execution.visit import Visit, VisitBody
from stepweave.graph.topology import Graph
from stepweave.services.commits import source_uuid
from stepweave.services.memory import RunMemory
from stepweave.services.node_results import visit_end
from stepweave.services.wire import ANSWER_BYTES, size
from stepweave.store.runs import Runs
from stepweave.store.workflows import Workflows


class History:
    """Derived when asked for, never stored: replaying the visits in their order gives every snapshot (law 6)."""

    def __init__(self, runs: Runs, workflows: Workflows, memory: RunMemory) -> None:
        self._runs = runs
        self._workflows = workflows
        self._memory = memory

    def nodes(self, run: Run, visit_uuid: str | None = None) -> list[dict[str, Any]]:
        """A visit each, in `sortOrder`; only the one that is asked for, if any.

        Answers are bounded: where the snapshots of a run are larger, the later ones are null with `snapshotOmitted`,
        to be asked for by their `visitUuid`.
        """
        graph = self._workflows.graph(run.workflow, run.version)
        visits = [visit for visit in self._runs.visits(run.run_id) if not visit.is_hidden]
        ended = sorted((v for v in visits if v.sort_order is not None), key=lambda visit: visit.sort_order or 0)
        shown: list[dict[str, Any]] = []
        room = ANSWER_BYTES
        for visit, body, snapshot in self._replay(run, ended):
            if visit_uuid is not None and visit.visit_uuid != visit_uuid:
                continue
            entry = _entry(run, graph, visit, body) | {"sections": {"_runtime": _runtime(run, len(shown) + 1)}}
            room -= size(entry) + size(snapshot) + 64
            whole = {"contextSnapshot": dict(snapshot)}
            shown.append(entry | (whole if room >= 0 else {"contextSnapshot": None, "snapshotOmitted": True}))
        return shown

    def _replay(self, run: Run, ended: list[Visit]) -> Iterator[tuple[Visit, VisitBody | None, Mapping[str, Any]]]:
        """Each visit with the variables after it: the initial inputs, then what each gave, later over earlier."""
        variables: dict[str, Any] = dict(self._memory.inputs(run.run_id))
        for visit in ended:
            body = self._memory.body(run.run_id, visit.visit_uuid)
            if body is not None:
                variables |= data_of(body.output)
            yield visit, body, variables


def _entry(run: Run, graph: Graph, visit: Visit, body: VisitBody | None) -> dict[str, Any]:
    node = graph.nodes[visit.node_id]
    end = visit_end(run, visit, body)
    metadata = (end.output or {}).get("metadata") or {}
    return {
        "visitUuid": visit.visit_uuid,
        "nodeId": node.id,
        "nodeType": node.type,
        "label": node.label,
        "iterSeq": visit.iteration,
        "fromVisitUuid": source_uuid(visit),
        "fromNodeId": visit.source,
        "offCanvas": node.id == graph.off_canvas,
        "decision": dict(body.decision) if body is not None and body.decision is not None else None,
        "status": visit.status,
        "sortOrder": visit.sort_order,
        "startedAt": visit.started_at,
        "completedAt": visit.ended_at,
        "variables": dict(body.variables) if body is not None else {},
        "output": end.output,
        "error": end.error,
        "selectedBranch": metadata.get("selectedBranch"),
        "logs": [dict(entry) for entry in end.logs],
    }


def _runtime(run: Run, visits: int) -> dict[str, Any]:
    """The section that the engine itself keeps; no template and no mapping reaches it."""
    return {
        "startTime": run.started_at,
        "visitCount": visits,
        "workflow": run.workflow,
        "workflowVersion": run.version,
    }
