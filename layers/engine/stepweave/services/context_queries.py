"""The queries of contract §6: how a run came here, what earlier nodes gave, and how they came to it."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import batched
from typing import Any

from stepweave.clock import Clock
from stepweave.errors import NotFound, Unavailable
from stepweave.execution.lineage import Lineage, VisitFact, agentic_lineage, dag_lineage
from stepweave.execution.run import Run
from stepweave.execution.visit import Join, Visit, VisitBody, VisitPlace
from stepweave.expressions.envelopes import data_of, read_field
from stepweave.expressions.paths import MISSING, search
from stepweave.graph.problem import cut, quoted
from stepweave.graph.topology import Graph
from stepweave.services.backoff import Backoff
from stepweave.services.context_cut import cut_fields, cut_value
from stepweave.services.context_index import VisitIndex
from stepweave.services.context_meta import LogKind, told_by
from stepweave.services.context_view import ContextView, RunView, VisitView, before, uuid_of
from stepweave.services.memory import RunMemory, left_by
from stepweave.store.runs import Runs
from stepweave.texts import Text

_UNSEEN_TRIES = 8
_NAMED_FIELDS = 50
_AT_ONCE = 20


class ContextQueries:
    """Every answer is a JSON object of the shapes of the seed. What a view does not show is `NotFound`, whether it is
    there or not; what a commit is still making visible is waited for, then `Unavailable`."""

    def __init__(self, runs: Runs, memory: RunMemory, index: VisitIndex, clock: Clock) -> None:
        self._runs = runs
        self._memory = memory
        self._index = index
        self._clock = clock

    def path(self, view: ContextView, visit_uuid: str) -> dict[str, Any]:
        """`{visitUuids, nodeIds, paths[{sequence, visitUuids, hasBacktrack}], backtrackEdgeKeys, truncated?}`."""
        visit = self._current(view, visit_uuid)
        facts = self._facts(view.run, view.graph, visit)
        if view.graph.mode == "AGENTIC":
            ended = sorted((fact for fact in facts.values() if fact.visit_uuid != visit_uuid), key=_order)
            return _lineage(agentic_lineage([*ended, facts[visit_uuid]]))
        return _lineage(dag_lineage(visit_uuid, facts))

    def output(self, view: ContextView, node_id: str, field: str | None, iteration: int | None) -> dict[str, Any]:
        """`{nodeId, iterSeq, visitUuid, status, message, data, requestedField, truncated?}`: all of `data`, or the value
        of one of its fields."""
        told, body = self._visit(view, node_id, iteration)
        envelope = body.output
        data = data_of(envelope)
        if field is None:
            value, is_cut = cut_fields(data)
        elif field in data:
            value, is_cut = cut_value(data[field])
        else:
            raise _no_field(node_id, field, data)
        message, shorter = cut_value(envelope.get("message"))
        answer = {"status": envelope.get("status"), "message": message, "data": value, "requestedField": field}
        return _shown(told, answer, is_cut=is_cut or shorter)

    def meta(self, view: ContextView, node_id: str, kind: LogKind, iteration: int | None) -> dict[str, Any]:
        """`{nodeId, iterSeq, visitUuid}` with `thinking`, `toolCalls`, `todoList`, `logs` as `kind` says."""
        told, body = self._visit(view, node_id, iteration)
        return told | told_by(body.logs, kind)

    def meta_of_visit(self, view: ContextView, visit_uuid: str, kind: LogKind) -> dict[str, Any]:
        """The same of one visit."""
        for node_id, iteration in view.visible():
            if uuid_of(view.run, node_id, iteration) == visit_uuid:
                return self.meta(view, node_id, kind, iteration)
        raise _no_visit(visit_uuid)

    def fields(self, view: ContextView) -> dict[str, Any]:
        """`{nodes: [{nodeId, label, iterSeq, visitUuid, status, data[], trace[], metadata[]}]}`: every node that can be
        seen, by its latest visit, with the names of what it left."""
        nodes: list[dict[str, Any]] = []
        for node_ids in batched(view.nodes(), _AT_ONCE):
            latest = {uuid_of(view.run, node_id, view.latest(node_id) or 1): node_id for node_id in node_ids}
            bodies = self._memory.bodies(view.run.run_id, list(latest))
            nodes += [
                _named(view, node_id, visit_uuid, bodies[visit_uuid].output)
                for visit_uuid, node_id in latest.items()
                if visit_uuid in bodies
            ]
        return {"nodes": nodes}

    def value(
        self, view: ContextView, node_id: str, field: str | None, path: str | None, iteration: int | None
    ) -> dict[str, Any]:
        """`{nodeId, iterSeq, visitUuid, value, truncated?}`: what a mapping with this `sourceField` (all of `data` where
        there is none) and this `sourcePath` (JMESPath) gives (contract §3)."""
        told, body = self._visit(view, node_id, iteration)
        value = read_field(body.output, field or "data")
        if value is not MISSING and path:
            value = search(value, path)
        if value is MISSING:
            raise _no_field(node_id, f"{field or 'data'}{f' | {path}' if path else ''}", data_of(body.output))
        shown, is_cut = cut_fields(value) if isinstance(value, dict) else cut_value(value)
        return _shown(told, {"value": shown}, is_cut=is_cut)

    # What the store knows

    def _current(self, view: ContextView, visit_uuid: str) -> Visit:
        """The visit that a path leads to: of a visit, its own; an outsider may ask for any."""
        match view:
            case VisitView(visit=visit) if visit.visit_uuid == visit_uuid:
                return visit
            case RunView(visits=visits):
                for visit in visits:
                    if visit.visit_uuid == visit_uuid and not visit.is_hidden and not visit.dead:
                        return visit
        raise _no_visit(visit_uuid)

    def _visit(self, view: ContextView, node_id: str, iteration: int | None) -> tuple[dict[str, Any], VisitBody]:
        latest = view.latest(node_id)
        if latest is None or (iteration is not None and not 1 <= iteration <= latest):
            raise _no_node(node_id, iteration)
        number = iteration or latest
        visit_uuid = uuid_of(view.run, node_id, number)
        body = left_by(self._memory, self._clock, view.run.run_id, visit_uuid, tries=_UNSEEN_TRIES)
        return {"nodeId": node_id, "iterSeq": number, "visitUuid": visit_uuid}, body

    def _facts(self, run: Run, graph: Graph, current: Visit) -> dict[str, VisitFact]:
        """A visit and all that lies before it."""
        earlier = [uuid_of(run, node_id, iteration) for node_id, iteration in before(graph, current)]
        facts = {
            visit_uuid: replace(fact, order=current.sort_order) if visit_uuid == current.visit_uuid else fact
            for visit_uuid, fact in self._index.recall(run, [*earlier, current.visit_uuid]).items()
            if fact.order is not None or visit_uuid == current.visit_uuid
        }
        backoff = Backoff(self._clock)
        for _ in range(_UNSEEN_TRIES):
            missing = [visit_uuid for visit_uuid in earlier if visit_uuid not in facts]
            if not missing and current.visit_uuid in facts:
                return facts
            ended = [place for place in self._runs.places(run, missing) if place.sort_order is not None]
            found = self._read_facts(run, graph, [*ended, VisitPlace.of(current)])
            self._index.remember(run, found.values())
            facts |= found
            if len(facts) <= len(earlier):
                backoff.wait()
        raise Unavailable(f"visits of run {run.run_id} cannot be seen yet")

    def _read_facts(self, run: Run, graph: Graph, visits: Sequence[VisitPlace]) -> dict[str, VisitFact]:
        """Visits with what leads to each, by `visitUuid`; without those whose join is still becoming visible."""
        joins: Mapping[str, Join] = {}
        if graph.mode == "DAG":
            meeting = [visit.node_id for visit in visits if len(graph.incoming(visit.node_id)) > 1]
            joins = self._runs.joins(run.run_id, meeting)
        facts: dict[str, VisitFact] = {}
        for visit in visits:
            sources = _sources(graph, visit, joins)
            if sources is not None:
                uuids = tuple(uuid_of(run, node_id, iteration) for node_id, iteration in sources)
                fact = VisitFact(visit.visit_uuid, visit.node_id, visit.iteration, visit.sort_order, uuids)
                facts[visit.visit_uuid] = fact
        return facts


def _sources(graph: Graph, visit: VisitPlace, joins: Mapping[str, Join]) -> list[tuple[str, int]] | None:
    """Where a visit was reached from, as node and iteration; where several edges meet, their join tells which of them
    are live, once it knows all of them."""
    if graph.mode == "AGENTIC":
        return [(visit.source, visit.source_iteration)] if visit.source is not None else []
    incoming = graph.incoming(visit.node_id)
    if visit.node_id not in joins:
        return [(edge.source, 1) for edge in incoming]
    known = joins[visit.node_id].known()
    if len(known) < len(incoming):
        return None
    return [(edge.source, 1) for edge in incoming if known[edge.index] is not None]


def _order(fact: VisitFact) -> int:
    return fact.order or 0


def _lineage(lineage: Lineage) -> dict[str, Any]:
    answer: dict[str, Any] = {
        "visitUuids": [visit.visit_uuid for visit in lineage.visits],
        "nodeIds": [visit.node_id for visit in lineage.visits],
        "paths": [
            {
                "sequence": [visit.node_id for visit in path.visits],
                "visitUuids": [visit.visit_uuid for visit in path.visits],
                "hasBacktrack": path.has_backtrack,
            }
            for path in lineage.paths
        ],
        "backtrackEdgeKeys": list(lineage.backtracks),
    }
    return _shown(answer, {}, is_cut=lineage.truncated)


def _named(view: ContextView, node_id: str, visit_uuid: str, envelope: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "nodeId": node_id,
        "label": view.graph.nodes[node_id].label,
        "iterSeq": view.latest(node_id),
        "visitUuid": visit_uuid,
        "status": envelope.get("status"),
        "data": _names(data_of(envelope)),
        "trace": _names(envelope.get("trace") or {}),
        "metadata": _names(envelope.get("metadata") or {}),
    }


def _names(values: Mapping[str, Any]) -> list[str]:
    return [cut(name) for name in list(values)[:_NAMED_FIELDS]]


def _shown(told: dict[str, Any], values: dict[str, Any], *, is_cut: bool) -> dict[str, Any]:
    return told | values | ({"truncated": True} if is_cut else {})


def _no_field(node_id: str, field: str, data: Mapping[str, Any]) -> NotFound:
    names = ", ".join(_names(data))
    there_are = Text(f"data 的字段有：{names}", f"the fields of data are: {names}") if names else _NO_FIELDS
    return NotFound(
        Text(
            f"节点 {quoted(node_id)} 的输出中没有 {quoted(field)}；{there_are.zh}",
            f"the output of node {quoted(node_id)} has no {quoted(field)}; {there_are.en}",
        )
    )


def _no_node(node_id: str, iteration: int | None) -> NotFound:
    zh, en = (f"的第 {iteration} 次访问", f"visit {iteration} of ") if iteration is not None else ("", "")
    return NotFound(
        Text(
            f"看不到节点 {quoted(node_id)}{zh}：它不存在，或不在当前访问之前",
            f"{en}node {quoted(node_id)} cannot be seen: it is not there, or does not lie before this visit",
        )
    )


def _no_visit(visit_uuid: str) -> NotFound:
    return NotFound(
        Text(
            f"看不到访问 {quoted(visit_uuid)}：它不存在，或不在当前访问之前",
            f"visit {quoted(visit_uuid)} cannot be seen: it is not there, or does not lie before this one",
        )
    )


_NO_FIELDS = Text("它的 data 是空的", "its data is empty")
