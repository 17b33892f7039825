"""What is known of a run that is watched, visit by visit, out of its events (contract §5)."""

import json
from dataclasses import dataclass, field
from typing import Any

from stepweave_local.events import Event
from stepweave_local.questions import Question

_TAIL = 4_000
RUNNING = "RUNNING"


@dataclass(slots=True)
class ToolCall:
    name: str
    arguments: str
    result: str | None = None


@dataclass(slots=True)
class Visit:
    """One execution of a node. `began` and `seconds` are measured here, as the events came."""

    uuid: str
    node_id: str
    label: str = ""
    type: str = ""
    number: int = 1
    status: str = RUNNING
    began: float = 0.0
    seconds: float = 0.0
    thinking: str = ""
    """The end of what the model has said so far."""
    live: str = ""
    turn: int = 0
    tools: list[ToolCall] = field(default_factory=list)
    todos: list[dict[str, Any]] = field(default_factory=list)
    question: Question | None = None
    error: str = ""
    output: dict[str, Any] = field(default_factory=dict)

    @property
    def title(self) -> str:
        return self._numbered(self.label or self.node_id)

    @property
    def name(self) -> str:
        """The node's id; of a further visit with its number."""
        return self._numbered(self.node_id)

    def _numbered(self, name: str) -> str:
        return name if self.number == 1 else f"{name} ({self.number})"

    @property
    def metadata(self) -> dict[str, Any]:
        found = self.output.get("metadata")
        return found if isinstance(found, dict) else {}

    @property
    def duration(self) -> float:
        """Seconds; what the engine measured where it did, else what was seen here."""
        measured = self.metadata.get("durationMs")
        return measured / 1000 if isinstance(measured, int | float) else self.seconds


@dataclass(slots=True)
class Board:
    """`apply` takes the events in their order; `end` is the terminal event once it has come."""

    visits: dict[str, Visit] = field(default_factory=dict)
    end: Event | None = None

    @property
    def running(self) -> list[Visit]:
        return [visit for visit in self.visits.values() if visit.status == RUNNING]

    @property
    def questions(self) -> list[Visit]:
        """The visits that wait for a person, in the order in which they asked."""
        return [visit for visit in self.running if visit.question is not None]

    def apply(self, event: Event, now: float) -> Visit | None:
        """The visit that the event changed."""
        match event.type:
            case "node_status":
                return self._status(event.data, now)
            case "node_stream":
                visit = self._visit(event.data, now)
                _stream(visit, event.data)
                return visit
            case "visit_recorded":
                recorded = event.data.get("visit") or {}
                visit = self._visit(recorded, now)
                visit.number = recorded.get("iterSeq") or visit.number
                return visit
            case "workflow_complete" | "workflow_error":
                self.end = event
        return None

    def _visit(self, data: dict[str, Any], now: float) -> Visit:
        uuid, node_id = str(data.get("visitUuid")), str(data.get("nodeId"))
        if uuid not in self.visits:
            earlier = sum(visit.node_id == node_id for visit in self.visits.values())
            self.visits[uuid] = Visit(uuid, node_id, number=earlier + 1, began=now)
        return self.visits[uuid]

    def _status(self, data: dict[str, Any], now: float) -> Visit:
        visit = self._visit(data, now)
        visit.label = str(data.get("nodeLabel") or visit.label)
        visit.type = str(data.get("nodeType") or visit.type)
        visit.status = str(data.get("status"))
        if visit.status != RUNNING:
            visit.seconds = now - visit.began
            visit.output = data.get("output") or {}
            visit.error = str(data.get("error") or "")
            visit.question = None
        return visit


def _stream(visit: Visit, data: dict[str, Any]) -> None:
    content = str(data.get("content") or "")
    match data.get("kind"):
        case "thinking":
            visit.thinking = (visit.thinking + content)[-_TAIL:]
        case "status":
            visit.live = content
        case "step":
            visit.turn = int(_parsed(data).get("iteration") or 0)
        case "tool_call":
            visit.tools.append(ToolCall(str(data.get("toolName")), content))
        case "tool_result":
            _close(visit, str(data.get("toolName")), content)
        case "todo_update":
            todos = data.get("data") if isinstance(data.get("data"), list) else _load(content)
            visit.todos = [todo for todo in todos if isinstance(todo, dict)] if isinstance(todos, list) else []
        case "clarify_request":
            visit.question = Question.read(visit.node_id, _parsed(data))


def _close(visit: Visit, name: str, result: str) -> None:
    """Events carry no id of the call: a result belongs to the earliest open call of its name (seed §13.1)."""
    if name == "clarify":
        visit.question = None
    for tool in visit.tools:
        if tool.name == name and tool.result is None:
            tool.result = result
            return


def _parsed(data: dict[str, Any]) -> dict[str, Any]:
    parsed = data.get("data") if isinstance(data.get("data"), dict) else _load(str(data.get("content") or ""))
    return parsed if isinstance(parsed, dict) else {}


def _load(content: str) -> Any:
    try:
        return json.loads(content)
    except ValueError:
        return None
