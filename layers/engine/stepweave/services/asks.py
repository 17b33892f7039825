"""Questions to people (protocol rule A): a chain goes to sleep on one, a person answers it, the chain is woken."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

from stepweave import clock as times
from stepweave.clock import Clock
from stepweave.errors import (
    ClarifyAlreadyAnswered,
    ClarifyAnswerInvalid,
    ClarifyNotFound,
    RunAlreadyFinished,
    Unavailable,
)
from stepweave.execution.pause import Pause, Question
from stepweave.execution.run import Run
from stepweave.execution.step import Step
from stepweave.items import OutcomeUnknown, WriteConflict, WriteRefused
from stepweave.ports import Chains
from stepweave.services.backoff import Backoff
from stepweave.store.pauses import Pauses
from stepweave.store.runs import Runs
from stepweave.texts import Text

WAKING = timedelta(seconds=50)
"""How long a chain that was woken may take to commit its answer. Its token is invalid meanwhile because it was called, not
because the chain is lost. Shorter than the shortest interval of the sweep, so that the next one believes what it sees."""


class Asks:
    def __init__(self, runs: Runs, pauses: Pauses, chains: Chains, clock: Clock) -> None:
        self._runs = runs
        self._pauses = pauses
        self._chains = chains
        self._clock = clock

    def sleep(self, step: Step, chain: str, token: str, order: int) -> None:
        """A chain has come to a question and waits for `token` to be called (A.2).

        Holds the token with the question, or wakes the chain at once: with its node's step when the answer is there
        already, with the end when the visit is not the chain's any more. `order` grows with every such wait.
        """
        backoff = Backoff(self._clock)
        goes_on = replace(step, kind=step.then, steps=step.steps + 1)
        while True:
            visit = self._runs.visit(step.run_id, step.visit_uuid)
            if visit is None or visit.is_over or visit.owner != chain:
                self._chains.wake(token, step.ended().to_json())
                return
            pause = self._pauses.get(step.run_id, visit.waiting) if visit.waiting else None
            if pause is None or pause.status != "OPEN":
                self._chains.wake(token, goes_on.to_json())
                return
            if pause.token_order is not None and pause.token_order >= order:
                return  # stored after all, or a newer wait has come: this one is not listened to any more
            try:
                self._pauses.hold(pause, visit, token, order)
            except (WriteRefused, WriteConflict, OutcomeUnknown):
                backoff.wait()

    def answer(self, run: Run, clarify_id: str, answer: Any) -> bool:
        """Takes a person's answer; False when it is stored but the chain could not be woken, which is retried.

        Raises `RunAlreadyFinished`, `ClarifyNotFound`, `ClarifyAlreadyAnswered`, `ClarifyAnswerInvalid`, in this order;
        `Unavailable` where it is not known whether the answer is stored.
        """
        if run.is_over:
            raise RunAlreadyFinished(Text(f"运行 {run.run_id} 已结束", f"run {run.run_id} has ended"))
        pause = self._pauses.get(run.run_id, clarify_id)
        if pause is None:
            raise ClarifyNotFound(Text(f"问题 {clarify_id} 不存在", f"there is no question {clarify_id}"))
        if pause.status == "ANSWERED":  # perhaps by a call that died before it woke the chain
            self._look_soon(run)
        _refuse_unless_open(pause)
        if not pause.question.accepts(answer):
            raise _does_not_fit(pause.question)
        if self._wake(self._store(pause, answer)):
            return True
        self._look_soon(run)
        return False

    def _look_soon(self, run: Run) -> None:
        """The next sweep looks after the run, however seldom it did."""
        self._runs.check_again(run.run_id, times.to_json(self._clock.now()))

    def _store(self, pause: Pause, answer: Any) -> Pause:
        backoff = Backoff(self._clock)
        moment = times.to_json(self._clock.now())
        uncertain = False
        while True:
            try:
                return self._pauses.answer(pause.run_id, pause.clarify_id, answer, moment)
            except OutcomeUnknown:
                uncertain = True
            except (WriteConflict, WriteRefused):
                pass
            now = self._pauses.get(pause.run_id, pause.clarify_id) or pause  # raises where the store is out of reach
            if uncertain and now.answer == answer and now.answered_at == moment:
                return now  # the attempt whose outcome was unknown was this one
            _refuse_unless_open(now)
            backoff.wait()

    def _wake(self, pause: Pause) -> bool:
        if pause.token is None:
            return True  # the chain is still on its way to sleep, and finds the answer when it gets there
        try:
            return self._chains.wake(pause.token, _goes_on(pause))
        except Unavailable:
            return False

    def wake_again(self, run_id: str) -> bool:
        """For the sweep: wakes chains whose answer is there; one that cannot be woken is ended, for redrive to restart.

        False when there was such a chain: somebody has to look again soon whether it has gone on.
        """
        now = self._clock.now()
        all_awake = True
        for pause in self._pauses.of(run_id):
            if pause.status != "ANSWERED" or pause.token is None:
                continue
            visit = self._runs.visit(run_id, pause.visit_uuid)
            if visit is None or visit.is_over or visit.waiting != pause.clarify_id:
                continue
            all_awake = False
            woken_at = pause.woken_at or pause.answered_at
            assert woken_at is not None, "an answered question has the time of its answer"
            is_on_its_way = now - times.from_json(woken_at) < WAKING
            if not self._pauses.waking(pause, times.to_json(now)):
                continue  # somebody else is waking it now
            if not self._chains.wake(pause.token, _goes_on(pause)) and not is_on_its_way:
                self._chains.stop(visit.owner)
        return all_awake

    def open(self, run_id: str) -> list[Pause]:
        """The open questions of a run, the newest first."""
        pauses = [pause for pause in self._pauses.of(run_id) if pause.status == "OPEN"]
        return sorted(pauses, key=lambda pause: pause.created_at, reverse=True)

    def hold_everything(self, run: Run) -> bool:
        """Whether all that has not ended of the run waits for people: nothing happens until one of them answers."""
        return run.status == "RUNNING" and 0 < run.running <= len(self.open(run.run_id))


def _goes_on(pause: Pause) -> dict[str, Any]:
    """The step of a chain whose question has its answer."""
    return Step(pause.run_id, pause.visit_uuid, pause.node_id, pause.kind).to_json()


def _refuse_unless_open(pause: Pause) -> None:
    if pause.status == "ANSWERED":
        raise ClarifyAlreadyAnswered(
            Text(f"问题 {pause.clarify_id} 已被回答", f"question {pause.clarify_id} has been answered already")
        )
    if pause.status == "CLOSED":
        raise RunAlreadyFinished(Text(f"运行 {pause.run_id} 已结束", f"run {pause.run_id} has ended"))


def _does_not_fit(question: Question) -> ClarifyAnswerInvalid:
    if question.options and not question.allow_custom:
        choices = "、".join(question.choices())
        return ClarifyAnswerInvalid(
            Text(
                f"answer 必须是选项之一：{choices}",
                f"answer must be one of the options: {', '.join(question.choices())}",
            )
        )
    if question.multiple:
        return ClarifyAnswerInvalid(
            Text("answer 必须是字符串或字符串数组", "answer must be a string or a list of strings")
        )
    return ClarifyAnswerInvalid(Text("answer 必须是字符串", "answer must be a string"))
