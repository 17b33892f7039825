"""The small items of a run and the values they stand for. Every persisted shape carries its version, `v`."""

from typing import Any

from stepweave.execution.run import Run
from stepweave.execution.visit import Join, PendingEdges, SavedState, Visit, VisitBody, VisitPlace
from stepweave.items import Item, Key

SHAPE = 1
HEAD = "HEAD#"
BODY = "BODY#"
STATE = "STATE#"
RUN = "RUN"
INPUTS = "INPUTS"

OPEN = "1"
"""The partition of the sparse index of runs that may need upkeep."""

EXPIRING = "files"
"""The partition of those of which nothing is left to do but to delete their files, in time."""

FORGOTTEN = "records"
"""The partition of those whose files are gone: in time, all that is stored of them goes too."""


def run_key(run_id: str) -> Key:
    return Key("runs", run_id, RUN)


def inputs_key(run_id: str) -> Key:
    return Key("runs", run_id, INPUTS)


def join_key(run_id: str, name: str) -> Key:
    return Key("runs", run_id, f"JOIN#{name}")


def head_key(run_id: str, visit_uuid: str) -> Key:
    return Key("visits", run_id, HEAD + visit_uuid)


def body_key(run_id: str, visit_uuid: str) -> Key:
    return Key("visits", run_id, BODY + visit_uuid)


def state_key(run_id: str, visit_uuid: str) -> Key:
    return Key("visits", run_id, STATE + visit_uuid)


def run_to_item(run: Run) -> Item:
    return _sparse(
        {
            "runId": run.run_id,
            "sk": RUN,
            "v": SHAPE,
            "workflow": run.workflow,
            "workflowId": run.workflow_id,
            "version": run.version,
            "status": run.status,
            "createdAt": run.created_at,
            "month": run.created_at[:7],
            "rev": run.rev,
            "lastSeq": run.last_seq,
            "lastSort": run.last_sort,
            "nVisits": run.visits,
            "running": run.running,
            "closing": run.closing,
            "redrives": run.redrives,
            "stalled": run.stalled,
            "redrivenRev": run.redriven_rev,
            "failStrategy": run.fail_strategy,
            "language": run.language,
            "startedAt": run.started_at,
            "endedAt": run.ended_at,
            "ttlMinutes": round(run.ttl_hours * 60) if run.ttl_hours is not None else None,
            "error": run.error,
            "failedNode": run.failed_node,
            "callsBack": run.calls_back or None,
        }
    )


def run_from_item(item: Item) -> Run:
    return Run(
        run_id=item["runId"],
        workflow=item["workflow"],
        workflow_id=item["workflowId"],
        version=item["version"],
        status=item["status"],
        created_at=item["createdAt"],
        rev=item["rev"],
        last_seq=item["lastSeq"],
        last_sort=item["lastSort"],
        visits=item["nVisits"],
        running=item["running"],
        closing=item["closing"],
        redrives=item["redrives"],
        stalled=item["stalled"],
        redriven_rev=item["redrivenRev"],
        fail_strategy=item.get("failStrategy"),
        language=item["language"],
        started_at=item.get("startedAt"),
        ended_at=item.get("endedAt"),
        ttl_hours=item["ttlMinutes"] / 60 if "ttlMinutes" in item else None,
        error=item.get("error"),
        failed_node=item.get("failedNode"),
        calls_back=item.get("callsBack", False),
    )


def visit_to_item(visit: Visit) -> Item:
    return _sparse(
        {
            "runId": visit.run_id,
            "sk": HEAD + visit.visit_uuid,
            "v": SHAPE,
            "nodeId": visit.node_id,
            "iterSeq": visit.iteration,
            "status": visit.status,
            "owner": visit.owner,
            "attempt": visit.attempt,
            "chunk": visit.chunk,
            "tries": visit.tries,
            "reach": f"{visit.reach:x}",
            "source": visit.source,
            "sourceIter": visit.source_iteration if visit.source_iteration > 1 else None,
            "ledger": [list(each) for each in visit.ledger] or None,
            "dead": visit.dead or None,
            "outs": list(visit.outs),
            "pending": pending_to_json(visit.pending) if visit.pending else None,
            "waiting": visit.waiting,
            "saved": visit.saved or None,
            "sortOrder": visit.sort_order,
            "startedAt": visit.started_at,
            "ownedAt": visit.owned_at,
            "endedAt": visit.ended_at,
        }
    )


OF_PLACES = ("nodeId", "iterSeq", "sortOrder", "source", "sourceIter")


def place_from_item(item: Item) -> VisitPlace:
    return VisitPlace(
        visit_uuid=item["sk"].removeprefix(HEAD),
        node_id=item["nodeId"],
        iteration=item["iterSeq"],
        sort_order=item.get("sortOrder"),
        source=item.get("source"),
        source_iteration=item.get("sourceIter", 1),
    )


def visit_from_item(item: Item) -> Visit:
    return Visit(
        run_id=item["runId"],
        visit_uuid=item["sk"].removeprefix(HEAD),
        node_id=item["nodeId"],
        iteration=item["iterSeq"],
        status=item["status"],
        owner=item["owner"],
        attempt=item["attempt"],
        chunk=item["chunk"],
        tries=item["tries"],
        reach=int(item["reach"], 16),
        source=item.get("source"),
        source_iteration=item.get("sourceIter", 1),
        ledger=tuple((position, count) for position, count in item.get("ledger", [])),
        dead=item.get("dead", False),
        outs=tuple(item["outs"]),
        pending=tuple(
            PendingEdges(each["node"], each.get("branch"), _mask(each["reach"]), tuple(each["edges"]))
            for each in item.get("pending", [])
        ),
        waiting=item.get("waiting"),
        saved=item.get("saved", 0),
        sort_order=item.get("sortOrder"),
        started_at=item.get("startedAt"),
        owned_at=item.get("ownedAt"),
        ended_at=item.get("endedAt"),
    )


def pending_to_json(pending: tuple[PendingEdges, ...]) -> list[dict[str, Any]]:
    return [
        _sparse({"node": each.node_id, "branch": each.branch, "reach": _hex(each.reach), "edges": list(each.edges)})
        for each in pending
    ]


def join_to_item(run_id: str, name: str, join: Join) -> Item:
    edges = {str(index): _hex(reach) for index, reach in join.known().items()}
    return {"runId": run_id, "sk": f"JOIN#{name}", "v": SHAPE, "ver": join.version, "edges": edges}


def join_from_item(item: Item | None) -> Join:
    if item is None:
        return Join()
    return Join(item["ver"], {int(index): _mask(reach) for index, reach in item["edges"].items()})


def body_to_json(body: VisitBody) -> dict[str, Any]:
    return {
        "v": SHAPE,
        "variables": dict(body.variables),
        "output": dict(body.output),
        "logs": [dict(each) for each in body.logs],
        "error": body.error,
        "decision": dict(body.decision) if body.decision is not None else None,
    }


def body_from_json(value: dict[str, Any]) -> VisitBody:
    return VisitBody(value["variables"], value["output"], tuple(value["logs"]), value["error"], value["decision"])


def state_to_json(saved: SavedState) -> dict[str, Any]:
    return {"v": SHAPE, "state": dict(saved.state), "answers": dict(saved.answers), "asking": saved.asking}


def state_from_json(value: dict[str, Any]) -> SavedState:
    return SavedState(value["state"], value["answers"], value["asking"])


def _hex(reach: int | None) -> str:
    return "" if reach is None else f"{reach:x}"


def _mask(text: str) -> int | None:
    return int(text, 16) if text else None


def _sparse(item: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in item.items() if value is not None}
