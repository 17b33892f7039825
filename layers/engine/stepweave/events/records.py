"""Events as the log stores them: small, because what a visit left behind is referred to, not copied.

A record is the event's JSON (contract §5) without `runId`; `fill` names what a reader adds from the visit's body.
"""

from collections.abc import Mapping
from typing import Any

from stepweave.execution.visit import Visit
from stepweave.graph.model import Node

Record = dict[str, Any]


def node_running(visit: Visit, node: Node) -> Record:
    return {
        "type": "node_status",
        "nodeId": visit.node_id,
        "visitUuid": visit.visit_uuid,
        "status": "RUNNING",
        "nodeType": node.type,
        "nodeLabel": node.label,
    }


def node_ended(visit: Visit, node: Node) -> Record:
    """For a node on a dead path this is the first its reader hears of it, so it brings type and label."""
    record: Record = {
        "type": "node_status",
        "nodeId": visit.node_id,
        "visitUuid": visit.visit_uuid,
        "status": visit.status,
        "output": None,
        "error": None,
        "logs": [],
        "contextSnapshot": None,
    }
    if visit.dead:
        return record | {"nodeType": node.type, "nodeLabel": node.label}
    return record | {"fill": "status"}


def visit_recorded(visit: Visit, node: Node, source_uuid: str | None, *, off_canvas: bool = False) -> Record:
    recorded: Record = {
        "visitUuid": visit.visit_uuid,
        "nodeId": visit.node_id,
        "nodeType": node.type,
        "nodeLabel": node.label,
        "iterSeq": visit.iteration,
        "fromVisitUuid": source_uuid,
        "fromNodeId": visit.source,
        "variablesJson": "{}",
        "outputJson": None,
        "logsJson": "[]",
        "decisionJson": None,
        "status": visit.status,
        "errorMsg": None,
        "sortOrder": visit.sort_order,
        "offCanvas": off_canvas,
    }
    record: Record = {"type": "visit_recorded", "visit": recorded}
    return record if visit.dead else record | {"fill": "visit"}


def node_stream(visit: Visit, kind: str, content: str, tool_name: str | None = None, data: Any = None) -> Record:
    record: Record = {
        "type": "node_stream",
        "nodeId": visit.node_id,
        "visitUuid": visit.visit_uuid,
        "kind": kind,
        "content": content,
        "toolName": tool_name,
    }
    return record if data is None else record | {"data": data}


def planner_decision(decided: Mapping[str, Any]) -> Record:
    return {"type": "planner_decision", "decision": shown_decision(decided)}


def shown_decision(decided: Mapping[str, Any]) -> dict[str, Any]:
    """A script that plays an instruction is no part of the decision that people see."""
    return {name: value for name, value in decided.items() if name != "script"}


def workflow_complete(files: list[str]) -> Record:
    return {"type": "workflow_complete", "success": True, "output": None, "workingDirFiles": files, "fill": "run"}


def workflow_error(error: str, failed_node: str | None, completed_at: str) -> Record:
    return {
        "type": "workflow_error",
        "success": False,
        "error": error,
        "failedNodeId": failed_node,
        "completedAt": completed_at,
    }


def visit_of(record: Mapping[str, Any]) -> str | None:
    """The visit whose body a reader must fill in, if any."""
    match record.get("fill"):
        case "status":
            return str(record["visitUuid"])
        case "visit":
            return str(record["visit"]["visitUuid"])
        case _:
            return None
