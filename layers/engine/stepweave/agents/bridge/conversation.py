"""A conversation that a bridge holds with the model; the tools, the files and the people stay with the engine."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack, aclosing
from dataclasses import dataclass
from typing import Any

from stepweave.agents.bridge.client import BridgeClient, BridgeFailed, is_loopback
from stepweave.agents.bridge.retelling import Retelling
from stepweave.agents.bridge.wire import (
    Call,
    CallOutcome,
    Calls,
    Failure,
    OfferedTool,
    Result,
    RunBody,
    Step,
    Terminal,
    Turn,
    Usage,
)
from stepweave.agents.limits import check_limits
from stepweave.agents.request import Abilities, LoopRequest
from stepweave.agents.state import OpenQuestion
from stepweave.agents.talk import Spent
from stepweave.agents.told_calls import ToldCalls, shown
from stepweave.agents.tools.kit import open_toolbox
from stepweave.agents.tools.toolbox import Arguments, Asks, Toolbox, ToolResult, Unreadable
from stepweave.agents.transcript import Transcript
from stepweave.execution.bridge import Bridge
from stepweave.execution.context_query import ContextQuery
from stepweave.execution.pause import Answer
from stepweave.execution.work import Work
from stepweave.texts import Text
from stepweave.web.daemon import in_thread


@dataclass(slots=True)
class _Made:
    """A call of the last turn; without a result it waits for a person."""

    call_id: str
    name: str
    result: ToolResult | None


class BridgedConversation:
    """`Talk` across a bridge. Each request brings one turn or more; it ends with the answer, or with calls of tools,
    which are made here and whose results the next request carries."""

    def __init__(
        self,
        bridge: Bridge,
        request: LoopRequest,
        abilities: Abilities,
        work: Work,
        transcript: Transcript,
        spent: Spent,
        between_turns: Callable[[], None],
    ) -> None:
        self._bridge = bridge
        self._request = request
        self._abilities = abilities
        self._work = work
        self._transcript = transcript
        self._between_turns = between_turns
        self._history: Any = None
        self._made: Sequence[_Made] = ()
        self._query: Mapping[str, Any] | None = None
        self.spent = spent
        self.turns = 0
        self.text = ""
        self.cut_short: Text | None = None
        self.questions: tuple[OpenQuestion, ...] = ()

    def resume(self, messages: Any) -> None:
        if messages is None:
            return
        self._history = messages["history"]
        self.turns = messages["turns"]
        self._made = [
            _Made(
                each["callId"],
                each["name"],
                None if each["success"] is None else ToolResult(each["content"], each["success"]),
            )
            for each in messages["calls"]
        ]

    def messages_to_json(self) -> Any:
        if self._history is None:
            return None
        calls = [
            {
                "callId": made.call_id,
                "name": made.name,
                "content": made.result.content if made.result else None,
                "success": made.result.success if made.result else None,
            }
            for made in self._made
        ]
        return {"history": self._history, "turns": self.turns, "calls": calls}

    def open(self) -> tuple[str, ...]:
        return (self._bridge.token,) if self._bridge.token else ()

    async def run(self, answers: Mapping[str, Answer]) -> None:
        self._made = [
            _Made(made.call_id, made.name, made.result or ToolResult(answers[made.call_id], success=True))
            for made in self._made
        ]
        async with AsyncExitStack() as stack:
            box = await open_toolbox(self._abilities, self._work, self._transcript, stack)
            query = await self._open_query(stack)
            self._query = query.to_json() if query is not None else None
            client = await stack.enter_async_context(BridgeClient(self._bridge, query))
            while True:
                check_limits(self._abilities, self.turns, self.spent.total_tokens)
                match await self._listen(client, box):
                    case Result() as result:
                        self._conclude(result)
                        return
                    case Calls() as calls:
                        await self._make(calls, ToldCalls(box, self._transcript))
                    case Failure(message=message, retryable=retryable):
                        raise BridgeFailed(Text.same(message), retryable=retryable)
                if self.questions:
                    return
                self._between_turns()

    async def _open_query(self, stack: AsyncExitStack) -> ContextQuery | None:
        """How the bridge may ask for the run's context by itself; a bridge elsewhere may not (contract §6)."""
        opening = self._work.context_query
        if opening is None or not is_loopback(self._bridge.url):
            return None
        manager = opening()
        query = await in_thread(manager.__enter__)
        stack.callback(manager.__exit__, None, None, None)
        return query

    async def _listen(self, client: BridgeClient, box: Toolbox) -> Terminal:
        retelling = Retelling(self._transcript)
        async with aclosing(client.run(self._body(box))) as events:
            async for event in events:
                match event:
                    case Result() | Calls() | Failure():
                        return event
                    case Step(iteration=iteration):
                        self.turns = iteration - 1
                        check_limits(self._abilities, self.turns, self.spent.total_tokens)
                        self._transcript.step(iteration)
                    case Turn():
                        self._complete(event.history, event.usage)
                        self._between_turns()
                    case _:
                        retelling.tell(event)
        raise AssertionError("the client gives a terminal event or raises")

    def _body(self, box: Toolbox) -> RunBody:
        request = self._request
        return RunBody(
            model=request.model,
            prompt=request.prompt,
            system=request.system,
            language=self._work.language,
            temperature=request.temperature,
            max_tokens=request.max_tokens,
            max_steps=self._abilities.max_steps,
            max_total_tokens=self._abilities.max_total_tokens,
            tools=[
                OfferedTool(name=tool.name, description=tool.description, parameters=tool.schema) for tool in box.tools
            ],
            history=self._history,
            results=[_outcome(made) for made in self._made],
            usage=Usage(input_tokens=self.spent.input_tokens, output_tokens=self.spent.output_tokens),
            tries=self._work.tries,
            script=request.script,
            context_query=self._query,
        )

    async def _make(self, calls: Calls, tools: ToldCalls) -> None:
        """Makes the calls in their order; those that ask people are left open."""
        made: list[_Made] = []
        asked: list[tuple[Call, Asks]] = []
        for call in calls.calls:
            try:
                result: ToolResult | None = await tools.call(call.name, _arguments(call))
            except Asks as asks:
                asked.append((call, asks))
                result = None
            made.append(_Made(call.call_id, call.name, result))
        self._complete(calls.history, calls.usage)
        self._made = made
        self.questions = tuple(
            OpenQuestion(
                call_id=call.call_id,
                key=f"{self.turns}.{number}",
                name=call.name,
                arguments=shown(_arguments(call)),
                question=asks.question.data(""),
            )
            for number, (call, asks) in enumerate(asked, start=1)
        )

    def _complete(self, history: Any, usage: Usage | None) -> None:
        """Nothing of the turn is done again from here on."""
        self._history, self._made = history, ()
        self.turns += 1
        self._count(usage)

    def _conclude(self, result: Result) -> None:
        self.turns += 1
        self._count(result.usage)
        self.text = result.text
        self.cut_short = Text.same(result.cut_short) if result.cut_short else None

    def _count(self, usage: Usage | None) -> None:
        if usage is not None:
            self.spent = Spent(usage.input_tokens, usage.output_tokens)


def _arguments(call: Call) -> Arguments:
    return Unreadable(call.arguments) if isinstance(call.arguments, str) else call.arguments


def _outcome(made: _Made) -> CallOutcome:
    assert made.result is not None, "whoever asks people has their answers before the model goes on"
    return CallOutcome(call_id=made.call_id, name=made.name, content=made.result.content, success=made.result.success)
