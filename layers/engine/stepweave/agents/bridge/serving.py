"""The bundled bridge's side: one request to the model for each `POST /run`, with the loop's own ways of asking it."""

from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from typing import Any

from pydantic_ai import Agent, DeferredToolRequests
from pydantic_ai.agent import ModelRequestNode
from pydantic_ai.messages import ModelMessage, ModelMessagesTypeAdapter, ModelRequest, ModelResponse, ToolReturnPart
from pydantic_ai.run import AgentRun
from pydantic_ai.tools import ToolDefinition
from pydantic_ai.toolsets.external import ExternalToolset
from pydantic_ai.usage import RunUsage
from pydantic_core import ValidationError
from pydantic_graph import End

from stepweave.agents.bridge.wire import (
    Call,
    CallOutcome,
    Calls,
    Event,
    Failure,
    Result,
    RunBody,
    Step,
    Terminal,
    Thinking,
    Usage,
)
from stepweave.agents.failures import classify
from stepweave.agents.limits import check_limits
from stepweave.agents.models import OpenedModel
from stepweave.agents.request import Abilities, LoopRequest, NodeStopped
from stepweave.agents.script import Play
from stepweave.agents.toolset import shown_arguments
from stepweave.agents.turn import cut_short, listen, settings_of, text_of, told_apart
from stepweave.execution.work import Models
from stepweave.texts import Text


async def serve(body: RunBody, models: Models, tell: Callable[[Event], None]) -> None:
    """Tells the events of the answer, a terminal one at the end. Raises what is a fault of ours.

    Cancelling it gives up the call to the model then and there.
    """
    secrets: tuple[str, ...] = ()
    try:
        play = Play(body.script or [], body.prompt, body.system, body.tries)
        opened: OpenedModel = models.open(body.model, play)
        secrets = opened.secrets
        terminal = await _Exchange(body, opened, tell).run()
    except Exception as error:
        failure = classify(error, secrets)
        if failure is None:
            raise
        terminal = Failure(message=failure.text.to(body.language), retryable=failure.retryable)
    tell(terminal)


class _Exchange:
    def __init__(self, body: RunBody, opened: OpenedModel, tell: Callable[[Event], None]) -> None:
        self._body = body
        self._model = opened.model
        self._tell = tell
        self._usage = RunUsage(input_tokens=body.usage.input_tokens, output_tokens=body.usage.output_tokens)
        self._limits = Abilities(max_steps=body.max_steps, max_total_tokens=body.max_total_tokens)

    async def run(self) -> Terminal:
        body = self._body
        messages = _messages(body)
        turns = sum(isinstance(message, ModelResponse) for message in messages or ())
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(self._model)
            run = await stack.enter_async_context(
                self._agent().iter(
                    body.prompt if messages is None else None, message_history=messages, usage=self._usage
                )
            )
            node = await _first_request(run)
            check_limits(self._limits, turns, self._usage.total_tokens)
            self._tell(Step(iteration=turns + 1))
            response = await listen(run, node, lambda delta: self._tell(Thinking(content=delta)))
            return self._terminal(response, run.all_messages())

    def _agent(self) -> Agent[None, Any]:
        """Its tools are the engine's: a turn that calls one ends the request."""
        body = self._body
        tools = [
            ToolDefinition(
                name=tool.name,
                description=tool.description,
                parameters_json_schema=dict(tool.parameters),
                sequential=True,
            )
            for tool in body.tools
        ]
        request = LoopRequest(body.model, body.prompt, temperature=body.temperature, max_tokens=body.max_tokens)
        return Agent(
            self._model,
            output_type=[str, DeferredToolRequests],
            instructions=body.system or None,
            model_settings=settings_of(request),
            toolsets=[ExternalToolset(tools, id="stepweave")],
        )

    def _terminal(self, response: ModelResponse, messages: Sequence[ModelMessage]) -> Terminal:
        usage = Usage(input_tokens=self._usage.input_tokens, output_tokens=self._usage.output_tokens)
        calls = told_apart(response)
        if not calls:
            cut = cut_short(response)
            return Result(text=text_of(response), usage=usage, cut_short=cut.to(self._body.language) if cut else None)
        return Calls(
            calls=[
                Call(call_id=call_id, name=call.tool_name, arguments=shown_arguments(call))
                for call_id, call in calls.items()
            ],
            history=ModelMessagesTypeAdapter.dump_python(list(messages), mode="json"),
            usage=usage,
        )


async def _first_request(run: AgentRun[None, Any]) -> ModelRequestNode[None, Any]:
    node = run.next_node
    while not Agent.is_model_request_node(node):
        assert not isinstance(node, End), "what is to be said to the model comes before any end"
        node = await run.next(node)
    return node


def _messages(body: RunBody) -> list[ModelMessage] | None:
    """What has been said, the results of the last turn's calls included; None before anything was."""
    if body.history is None:
        return None
    try:
        history = ModelMessagesTypeAdapter.validate_python(body.history)
    except ValidationError:
        raise NodeStopped(
            Text("history 不是本 Bridge 写下的", "the history is none that this bridge has written")
        ) from None
    parts = [_part(outcome) for outcome in body.results]
    return [*history, ModelRequest(parts=parts)]


def _part(outcome: CallOutcome) -> ToolReturnPart:
    return ToolReturnPart(
        tool_name=outcome.name,
        content=outcome.content,
        tool_call_id=outcome.call_id,
        outcome="success" if outcome.success else "failed",
    )
