"""Drives a model for one node: streams what it says, counts what it costs, stops when told to, goes on where it was."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from stepweave.agents.deadline import Deadline, OutOfTime
from stepweave.agents.request import LoopRequest, LoopResult, ProviderFailed
from stepweave.agents.state import LoopState
from stepweave.agents.talk import Spent, Talk, is_bridged
from stepweave.agents.ticking import while_ticking
from stepweave.agents.transcript import Transcript
from stepweave.execution.outcome import Asked, Unfinished
from stepweave.execution.pause import Answer, Question
from stepweave.execution.work import Work
from stepweave.texts import Text

_GIVEN_UP = 2
"""How often the platform's time may fail to suffice for one and the same turn."""

_SHORTEST_SECRET = 8


def run_loop(request: LoopRequest, work: Work) -> LoopResult:
    """One call of a model, in an event loop of its own.

    A failure of the provider is a value in the result. Raises what `work` raises — `RunEnded`, `Superseded` — as soon
    as it does: the call to the model is given up then and there.
    """
    ended = run_agent(request, work)
    assert isinstance(ended, LoopResult), "only an agent asks, or goes on later"
    return ended


def run_agent(request: LoopRequest, work: Work) -> LoopResult | Asked | Unfinished:
    """As `run_loop`, with the tools of the request's `abilities`, from where `work.saved` stands.

    The state is stored after every turn that called tools and whenever the provider fails in a way that may pass, so
    that whoever goes on repeats one turn at most, and nobody is asked twice for one call.
    """
    return asyncio.run(_Loop(request, work).run())


class _Loop:
    def __init__(self, request: LoopRequest, work: Work) -> None:
        saved = work.saved if request.abilities is not None else None
        before = LoopState.from_json(saved) if saved is not None else None
        self._request = request
        self._work = work
        self._began = work.clock.monotonic()
        self._deadline = Deadline(work.remaining) if request.abilities is not None else None
        self._transcript = Transcript(work, opening=request.opening, told=before.transcript if before else None)
        self._seconds = before.seconds if before else 0.0
        self._questions = before.questions if before else ()
        self._given_up = before.given_up if before else 0
        self._in_turn = True
        spent = Spent(before.input_tokens, before.output_tokens) if before else Spent()
        held = before.messages if before else None
        self._talk = _talk(request, work, self._transcript, spent, self._between_turns, held)
        self._talk.resume(held)

    async def run(self) -> LoopResult | Asked | Unfinished:
        asked = self._ask()
        if asked is not None:
            return asked
        try:
            failure = await while_ticking(self._attempt(), self._tick)
        except OutOfTime:
            return self._out_of_time()
        if failure is not None:
            return self._failed(failure)
        self._questions = self._talk.questions
        return self._ask() or self._result(None)

    async def _attempt(self) -> ProviderFailed | None:
        secrets: tuple[str, ...] = ()
        limit = asyncio.timeout(self._seconds_left())
        try:
            opened = self._talk.open()  # a provider's first model may take seconds to import: not the node's time
            secrets = (*opened, *self._headers())
            async with limit:
                await self._talk.run(self._answers())
        except Exception as error:
            if limit.expired():
                return _timed_out(self._request.timeout)
            from stepweave.agents.failures import classify  # knows the agent library

            failure = classify(error, secrets)
            if failure is None:
                raise
            return failure
        return None

    def _tick(self) -> None:
        self._work.tick()
        if self._deadline is not None:
            self._deadline.check()

    def _between_turns(self) -> None:
        """Nothing of the completed turn is done again from here on."""
        if self._deadline is None:
            return
        self._given_up = 0
        self._questions = ()
        if self._deadline.is_near:
            self._in_turn = False
            raise OutOfTime
        self._work.save(self._state().to_json())

    # Questions to people

    def _ask(self) -> Asked | None:
        """The next question without an answer; the answers there are stand in the transcript then."""
        for number, open_question in enumerate(self._questions):
            if open_question.told:
                continue
            answer = self._work.answers.get(open_question.key)
            if answer is None:
                question = Question.from_json(open_question.question)
                self._transcript.asks(open_question.name, open_question.arguments, question)
                return Asked(question, open_question.key, self._state().to_json())
            self._transcript.answered(open_question.name, open_question.arguments, answer)
            told = replace(open_question, told=True)
            self._questions = (*self._questions[:number], told, *self._questions[number + 1 :])
        return None

    def _answers(self) -> dict[str, Answer]:
        return {question.call_id: self._work.answers[question.key] for question in self._questions}

    # How it ends

    def _out_of_time(self) -> LoopResult | Unfinished:
        """Goes on in the next invocation, unless the present turn has been given up too often to hope for it."""
        if self._in_turn:
            self._given_up += 1
        if self._given_up < _GIVEN_UP:
            return Unfinished(self._state().to_json())
        return self._failed(
            ProviderFailed(
                Text(
                    "一轮模型调用及其工具超出了平台的时间限制",
                    "one request to the model with its tools took longer than the platform allows",
                ),
                retryable=False,
            )
        )

    def _failed(self, failure: ProviderFailed) -> LoopResult:
        self._transcript.log("ERROR", failure.text.to(self._work.language))
        if failure.retryable and self._request.abilities is not None:
            self._work.save(self._state().to_json())
        return self._result(failure)

    def _result(self, failure: ProviderFailed | None) -> LoopResult:
        return LoopResult(
            text="" if failure else self._talk.text,
            thinking=self._transcript.streamed,
            usage={"inputTokens": self._talk.spent.input_tokens, "outputTokens": self._talk.spent.output_tokens},
            tool_calls=self._transcript.calls,
            logs=self._transcript.logs,
            steps=self._talk.turns,
            seconds=self._worked(),
            cut_short=self._talk.cut_short,
            failure=failure,
        )

    def _state(self) -> LoopState:
        return LoopState(
            messages=self._talk.messages_to_json(),
            transcript=self._transcript.to_json(),
            input_tokens=self._talk.spent.input_tokens,
            output_tokens=self._talk.spent.output_tokens,
            seconds=self._worked(),
            questions=self._questions,
            given_up=self._given_up,
        )

    def _worked(self) -> float:
        """Seconds of work up to now, of all invocations; none of them in which a person was waited for."""
        return self._seconds + self._work.clock.monotonic() - self._began

    def _seconds_left(self) -> float | None:
        return None if self._request.timeout is None else max(0.0, self._request.timeout - self._seconds)

    def _headers(self) -> tuple[str, ...]:
        """What MCP servers are sent may be secret; a word too short to be one would be struck from every message."""
        servers = self._request.abilities.servers if self._request.abilities is not None else ()
        return tuple(value for server in servers for value in server.headers.values() if len(value) >= _SHORTEST_SECRET)


def _talk(
    request: LoopRequest,
    work: Work,
    transcript: Transcript,
    spent: Spent,
    between_turns: Callable[[], None],
    held: Any,
) -> Talk:
    """The one place that knows whether agents run across a bridge (contract §2, `hermes.enabled`). A talk that has been
    held goes on in the way it began, whatever the setting says by now."""
    is_agent = request.abilities is not None and request.abilities.asks
    if work.bridge is not None and is_agent and (held is None or is_bridged(held)):
        from stepweave.agents.bridge.conversation import BridgedConversation

        assert request.abilities is not None
        return BridgedConversation(work.bridge, request, request.abilities, work, transcript, spent, between_turns)
    from stepweave.agents.conversation import Conversation  # the agent library, which a bridge spares this process

    return Conversation(request, work, transcript, spent, between_turns)


def _timed_out(seconds: float | None) -> ProviderFailed:
    return ProviderFailed(
        Text(
            f"节点在 {seconds:g} 秒内没有完成（timeoutSeconds）",
            f"the node did not finish within {seconds:g} seconds (timeoutSeconds)",
        ),
        retryable=False,
    )
