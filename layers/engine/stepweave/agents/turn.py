"""One request to a model: what it is asked with, and what is heard of its answer."""

from collections.abc import Callable
from typing import Any

from pydantic_ai.agent import ModelRequestNode
from pydantic_ai.messages import (
    ModelResponse,
    PartDeltaEvent,
    PartStartEvent,
    TextPart,
    TextPartDelta,
    ThinkingPart,
    ThinkingPartDelta,
    ToolCallPart,
)
from pydantic_ai.run import AgentRun
from pydantic_ai.settings import ModelSettings

from stepweave.agents.request import LoopRequest
from stepweave.texts import Text

_CUT_SHORT = {
    "length": Text("回答在 maxTokens 处被截断", "the answer was cut at maxTokens"),
    "content_filter": Text("回答被模型服务的内容过滤器截断", "the answer was cut by the provider's content filter"),
}


def settings_of(request: LoopRequest) -> ModelSettings:
    settings = ModelSettings()
    if request.temperature is not None:
        settings["temperature"] = request.temperature
    if request.max_tokens is not None:
        settings["max_tokens"] = request.max_tokens
    return settings


async def listen(
    run: AgentRun[None, Any], node: ModelRequestNode[None, Any], thinking: Callable[[str], None]
) -> ModelResponse:
    """Asks the model, and gives every delta of its thinking and its text to `thinking` as it comes."""
    async with node.stream(run.ctx) as stream:
        async for event in stream:
            delta = _delta(event)
            if delta:
                thinking(delta)
        return stream.response


def text_of(response: ModelResponse) -> str:
    return "".join(part.content for part in response.parts if isinstance(part, TextPart))


def cut_short(response: ModelResponse) -> Text | None:
    """Why the provider ended the turn before the model had; None where it did not."""
    return _CUT_SHORT.get(response.finish_reason or "")


def told_apart(response: ModelResponse) -> dict[str, ToolCallPart]:
    """The calls of a turn by their ids. Some servers number the calls of a turn all alike: those get ids of ours."""
    calls: dict[str, ToolCallPart] = {}
    for number, call in enumerate(response.tool_calls, start=1):
        if call.tool_call_id in calls:
            call.tool_call_id = f"{call.tool_call_id}-{number}"
        calls[call.tool_call_id] = call
    return calls


def _delta(event: Any) -> str | None:
    match event:
        case PartStartEvent(part=TextPart(content=delta) | ThinkingPart(content=delta)):
            return delta
        case PartDeltaEvent(delta=TextPartDelta(content_delta=delta) | ThinkingPartDelta(content_delta=delta)):
            return delta
        case _:
            return None  # the end of a part, a signature, a call of a tool: nothing to show yet
