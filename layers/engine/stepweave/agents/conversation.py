"""One conversation with a model: asked again and again until it answers without calling a tool."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from typing import Any

from pydantic_ai import Agent, DeferredToolRequests, DeferredToolResults
from pydantic_ai.agent import CallToolsNode, ModelRequestNode
from pydantic_ai.messages import (
    ModelMessage,
    ModelMessagesTypeAdapter,
    ModelResponse,
    PartDeltaEvent,
    PartStartEvent,
    TextPart,
    TextPartDelta,
    ThinkingPart,
    ThinkingPartDelta,
    ToolCallPart,
)
from pydantic_ai.models import Model
from pydantic_ai.run import AgentRun
from pydantic_ai.settings import ModelSettings
from pydantic_ai.usage import RunUsage
from pydantic_graph import End

from stepweave.agents.limits import check_limits
from stepweave.agents.native import native_output
from stepweave.agents.request import LoopRequest
from stepweave.agents.state import OpenQuestion
from stepweave.agents.tools.kit import open_toolbox
from stepweave.agents.toolset import NO_LIMIT, BoxToolset, shown_arguments
from stepweave.agents.transcript import Transcript
from stepweave.execution.pause import Answer
from stepweave.execution.work import Work
from stepweave.texts import Text

_CUT_SHORT = {
    "length": Text("回答在 maxTokens 处被截断", "the answer was cut at maxTokens"),
    "content_filter": Text("回答被模型服务的内容过滤器截断", "the answer was cut by the provider's content filter"),
}


class Conversation:
    """`messages` is what has been said up to the last turn that was completed, None before there was one; `turns`
    counts those. In the end there is `text`, or there are `questions`, calls that wait for a person.

    `usage` goes on counting. `between_turns` is called when a turn has been completed and before the next begins, with
    all of that up to date; what it raises ends the conversation.
    """

    def __init__(
        self,
        request: LoopRequest,
        work: Work,
        transcript: Transcript,
        usage: RunUsage,
        between_turns: Callable[[], None],
    ) -> None:
        self._request = request
        self._work = work
        self._transcript = transcript
        self._between_turns = between_turns
        self._toolset: BoxToolset | None = None
        self.usage = usage
        self.messages: Sequence[ModelMessage] | None = None
        self.turns = 0
        self.text = ""
        self.cut_short: Text | None = None
        self.questions: tuple[OpenQuestion, ...] = ()

    def resume(self, messages: Sequence[Any] | None) -> None:
        """Goes on from messages that `messages_to_json` has written."""
        if messages is not None:
            self.messages = ModelMessagesTypeAdapter.validate_python(messages)
            self.turns = _responses(self.messages)

    def messages_to_json(self) -> Sequence[Any] | None:
        if self.messages is None:
            return None
        dumped: Sequence[Any] = ModelMessagesTypeAdapter.dump_python(list(self.messages), mode="json")
        return dumped

    async def run(self, model: Model[Any], answers: Mapping[str, Answer]) -> None:
        """Goes on to the end, with the `answers` to all open questions, by the model's ids of the calls that asked."""
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(model)
            agent, prompt = await self._agent(model, stack)
            results = DeferredToolResults(calls=dict(answers)) if answers else None
            run = await stack.enter_async_context(
                agent.iter(
                    prompt if self.messages is None else None,
                    message_history=self.messages,
                    deferred_tool_results=results,
                    usage=self.usage,
                )
            )
            node = run.next_node
            while not isinstance(node, End):
                if Agent.is_model_request_node(node):
                    self._begin_turn([*run.all_messages(), node.request])
                    response = await self._listen(run, node)
                    if not response.tool_calls:
                        self._conclude(response)
                        return
                elif Agent.is_call_tools_node(node):
                    await self._use_tools(run, node)
                node = await run.next(node)
            self._leave_open(run.all_messages(), node.data.output)

    async def _agent(self, model: Model[Any], stack: AsyncExitStack) -> tuple[Agent[None, Any], str]:
        """The agent, and the prompt for it.

        What a model says in a structured-output mode is taken as it stands, too: reading it is the node's affair, so
        that an answer which is not what was asked for costs no second call.
        """
        request = self._request
        settings, instructions = _settings(request), request.system or None
        if request.abilities is None:
            native = native_output(request, model)
            prompt = request.prompt + ("" if native else request.instruction)
            return (
                Agent(model, output_type=native or str, instructions=instructions, model_settings=settings),
                prompt,
            )
        box = await open_toolbox(request.abilities, self._work, self._transcript, stack)
        self._toolset = BoxToolset(box, self._transcript)
        agent: Agent[None, Any] = Agent(
            model,
            output_type=[str, DeferredToolRequests],
            instructions=instructions,
            model_settings=settings,
            toolsets=[self._toolset],
            retries=NO_LIMIT,
        )
        return agent, request.prompt

    def _begin_turn(self, messages: Sequence[ModelMessage]) -> None:
        before, self.turns = self.turns, _responses(messages)
        if self.turns > before:
            self.messages = messages
            self._between_turns()
        if self._request.abilities is not None:
            check_limits(self._request.abilities, self.turns, self.usage.total_tokens)
        self._transcript.step(self.turns + 1)

    async def _listen(self, run: AgentRun[None, Any], node: ModelRequestNode[None, Any]) -> ModelResponse:
        async with node.stream(run.ctx) as stream:
            async for event in stream:
                self._hear(event)
            return stream.response

    def _hear(self, event: Any) -> None:
        match event:
            case PartStartEvent(part=TextPart(content=delta) | ThinkingPart(content=delta)) if delta:
                self._transcript.thinking(delta)
            case PartDeltaEvent(delta=TextPartDelta(content_delta=delta) | ThinkingPartDelta(content_delta=delta)) if (
                delta
            ):
                self._transcript.thinking(delta)
            case _:
                pass  # the end of a part, a signature, a call of a tool: nothing to show yet

    async def _use_tools(self, run: AgentRun[None, Any], node: CallToolsNode[None, Any]) -> None:
        calls = _told_apart(node.model_response)
        async with node.stream(run.ctx) as stream:
            async for event in stream:
                if self._toolset is not None:
                    self._toolset.hear(event, calls)

    def _conclude(self, response: ModelResponse) -> None:
        self.turns += 1
        self.text = "".join(part.content for part in response.parts if isinstance(part, TextPart))
        self.cut_short = _CUT_SHORT.get(response.finish_reason or "")

    def _leave_open(self, messages: Sequence[ModelMessage], output: DeferredToolRequests) -> None:
        """The turn is completed but for the person's answers."""
        self.messages = messages
        self.turns = _responses(messages)
        self.questions = tuple(
            OpenQuestion(
                call_id=call.tool_call_id,
                key=f"{self.turns}.{number}",
                name=call.tool_name,
                arguments=shown_arguments(call),
                question=output.metadata[call.tool_call_id]["question"],
            )
            for number, call in enumerate(output.calls, start=1)
        )


def _settings(request: LoopRequest) -> ModelSettings:
    settings = ModelSettings()
    if request.temperature is not None:
        settings["temperature"] = request.temperature
    if request.max_tokens is not None:
        settings["max_tokens"] = request.max_tokens
    return settings


def _responses(messages: Sequence[ModelMessage]) -> int:
    return sum(isinstance(message, ModelResponse) for message in messages)


def _told_apart(response: ModelResponse) -> dict[str, ToolCallPart]:
    """The calls of a turn by their ids. Some servers number the calls of a turn all alike: those get ids of ours."""
    calls: dict[str, ToolCallPart] = {}
    for number, call in enumerate(response.tool_calls, start=1):
        if call.tool_call_id in calls:
            call.tool_call_id = f"{call.tool_call_id}-{number}"
        calls[call.tool_call_id] = call
    return calls
