"""What goes over the wire between the engine and a bridge; docs/hermes-bridge.md tells it to those who build one."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator
from pydantic.alias_generators import to_camel

from stepweave.graph.json_value import copy_json
from stepweave.graph.problem import cut
from stepweave.graph.shape import describe, refuse, spell
from stepweave.texts import Language, Text

PROTOCOL: Final = 1
MOST_BYTES = 16 * 1024 * 1024
"""Of one event, and of the body of a request."""


class _Wire(BaseModel):
    """Names that are not known here are ignored, so that either side may be newer than the other."""

    model_config = ConfigDict(frozen=True, extra="ignore", alias_generator=to_camel, populate_by_name=True)

    def to_json(self) -> dict[str, Any]:
        return self.model_dump(mode="json", by_alias=True, exclude_none=True)


class Unreadable(ValueError):
    """What has come is not of the protocol; the message says why, in English."""


# The request


class OfferedTool(_Wire):
    """A tool of the engine; `parameters` is the JSON schema of its arguments."""

    name: str
    description: str = ""
    parameters: Mapping[str, Any]


class CallOutcome(_Wire):
    """What came of a call that the bridge has left to the engine: JSON, or in words what went wrong."""

    call_id: str
    name: str
    content: Any = None
    success: bool


class Usage(_Wire):
    """Tokens of all turns up to now, those of earlier requests included."""

    input_tokens: int = Field(0, ge=0)
    output_tokens: int = Field(0, ge=0)


class RunBody(_Wire):
    """The body of `POST /run`. `history` and `results` go on from a `calls` event; without a history the conversation
    begins with `system` and `prompt`. `tries` counts attempts of the node that failed before."""

    protocol: Literal[1] = PROTOCOL
    model: str
    prompt: str
    system: str = ""
    language: Language = "zh"
    temperature: float | None = None
    max_tokens: int | None = None
    max_steps: int = 20
    max_total_tokens: int | None = None
    tools: Sequence[OfferedTool] = ()
    history: Any = None
    results: Sequence[CallOutcome] = ()
    usage: Usage = Usage()
    tries: int = 0
    script: Any = None
    context_query: Mapping[str, Any] | None = Field(None, alias="context_query")


# The events of the answer


class Thinking(_Wire):
    content: str


class Status(_Wire):
    content: str


class Step(_Wire):
    iteration: int = Field(ge=1)


class ToolCall(_Wire):
    """A tool of the bridge's own is about to be called."""

    name: str
    arguments: Mapping[str, Any] | str = Field(default_factory=dict)


class ToolProgress(_Wire):
    name: str
    event_type: Literal["tool.started", "tool.completed", "tool.failed"] = Field(alias="event_type")


class ToolResult(_Wire):
    """Of the earliest `tool_call` of that name which has no result yet."""

    name: str
    content: Any = None
    success: bool = True


class Todo(_Wire):
    text: str
    status: str = "pending"


class TodoUpdate(_Wire):
    todos: Sequence[Todo]


class Turn(_Wire):
    """A turn is completed, its tools included, and the bridge goes on by itself: whoever repeats the request with this
    history repeats nothing of it."""

    history: Mapping[str, Any] | Sequence[Any] | str
    usage: Usage | None = None


class Result(_Wire):
    text: str
    usage: Usage | None = None
    cut_short: str | None = None


class Call(_Wire):
    """`arguments` are text where the model wrote no JSON object."""

    call_id: str
    name: str
    arguments: Mapping[str, Any] | str = Field(default_factory=dict)


class Calls(_Wire):
    """The model wants tools of the engine. Whoever sends this `history` back with the results goes on from here."""

    calls: Sequence[Call] = Field(min_length=1)
    history: Mapping[str, Any] | Sequence[Any] | str
    usage: Usage | None = None

    @field_validator("calls")
    @classmethod
    def _told_apart(cls, calls: Sequence[Call]) -> Sequence[Call]:
        if len({call.call_id for call in calls}) < len(calls):
            raise refuse(Text("有两个调用的 callId 相同", "has two calls with one callId"))
        return calls


class Failure(_Wire):
    message: str
    retryable: bool = False


Terminal = Result | Calls | Failure
Event = Thinking | Status | Step | ToolCall | ToolProgress | ToolResult | TodoUpdate | Turn | Terminal

EVENTS: Mapping[str, type[Event]] = {
    "thinking": Thinking,
    "status": Status,
    "step": Step,
    "tool_call": ToolCall,
    "tool_progress": ToolProgress,
    "tool_result": ToolResult,
    "todo_update": TodoUpdate,
    "turn": Turn,
    "result": Result,
    "calls": Calls,
    "failure": Failure,
}
_NAMES = {kind: name for name, kind in EVENTS.items()}


def read_event(name: str, data: str) -> Event | None:
    """None for an event that is not known here. Raises `Unreadable`."""
    kind = EVENTS.get(name)
    return None if kind is None else _read(kind, data, f"event {name}")


def read_body(content: bytes) -> RunBody:
    """Raises `Unreadable`."""
    return _read(RunBody, content, "the body")


def write_event(event: Event) -> bytes:
    sound, _ = copy_json(event.to_json())
    return b"event: %b\ndata: %b\n\n" % (_NAMES[type(event)].encode(), json.dumps(sound).encode())


def write_body(body: RunBody) -> bytes:
    return json.dumps(body.to_json()).encode()


def _read[M: BaseModel](kind: type[M], content: str | bytes, what: str) -> M:
    try:
        sound, faults = copy_json(json.loads(content))
    except (ValueError, RecursionError) as error:
        raise Unreadable(f"{what} is no JSON") from error
    if faults:
        raise Unreadable(f"{what} is no JSON that can be stored: {faults[0].text.en}")
    try:
        return kind.model_validate(sound)
    except ValidationError as error:
        fault = error.errors(include_url=False, include_input=False)[0]
    raise Unreadable(f"{what} does not fit: {cut(spell(fault['loc']))} {describe(fault).en}")
