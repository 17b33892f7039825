"""Drives a model of the agent library for one node: streams what it says, counts what it costs, stops when told to."""

import asyncio
from collections.abc import Coroutine
from typing import Any

from pydantic_ai import Agent, NativeOutput, StructuredDict
from pydantic_ai.messages import (
    ModelResponse,
    PartDeltaEvent,
    PartStartEvent,
    TextPart,
    TextPartDelta,
    ThinkingPart,
    ThinkingPartDelta,
)
from pydantic_ai.models import Model
from pydantic_ai.settings import ModelSettings
from pydantic_ai.usage import RunUsage
from pydantic_graph import End

from stepweave.agents.failures import classify
from stepweave.agents.models import OpenedModel
from stepweave.agents.request import LoopRequest, LoopResult, ProviderFailed
from stepweave.agents.script import Play
from stepweave.agents.transcript import Transcript
from stepweave.execution.work import Work
from stepweave.texts import Text

TICK_SECONDS = 0.05

_JSON_TYPES = {"string": "string", "filePath": "string", "number": "number", "boolean": "boolean"}
_CUT_SHORT = {
    "length": Text("回答在 maxTokens 处被截断", "the answer was cut at maxTokens"),
    "content_filter": Text("回答被模型服务的内容过滤器截断", "the answer was cut by the provider's content filter"),
}


def run_loop(request: LoopRequest, work: Work) -> LoopResult:
    """Runs the loop to its end, in an event loop of its own.

    A failure of the provider is a value in the result. Raises what `work` raises — `RunEnded`, `Superseded` — as soon
    as it does: the call to the model is given up then and there.
    """
    return asyncio.run(_Loop(request, work).run())


class _Loop:
    def __init__(self, request: LoopRequest, work: Work) -> None:
        self._request = request
        self._work = work
        self._transcript = Transcript(work)
        self._usage = RunUsage()
        self._text = ""
        self._cut_short: Text | None = None

    async def run(self) -> LoopResult:
        failure = await _while_ticking(self._attempt(), self._work)
        return LoopResult(
            text="" if failure else self._text,
            thinking=self._transcript.streamed,
            usage={"inputTokens": self._usage.input_tokens, "outputTokens": self._usage.output_tokens},
            tool_calls=(),
            logs=self._transcript.logs,
            cut_short=self._cut_short,
            failure=failure,
        )

    async def _attempt(self) -> ProviderFailed | None:
        secrets: tuple[str, ...] = ()
        limit = asyncio.timeout(self._request.timeout)
        try:
            opened = self._open()  # a provider's first model may take seconds to import: not the node's time
            secrets = opened.secrets
            async with limit:
                await self._converse(opened.model)
        except Exception as error:
            if limit.expired():
                return _timed_out(self._request.timeout)
            failure = classify(error, secrets)
            if failure is None:
                raise
            return failure
        return None

    def _open(self) -> OpenedModel:
        request = self._request
        play = Play(request.script or [], request.prompt, request.system, self._work.tries)
        opened: OpenedModel = self._work.models.open(request.model, play)
        return opened

    async def _converse(self, model: Model[Any]) -> None:
        """Asks the model until it answers without calling a tool.

        What it said is then the answer as it stands: reading it is the node's affair, so that an answer which is not
        what was asked for costs no second call.
        """
        native = _native_output(self._request, model)
        instruction = "" if native else self._request.instruction
        agent: Agent[None, Any] = Agent(
            model, output_type=native or str, instructions=self._request.system or None, model_settings=self._settings()
        )
        async with model, agent.iter(self._request.prompt + instruction, usage=self._usage) as run:
            node = run.next_node
            iteration = 0
            while not isinstance(node, End):
                if Agent.is_model_request_node(node):
                    iteration += 1
                    self._transcript.step(iteration)
                    async with node.stream(run.ctx) as stream:
                        async for event in stream:
                            self._hear(event)
                        response = stream.response
                    if not response.tool_calls:
                        self._conclude(response)
                        return
                node = await run.next(node)

    def _settings(self) -> ModelSettings:
        settings = ModelSettings()
        if self._request.temperature is not None:
            settings["temperature"] = self._request.temperature
        if self._request.max_tokens is not None:
            settings["max_tokens"] = self._request.max_tokens
        return settings

    def _hear(self, event: Any) -> None:
        match event:
            case PartStartEvent(part=TextPart(content=delta) | ThinkingPart(content=delta)) if delta:
                self._transcript.thinking(delta)
            case PartDeltaEvent(delta=TextPartDelta(content_delta=delta) | ThinkingPartDelta(content_delta=delta)) if (
                delta
            ):
                self._transcript.thinking(delta)
            case _:
                pass  # the end of a part, a signature: nothing to show

    def _conclude(self, response: ModelResponse) -> None:
        self._text = "".join(part.content for part in response.parts if isinstance(part, TextPart))
        self._cut_short = _CUT_SHORT.get(response.finish_reason or "")


async def _while_ticking[T](work_of_model: Coroutine[Any, Any, T], work: Work) -> T:
    """Runs the coroutine and calls `work.tick()` beside it; what the tick raises stops the coroutine and is raised."""
    running = asyncio.create_task(work_of_model)
    ticking = asyncio.create_task(_tick(work))
    try:
        await asyncio.wait({running, ticking}, return_when=asyncio.FIRST_COMPLETED)
        if not running.done():
            running.cancel()
            await asyncio.wait({running})
            await ticking
        return await running
    finally:
        running.cancel()
        ticking.cancel()
        await asyncio.gather(running, ticking, return_exceptions=True)


async def _tick(work: Work) -> None:
    while True:
        await asyncio.sleep(TICK_SECONDS)
        work.tick()


def _native_output(request: LoopRequest, model: Model[Any]) -> NativeOutput[Any] | None:
    """The model's own structured-output mode for the fields, where it has one that can express them all.

    Free objects and arrays cannot be asked for that way: strict modes would make the model answer them empty.
    """
    if not request.fields or not model.profile.get("supports_json_schema_output", False):
        return None
    if any(field.type not in _JSON_TYPES for field in request.fields):
        return None
    properties = {
        field.name: {
            "type": _JSON_TYPES[field.type],
            **({"description": field.description} if field.description else {}),
        }
        for field in request.fields
    }
    schema = {
        "type": "object",
        "properties": properties,
        "required": [field.name for field in request.fields],
        "additionalProperties": False,
    }
    return NativeOutput(StructuredDict(schema, name="outputs"))


def _timed_out(seconds: float | None) -> ProviderFailed:
    return ProviderFailed(
        Text(
            f"节点在 {seconds:g} 秒内没有完成（timeoutSeconds）",
            f"the node did not finish within {seconds:g} seconds (timeoutSeconds)",
        ),
        retryable=False,
    )
