"""One conversation with a model: asked again and again until it answers without calling a tool."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from typing import Any

from pydantic_ai import Agent, DeferredToolRequests, DeferredToolResults
from pydantic_ai.agent import CallToolsNode
from pydantic_ai.messages import ModelMessage, ModelMessagesTypeAdapter, ModelResponse, UserPromptPart
from pydantic_ai.models import Model
from pydantic_ai.run import AgentRun
from pydantic_ai.usage import RunUsage
from pydantic_graph import End

from stepweave.agents.limits import check_limits
from stepweave.agents.models import OpenedModel
from stepweave.agents.native import native_output
from stepweave.agents.request import MOST_REFUSALS, LoopRequest, NodeStopped
from stepweave.agents.script import Play
from stepweave.agents.state import OpenQuestion
from stepweave.agents.talk import Spent, is_bridged
from stepweave.agents.tools.kit import open_toolbox
from stepweave.agents.toolset import NO_LIMIT, BoxToolset, shown_arguments
from stepweave.agents.transcript import Transcript
from stepweave.agents.turn import cut_short, listen, settings_of, text_of, told_apart
from stepweave.execution.pause import Answer
from stepweave.execution.work import Work
from stepweave.texts import Text

_BRIDGED = Text(
    "该节点的对话是经由 Hermes Bridge 开始的，只有那里能继续：请恢复 HERMES_ENABLED 和 HERMES_BRIDGE_URL 后重新运行",
    "this node began across a Hermes Bridge, and only that can go on: set HERMES_ENABLED and HERMES_BRIDGE_URL, and run again",
)


class Conversation:
    """`Talk` with a model that is called from this process. `messages` is what has been said up to the last turn that
    was completed, None before there was one."""

    def __init__(
        self,
        request: LoopRequest,
        work: Work,
        transcript: Transcript,
        spent: Spent,
        between_turns: Callable[[], None],
    ) -> None:
        self._request = request
        self._work = work
        self._transcript = transcript
        self._between_turns = between_turns
        self._toolset: BoxToolset | None = None
        self._opened: OpenedModel | None = None
        self._bridged: Any = None
        self._usage = RunUsage(input_tokens=spent.input_tokens, output_tokens=spent.output_tokens)
        self.messages: Sequence[ModelMessage] | None = None
        self.turns = 0
        self.text = ""
        self.cut_short: Text | None = None
        self.questions: tuple[OpenQuestion, ...] = ()

    @property
    def spent(self) -> Spent:
        return Spent(self._usage.input_tokens, self._usage.output_tokens)

    def resume(self, messages: Any) -> None:
        if is_bridged(messages):
            self._bridged = messages
        elif messages is not None:
            self.messages = ModelMessagesTypeAdapter.validate_python(messages)
            self.turns = _responses(self.messages)

    def messages_to_json(self) -> Any:
        if self.messages is None:
            return self._bridged
        return ModelMessagesTypeAdapter.dump_python(list(self.messages), mode="json")

    def open(self) -> tuple[str, ...]:
        if self._bridged is not None:
            raise NodeStopped(_BRIDGED)
        request = self._request
        play = Play(request.script or [], request.prompt, request.system, self._work.tries, request.first_turn)
        self._opened = self._work.models.open(request.model, play)
        return self._opened.secrets

    async def run(self, answers: Mapping[str, Answer]) -> None:
        assert self._opened is not None, "a conversation is opened before it runs"
        model = self._opened.model
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(model)
            agent, prompt = await self._agent(model, stack)
            results = DeferredToolResults(calls=dict(answers)) if answers else None
            said = prompt if self.messages is None else None
            while (refusal := await self._converse(agent, said, results)) is not None:
                said, results = refusal.to(self._work.language), None

    async def _converse(
        self, agent: Agent[None, Any], said: str | None, results: DeferredToolResults | None
    ) -> Text | None:
        """To the model's next final answer, or to its questions; what is wrong with the answer, where it is to answer
        again."""
        async with agent.iter(
            said, message_history=self.messages, deferred_tool_results=results, usage=self._usage
        ) as run:
            node = run.next_node
            while not isinstance(node, End):
                if Agent.is_model_request_node(node):
                    self._begin_turn([*run.all_messages(), node.request])
                    response = await listen(run, node, self._transcript.thinking)
                    if not response.tool_calls:
                        return self._conclude(run.all_messages(), response)
                elif Agent.is_call_tools_node(node):
                    await self._use_tools(run, node)
                node = await run.next(node)
            self._leave_open(run.all_messages(), node.data.output)
            return None

    async def _agent(self, model: Model[Any], stack: AsyncExitStack) -> tuple[Agent[None, Any], str]:
        """The agent, and the prompt for it.

        What a model says in a structured-output mode is taken as it stands, too: reading it is the node's affair, so
        that an answer which is not what was asked for costs no second call.
        """
        request = self._request
        settings, instructions = settings_of(request), request.system or None
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
        return agent, request.prompt + request.instruction

    def _begin_turn(self, messages: Sequence[ModelMessage]) -> None:
        before, self.turns = self.turns, _responses(messages)
        if self.turns > before:
            self.messages = messages
            self._between_turns()
        if self._request.abilities is not None:
            check_limits(self._request.abilities, self.turns, self._usage.total_tokens)
        self._transcript.step(self.turns + 1)

    async def _use_tools(self, run: AgentRun[None, Any], node: CallToolsNode[None, Any]) -> None:
        calls = told_apart(node.model_response)
        async with node.stream(run.ctx) as stream:
            async for event in stream:
                if self._toolset is not None:
                    self._toolset.hear(event, calls)

    def _conclude(self, messages: Sequence[ModelMessage], response: ModelResponse) -> Text | None:
        self.text = text_of(response)
        self.cut_short = cut_short(response)
        judge = self._request.judge
        refusal = judge(self.text) if judge is not None and _prompts(messages) <= MOST_REFUSALS else None
        if refusal is None:
            self.turns += 1
        else:
            self.messages = messages  # the turn is completed, and counted, when the next one begins
        return refusal

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


def _prompts(messages: Sequence[ModelMessage]) -> int:
    """The first, and one for each answer that was refused."""
    return sum(isinstance(part, UserPromptPart) for message in messages for part in message.parts)


def _responses(messages: Sequence[ModelMessage]) -> int:
    return sum(isinstance(message, ModelResponse) for message in messages)
