"""What came of each node of a run, as the API tells it (contract §4, `nodes[]`), in an answer of bounded size."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import batched
from typing import Any

from stepweave.execution.envelope import Envelope, failure, outside
from stepweave.execution.run import CANCELLED, Run
from stepweave.execution.visit import Visit, VisitBody
from stepweave.graph.topology import Graph
from stepweave.services.links import RunLinks
from stepweave.services.memory import RunMemory
from stepweave.services.wire import NODE_OUTPUT_BYTES, size
from stepweave.texts import Text

_AT_ONCE = 25
_ERROR_CHARACTERS = 2_000
_STOPPED = Text("运行已结束，节点被中止", "the run had ended, the node was stopped")


@dataclass(frozen=True, slots=True)
class VisitEnd:
    """What a visit gave, for outside; `output` and `error` are None while it runs, or for a node on a dead path."""

    output: Envelope | None
    error: str | None
    logs: Sequence[Any]


def visit_end(run: Run, visit: Visit, body: VisitBody | None) -> VisitEnd:
    """A visit that its run's end cut short has no end of its own: it tells that it was stopped (contract §5)."""
    logs = body.logs if body is not None else ()
    if visit.status == "RUNNING":
        return VisitEnd(None, None, logs)
    if visit.sort_order is None:
        error = CANCELLED if run.error == CANCELLED else _STOPPED.to(run.language)
        return VisitEnd(failure(error), error, logs)
    if body is None:
        return VisitEnd(None, None, logs)
    return VisitEnd(outside(body.output), body.error, logs)


def visits_of(visits: Sequence[Visit]) -> dict[str, list[Visit]]:
    """Visits by node, each node's in their order; without the engine's own."""
    grouped: dict[str, list[Visit]] = defaultdict(list)
    for visit in sorted(visits, key=lambda visit: visit.iteration):
        if not visit.is_hidden:
            grouped[visit.node_id].append(visit)
    return grouped


def node_results(
    run: Run, graph: Graph, visits: Sequence[Visit], memory: RunMemory, room: int
) -> tuple[list[dict[str, Any]], int]:
    """The nodes that were visited, in the order of `graphData`, and how many had no place in `room` bytes.

    An output over 256 KiB, or one for which no room is left, is null with an `outputUrl` beside it.
    """
    grouped = visits_of(visits)
    links = RunLinks.of(run)
    shown: list[dict[str, Any]] = []
    outputs: list[tuple[dict[str, Any], Envelope, str]] = []
    kept = 0
    for node_id, ends in _ends(run, graph, grouped, memory):
        last = grouped[node_id][-1]
        entry = _node(graph, links, grouped[node_id], ends)
        room -= size(entry) + len(links.node_output(node_id, last.visit_uuid)) + 32
        if room < 0:
            return shown, len(grouped) - len(shown)
        shown.append(entry)
        output = ends[-1].output
        weight = size(output)
        if output is not None and weight <= NODE_OUTPUT_BYTES and kept + weight <= room:
            kept += weight
            outputs.append((entry, output, last.visit_uuid))
        elif output is not None:
            entry["outputUrl"] = links.node_output(node_id, last.visit_uuid)
    _place(outputs, links, room)
    return shown, 0


def _place(outputs: list[tuple[dict[str, Any], Envelope, str]], links: RunLinks, room: int) -> None:
    """Puts outputs where they belong while there is room; what nodes further on took is known only now."""
    for entry, output, visit_uuid in outputs:
        room -= size(output)
        if room >= 0:
            entry["output"] = output
        else:
            entry["outputUrl"] = links.node_output(entry["nodeId"], visit_uuid)


def _ends(
    run: Run, graph: Graph, grouped: dict[str, list[Visit]], memory: RunMemory
) -> Iterator[tuple[str, list[VisitEnd]]]:
    """A few nodes' bodies at a time: together they may be larger than the process."""
    visited = [node_id for node_id in graph.order if node_id in grouped]
    for node_ids in batched(visited, _AT_ONCE):
        uuids = [visit.visit_uuid for node_id in node_ids for visit in grouped[node_id]]
        bodies = memory.bodies(run.run_id, uuids)
        for node_id in node_ids:
            yield node_id, [visit_end(run, visit, bodies.get(visit.visit_uuid)) for visit in grouped[node_id]]


def _node(graph: Graph, links: RunLinks, visits: list[Visit], ends: list[VisitEnd]) -> dict[str, Any]:
    last, end = visits[-1], ends[-1]
    node = graph.nodes[last.node_id]
    return {
        "nodeId": node.id,
        "nodeType": node.type,
        "label": node.label,
        "status": last.status,
        "startedAt": last.started_at,
        "completedAt": last.ended_at,
        "output": None,
        "error": _short(end.error),
        "logsCount": sum(len(each.logs) for each in ends),
        "logsUrl": links.logs(node.id),
        "visits": [_visit(visit, each) for visit, each in zip(visits, ends, strict=True)],
    }


def _visit(visit: Visit, end: VisitEnd) -> dict[str, Any]:
    return {
        "visitUuid": visit.visit_uuid,
        "iterSeq": visit.iteration,
        "sortOrder": visit.sort_order,
        "fromNodeId": visit.source,
        "status": visit.status,
        "startedAt": visit.started_at,
        "completedAt": visit.ended_at,
        "error": _short(end.error),
    }


def _short(error: str | None) -> str | None:
    return error[:_ERROR_CHARACTERS] if error is not None else None
