"""An event as the text that readers get, kept under the bounds of contract §4 whatever its run holds."""

from dataclasses import dataclass
from typing import Any

from stepweave.services.event_log import TERMINAL, Event
from stepweave.services.links import RunLinks
from stepweave.services.wire import EVENT_BYTES, OUTPUT_BYTES, encode, size

_KEPT_CHARACTERS = 250_000


@dataclass(frozen=True, slots=True)
class EventText:
    """Encoded once, for however many readers; `data` is the JSON object."""

    id: int
    type: str
    data: bytes

    @property
    def is_terminal(self) -> bool:
        return self.type in TERMINAL


def event_text(event: Event, links: RunLinks) -> EventText:
    """An output over 4 MiB, or one that makes the event too large to send, is null with an `outputUrl` beside it."""
    data = event.data
    text = encode(data)
    if len(text) > OUTPUT_BYTES and (len(text) > EVENT_BYTES or _output_bytes(data) > OUTPUT_BYTES):
        data = _without_output(data, links)
        text = encode(data)
    if len(text) > EVENT_BYTES:
        text = encode(_cut(data))
    return EventText(event.id, event.type, text)


def _output_bytes(data: dict[str, Any]) -> int:
    if data["type"] == "visit_recorded":
        return len((data["visit"]["outputJson"] or "").encode("utf-8", "surrogatepass"))
    return size(data.get("output"))


def _without_output(data: dict[str, Any], links: RunLinks) -> dict[str, Any]:
    match data["type"]:
        case "node_status" if data.get("output") is not None:
            return {**data, "output": None, "outputUrl": links.node_output(data["nodeId"], data["visitUuid"])}
        case "visit_recorded":
            visit = data["visit"]
            url = links.node_output(visit["nodeId"], visit["visitUuid"])
            return {**data, "visit": {**visit, "outputJson": None, "outputUrl": url}}
        case "workflow_complete":
            return {**data, "output": None, "outputUrl": links.output}
        case _:
            return data


def _cut(data: dict[str, Any]) -> dict[str, Any]:
    """What is left when even without its output an event is too large: `truncated` tells that something is missing,
    which the logs call, or the call for the node's output, has."""
    match data["type"]:
        case "node_status":
            return {**data, "error": _short(data.get("error")), "logs": [], "truncated": True}
        case "visit_recorded":
            cut = {"variablesJson": "{}", "logsJson": "[]", "decisionJson": None, "truncated": True}
            visit = data["visit"]
            return {**data, "visit": {**visit, **cut, "errorMsg": _short(visit["errorMsg"])}}
        case "node_stream":
            shown = {name: value for name, value in data.items() if name != "data"}
            return {**shown, "content": _short(data["content"]), "truncated": True}
        case _:
            return {**data, "workingDirFiles": [], "truncated": True}


def _short(text: str | None) -> str | None:
    return text[:_KEPT_CHARACTERS] if text is not None else None
