"""What the log of a visit tells a model of how it went (contract §6, `meta`)."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from stepweave.services.context_cut import cut_list, cut_value

LogKind = Literal["THINKING", "TOOL_CALLS", "TODO", "ALL"]

Log = Sequence[Mapping[str, Any]]


def told_by(logs: Log, kind: LogKind) -> dict[str, Any]:
    """`thinking`, `toolCalls`, `todoList`: the one that `kind` names, or all of them and the `logs` themselves; with
    `truncated` where something was too long."""
    told: dict[str, Any] = {}
    is_cut = []
    if kind in ("THINKING", "ALL"):
        told["thinking"], shorter = cut_value(_thinking(logs))
        is_cut.append(shorter)
    if kind in ("TOOL_CALLS", "ALL"):
        told["toolCalls"], shorter = cut_list(_tool_calls(logs))
        is_cut.append(shorter)
    if kind in ("TODO", "ALL"):
        told["todoList"], shorter = cut_list(_last_todo(logs))
        is_cut.append(shorter)
    if kind == "ALL":
        told["logs"], shorter = cut_list([_entry(each) for each in logs])
        is_cut.append(shorter)
    return told | ({"truncated": True} if any(is_cut) else {})


def _thinking(logs: Log) -> str:
    """One line, or stretch of lines, for each unbroken stretch of thinking."""
    return "\n".join(str(each["message"]) for each in logs if each["type"] == "THINKING")


def _tool_calls(logs: Log) -> list[dict[str, Any]]:
    """Calls and results as two kinds of entries, in the order in which they happened."""
    names = {"TOOL_CALL": "args", "TOOL_RESULT": "result"}
    return [
        {"tool": each["message"], names[each["type"]]: each.get("detail")} for each in logs if each["type"] in names
    ]


def _last_todo(logs: Log) -> list[Any]:
    for each in reversed(logs):
        if each["type"] == "TODO_UPDATE":
            rows = json.loads(each.get("detail") or "[]")
            return rows if isinstance(rows, list) else []
    return []


def _entry(each: Mapping[str, Any]) -> dict[str, Any]:
    return {name: each.get(name) for name in ("type", "timestamp", "message", "detail")}
