"""Entries of a node's log (contract §4): `{type, timestamp, message, detail}`."""

from datetime import datetime
from typing import Any, Literal

from stepweave import clock

LogType = Literal[
    "THINKING", "TOOL_CALL", "TOOL_RESULT", "TODO_UPDATE", "STATUS", "STEP", "CLARIFY", "INFO", "WARN", "ERROR"
]
LogEntry = dict[str, Any]


def entry(kind: LogType, moment: datetime | None, message: str, detail: str | None = None) -> LogEntry:
    """`moment` is None where a pure node logs: the time of the commit is filled in when the visit is stored."""
    return {"type": kind, "timestamp": clock.to_json(moment) if moment else None, "message": message, "detail": detail}
