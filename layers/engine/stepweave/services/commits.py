"""From decisions to commits: which visits are made, which events tell it, in which order (protocol rules C and E)."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from stepweave import ids
from stepweave.events import records
from stepweave.events.records import Record
from stepweave.execution.outcome import Outcome
from stepweave.execution.run import Run
from stepweave.execution.visit import PLANNER, Visit, VisitBody
from stepweave.graph.topology import Graph
from stepweave.scheduling.decision import Decision, Ended, RunEnd, Started
from stepweave.store import heads
from stepweave.store.commit import Commit
from stepweave.store.documents import Document
from stepweave.store.runs import Runs
from stepweave.texts import Text

_ERROR_CHARACTERS = 2_000


@dataclass(frozen=True, slots=True)
class OwnEnd:
    """What the visit that decides has itself left behind; packed once, however often the commit is tried."""

    body: VisitBody
    packed: Document


def compose(
    runs: Runs,
    graph: Graph,
    *,
    run: Run,
    visit: Visit,
    decision: Decision,
    own: OwnEnd | None,
    deltas: tuple[Record, ...],
    moment: str,
    check_at: str,
    files: list[str],
) -> Commit:
    """The commit that carries a decision out. `deltas` are stream events that the visit's end brings along,
    `check_at` is when upkeep looks at the run next if this ends it well."""
    events: list[Record] = list(deltas) if decision.status is not None else []
    bodies: dict[str, Document] = {}
    created: list[Visit] = []
    sort = run.last_sort
    changes: dict[str, Any] = {}
    if decision.status is not None:
        changes |= {"status": decision.status, "endedAt": moment}
    if decision.status is not None and own is not None:
        bodies[visit.visit_uuid] = own.packed
        if not visit.is_hidden:
            sort += 1
            changes["sortOrder"] = sort
            events += _told(graph, replace(visit, status=decision.status, sort_order=sort))
        elif own.body.decision is not None:
            events.append(records.planner_decision(own.body.decision))
    for ended in decision.ended:
        sort += 1
        rider = _ended_visit(visit, ended, sort, moment)
        created.append(rider)
        if ended.outcome is not None:
            events.append(records.node_running(rider, graph.nodes[rider.node_id]))
            body = rider_body(ended, moment)
            bodies[rider.visit_uuid] = runs.pack_body(run.run_id, rider.visit_uuid, 0, body)
        events += _told(graph, rider)
    for started in decision.started:
        fresh = _started_visit(visit, started, moment)
        created.append(fresh)
        if not fresh.is_hidden:
            events.append(records.node_running(fresh, graph.nodes[fresh.node_id]))
    end = told_end(decision.end, run) if decision.end is not None else None
    if end is not None:
        events.append(_terminal(end, moment, files))
    changes["outs"] = [*visit.outs, *(_uuid(run.run_id, started) for started in decision.started)]
    if decision.pending:
        changes["pending"] = heads.pending_to_json(decision.pending)
    return Commit(
        run=run,
        events=tuple(events),
        visit=visit,
        changes=changes,
        removed=() if decision.pending else ("pending",),
        bodies=bodies,
        created=tuple(created),
        joins=decision.joins,
        sorts=sort - run.last_sort,
        running=len(decision.started) - (decision.status is not None),
        end=end,
        ended_at=moment if end is not None else None,
        check_at=check_at,
    )


def body_of(outcome: Outcome, moment: str, decided: Mapping[str, Any] | None = None) -> VisitBody:
    """What is stored of an outcome; log entries of pure nodes take the time of the commit. `decided` is the decision
    that the visit follows from; the planner's own visit has its own."""
    logs = tuple(each if each.get("timestamp") is not None else {**each, "timestamp": moment} for each in outcome.logs)
    if decided is not None:
        decided = records.shown_decision(decided)
    return VisitBody(outcome.variables, outcome.envelope, logs, outcome.error, outcome.decision or decided)


def rider_body(ended: Ended, moment: str) -> VisitBody:
    assert ended.outcome is not None, "a node on a dead path leaves nothing behind"
    return body_of(ended.outcome, moment, ended.decided)


def told_end(end: RunEnd, run: Run) -> RunEnd:
    """A failed run names its node (contract §4: `节点 {nodeId} 执行失败：{reason}`)."""
    if end.failed_node is None or end.reason is None:
        return end
    if end.failed_node == PLANNER:
        sentence = Text(f"规划器执行失败：{end.reason}", f"the planner failed: {end.reason}")
        return replace(end, failed_node=None, reason=sentence.to(run.language)[:_ERROR_CHARACTERS])
    sentence = Text(f"节点 {end.failed_node} 执行失败：{end.reason}", f"node {end.failed_node} failed: {end.reason}")
    return replace(end, reason=sentence.to(run.language)[:_ERROR_CHARACTERS])


def _told(graph: Graph, visit: Visit) -> list[Record]:
    node = graph.nodes[visit.node_id]
    off_canvas = node.id == graph.off_canvas
    return [
        records.node_ended(visit, node),
        records.visit_recorded(visit, node, source_uuid(visit), off_canvas=off_canvas),
    ]


def source_uuid(visit: Visit) -> str | None:
    """The visit that a visit comes from."""
    if visit.source is None:
        return None
    return ids.visit_uuid(visit.run_id, visit.source, visit.source_iteration)


def _uuid(run_id: str, visited: Ended | Started) -> str:
    return ids.visit_uuid(run_id, visited.node_id, visited.place.iteration)


def _ended_visit(by: Visit, ended: Ended, sort: int, moment: str) -> Visit:
    return Visit(
        run_id=by.run_id,
        visit_uuid=_uuid(by.run_id, ended),
        node_id=ended.node_id,
        iteration=ended.place.iteration,
        status=ended.status,
        owner=by.owner,
        reach=ended.reach,
        source=ended.source,
        source_iteration=ended.place.source_iteration,
        ledger=ended.place.ledger,
        dead=ended.dead,
        sort_order=sort,
        started_at=moment,
        ended_at=moment,
    )


def _started_visit(by: Visit, started: Started, moment: str) -> Visit:
    visit_uuid = _uuid(by.run_id, started)
    return Visit(
        run_id=by.run_id,
        visit_uuid=visit_uuid,
        node_id=started.node_id,
        iteration=started.place.iteration,
        status="RUNNING",
        owner=ids.forked_chain(by.run_id, visit_uuid) if started.forked else by.owner,
        reach=started.reach,
        source=started.source,
        source_iteration=started.place.source_iteration,
        ledger=started.place.ledger,
        started_at=moment,
        owned_at=moment,
    )


def _terminal(end: RunEnd, moment: str, files: list[str]) -> Record:
    if end.status == "SUCCESS":
        return records.workflow_complete(files)
    return records.workflow_error(end.reason or "", end.failed_node, moment)
