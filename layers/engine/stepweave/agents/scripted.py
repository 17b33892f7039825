"""The scripted model: a model of the agent library that plays a script (contract §8).

It takes the same road as a real provider — same loop, tools, streaming, usage — only what it says is written down.
"""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import KW_ONLY, dataclass, field
from datetime import UTC, datetime
from typing import Any, override

from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelRequestPart,
    ModelResponse,
    ModelResponseStreamEvent,
    SystemPromptPart,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models import Model, ModelRequestParameters, StreamedResponse
from pydantic_ai.settings import ModelSettings
from pydantic_ai.tools import RunContext
from pydantic_ai.usage import RequestUsage

from stepweave.agents.request import ModelRefused
from stepweave.agents.script import Play, Step, fill
from stepweave.texts import Text

CLARIFY = "clarify"
TODO = "todo"

_LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)


def tokens(characters: int) -> int:
    """1 token for every 4 characters, rounded up."""
    return -(-characters // 4)


class ScriptedModel(Model[Any]):
    """Plays one turn for each request; which one is next is told by the responses in the message history.

    So an agent that was stopped and goes on in another process goes on at the right turn.
    """

    def __init__(self, play: Play) -> None:
        super().__init__()
        self._play = play

    @property
    def provider(self) -> None:
        return None

    @property
    def model_name(self) -> str:
        return "inline"

    @property
    def system(self) -> str:
        return "scripted"

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        async with self.request_stream(messages, model_settings, model_request_parameters) as response:
            async for _ in response:
                pass
            return response.get()

    @override
    @asynccontextmanager
    async def request_stream(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
        run_context: RunContext[Any] | None = None,
    ) -> AsyncGenerator[StreamedResponse]:
        turn = sum(isinstance(message, ModelResponse) for message in messages)
        steps = self._play.turn(turn)
        if steps is None:
            length, asked = len(self._play.script), self._play.first + turn + 1
            raise ModelRefused(
                Text(
                    f"脚本已经用完：这是第 {asked} 次请求模型，而脚本只有 {length} 轮",
                    f"the script has run out: this is request {asked} to the model, "
                    f"and the script has {length} turn{'' if length == 1 else 's'}",
                )
            )
        words = {"prompt": self._play.prompt, "system": self._play.system, **_heard(messages)}
        yield PlayedResponse(
            model_request_parameters,
            turn=turn,
            steps=[(place, step if "error" in step else fill(step, words)) for place, step in steps],
            read=len(self._play.system) + sum(map(_characters, messages)),
        )


@dataclass
class PlayedResponse(StreamedResponse):
    """One turn as a stream: every thinking or text step is one delta, and the usage comes at its end, as from a provider:
    a turn that fails on the way has cost nothing.

    `read` counts the characters of the request, which the usage of the input is made from.
    """

    _: KW_ONLY
    turn: int
    steps: Sequence[tuple[int, Step]]
    read: int
    written: int = field(default=0, init=False)

    async def _get_event_iterator(self) -> AsyncIterator[ModelResponseStreamEvent]:
        for place, step in self.steps:
            match step:
                case {"delayMs": delay}:
                    await asyncio.sleep(delay / 1000)
                case {"error": words}:
                    raise ModelRefused(Text.same(words), retryable=bool(step.get("retryable")))
                case _:
                    for event in self._say(place, step):
                        yield event
        self._usage = RequestUsage(input_tokens=tokens(self.read), output_tokens=tokens(self.written))

    def _say(self, place: int, step: Step) -> Iterable[ModelResponseStreamEvent]:
        match step:
            case {"thinking": text}:
                self.written += len(text)
                return self._parts_manager.handle_thinking_delta(vendor_part_id=None, content=text)
            case {"text": text}:
                return self._say_text(text)
            case {"decide": decision}:
                return self._say_text(_json(decision))
            case {"tool": tool}:
                return self._call(place, tool["name"], tool.get("args", {}))
            case {"ask": question}:
                return self._call(place, CLARIFY, question)
            case {"todo": todo}:
                return self._call(place, TODO, {"todos": todo})
            case _:
                raise AssertionError(f"a step that script_problems does not know: {sorted(step)}")

    def _say_text(self, text: str) -> Iterable[ModelResponseStreamEvent]:
        self.written += len(text)
        return self._parts_manager.handle_text_delta(vendor_part_id=None, content=text)

    def _call(self, place: int, name: str, args: Any) -> Iterable[ModelResponseStreamEvent]:
        """The id is the call's place in the script, so that a turn played again makes the same call."""
        arguments = _json(args)
        self.written += len(name) + len(arguments)
        call_id = f"call-{self.turn + 1}-{place + 1}"
        yield self._parts_manager.handle_tool_call_part(
            vendor_part_id=call_id, tool_name=name, args=arguments, tool_call_id=call_id
        )

    async def close_stream(self) -> None:
        """Nothing is held open."""

    @property
    def model_name(self) -> str:
        return "inline"

    @property
    def provider_name(self) -> str:
        return "scripted"

    @property
    def provider_url(self) -> None:
        return None

    @property
    def timestamp(self) -> datetime:
        """Always the same: a played response is equal to itself on every machine and day."""
        return _LONG_AGO


def _heard(messages: Sequence[ModelMessage]) -> dict[str, str]:
    """`$tool`, the last tool result as JSON, and `$answer`, the last answer of the person; empty before there is one."""
    heard = {"tool": "", "answer": ""}
    for message in messages:
        for part in message.parts:
            if isinstance(part, ToolReturnPart):
                answer = part.tool_name == CLARIFY and part.outcome == "success"
                heard["answer" if answer else "tool"] = (
                    part.content if answer and isinstance(part.content, str) else _json(part.content)
                )
    return heard


def _characters(message: ModelMessage) -> int:
    """The characters of a message that a model reads."""
    if isinstance(message, ModelRequest):
        return sum(len(_request_text(part)) for part in message.parts)
    return sum(
        len(part.tool_name) + len(part.args_as_json_str()) if isinstance(part, ToolCallPart) else len(part.content)
        for part in message.parts
        if isinstance(part, ToolCallPart | TextPart | ThinkingPart)
    )


def _request_text(part: ModelRequestPart) -> str:
    match part:
        case ToolReturnPart():
            return part.model_response_str()
        case SystemPromptPart(content=str(text)) | UserPromptPart(content=str(text)):
            return text
        case _:
            return ""


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
