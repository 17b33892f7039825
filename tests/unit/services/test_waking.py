"""Chains that sleep on a question and are woken (protocol rule A): what the sweep believes of a token that is invalid."""

from datetime import timedelta
from typing import Any

import pytest

from stepweave import clock as times
from stepweave import ids
from stepweave.adapters.memory import MemoryChains, MemoryItems
from stepweave.errors import ClarifyAlreadyAnswered, Unavailable
from stepweave.execution.outcome import Asked, Outcome, succeeded
from stepweave.execution.pause import Question
from stepweave.execution.step import ASK, Step
from stepweave.items import Item, Key, OutcomeUnknown, Update
from stepweave.services.asks import WAKING
from stepweave.services.sweep import SHORTEST
from stepweave.services.visit_work import VisitWork
from tests.unit.services.stage import RUN_ID, Stage

CHAIN = ids.first_chain(RUN_ID)


class Switchboard(MemoryChains):
    """Remembers who was woken and stopped; `silent`: Step Functions does not answer for tokens."""

    def __init__(self) -> None:
        super().__init__()
        self.silent = False
        self.woken: list[str] = []
        self.stopped: list[str] = []

    def wake(self, token: str, step: dict[str, Any]) -> bool:
        if self.silent:
            raise Unavailable("Step Functions did not answer")
        self.woken.append(token)
        return super().wake(token, step)

    def stop(self, name: str) -> None:
        self.stopped.append(name)
        super().stop(name)


def asks(work: VisitWork) -> Outcome | Asked:
    if "ask" in work.answers:
        return succeeded("ok", {"result": work.answers["ask"]})
    return Asked(Question("Which?"), "ask", {})


class Unreliable(MemoryItems):
    """`next_write`: "unconfirmed" is stored and nobody is told; with an "outage" nothing is written or read any more."""

    def __init__(self) -> None:
        super().__init__()
        self.next_write = "fine"

    def update(self, update: Update) -> Item:
        if self.next_write in ("outage", "out"):
            self.next_write = "out"
            raise OutcomeUnknown("no connection")
        item = super().update(update)
        if self.next_write == "unconfirmed":
            self.next_write = "fine"
            raise OutcomeUnknown("no answer")
        return item

    def get(self, key: Key) -> Item | None:
        if self.next_write == "out":
            raise Unavailable("no connection")
        return super().get(key)


class Waiting(Stage):
    """A run whose only chain sleeps on a question."""

    def __init__(self) -> None:
        self.items = Unreliable()
        super().__init__(("in", "work"), ("work", "out"), acts={"work": asks}, items=self.items, chains=Switchboard())
        assert self.step(CHAIN).kind == ASK
        self.fall_asleep()

    @property
    def board(self) -> Switchboard:
        assert isinstance(self.chains, Switchboard)
        return self.chains

    def fall_asleep(self) -> None:
        token = self.chains.sleep(CHAIN)
        order = int(self.clock.monotonic())
        self.engine.asks.sleep(Step.from_json(self.chains.running[CHAIN]), CHAIN, token, order)

    def answer(self) -> bool:
        [pause] = self.engine.asks.open(RUN_ID)
        return self.engine.asks.answer(self.run, pause.clarify_id, "yes")

    def sweep(self) -> None:
        self.engine.sweep.look_after(RUN_ID)


def test_a_chain_on_its_way_from_the_question_to_its_commit_is_let_alone() -> None:
    stage = Waiting()
    assert stage.answer()
    stage.clock.pass_by(WAKING.total_seconds() - 1)
    stage.sweep()
    assert stage.board.stopped == []
    stage.drive()
    assert stage.run.status == "SUCCESS"


def test_a_chain_that_sleeps_on_another_token_is_ended_and_its_visit_goes_on_in_a_new_one() -> None:
    stage = Waiting()
    stage.chains.asleep.clear()
    stage.answer()
    stage.sweep()
    assert stage.board.stopped == []
    stage.clock.pass_by(SHORTEST.total_seconds())
    stage.sweep()
    assert stage.board.stopped == [CHAIN]
    stage.drive()
    assert stage.run.status == "SUCCESS"


def test_a_chain_that_the_sweep_has_woken_is_let_alone_by_the_next_one() -> None:
    stage = Waiting()
    stage.board.silent = True
    assert not stage.answer()
    stage.board.silent = False
    stage.clock.pass_by(WAKING.total_seconds() + 1)
    stage.sweep()
    stage.clock.pass_by(WAKING.total_seconds() - 1)
    stage.sweep()
    assert (len(stage.board.woken), stage.board.stopped) == (2, [])
    stage.drive()
    assert stage.run.status == "SUCCESS"


def test_of_two_sweeps_that_see_the_same_one_wakes() -> None:
    stage = Waiting()
    stage.board.silent = True
    stage.answer()
    stage.board.silent = False
    stage.clock.pass_by(WAKING.total_seconds() + 1)
    pauses, asks_ = stage.engine.asks._pauses, stage.engine.asks
    seen = pauses.of(RUN_ID)
    asks_.wake_again(RUN_ID)
    with pytest.MonkeyPatch.context() as late:
        late.setattr(pauses, "of", lambda run_id: seen)
        asks_.wake_again(RUN_ID)
    assert (len(stage.board.woken), stage.board.stopped) == (1, [])


def test_an_answer_that_woke_nobody_brings_the_sweep_however_old_the_run_is() -> None:
    stage = Waiting()
    stage.clock.pass_by(timedelta(days=30).total_seconds())
    stage.sweep()
    stage.clock.pass_by(SHORTEST.total_seconds())
    assert stage.engine.sweep.sweep() == 0
    stage.board.silent = True
    assert not stage.answer()
    stage.board.silent = False
    assert stage.engine.sweep.sweep() == 1
    stage.drive()
    assert stage.run.status == "SUCCESS"


def test_an_answer_whose_storing_was_not_confirmed_is_taken_once() -> None:
    stage = Waiting()
    stage.items.next_write = "unconfirmed"
    assert stage.answer()
    stage.drive()
    assert stage.body("work").output["data"] == {"result": "yes"}


def test_whoever_answers_while_the_store_is_out_of_reach_is_told_and_may_answer_again() -> None:
    stage = Waiting()
    [pause] = stage.engine.asks.open(RUN_ID)
    stage.items.next_write = "outage"
    with pytest.raises(Unavailable):
        stage.engine.asks.answer(stage.run, pause.clarify_id, "yes")
    stage.items.next_write = "fine"
    assert stage.answer()
    stage.drive()
    assert stage.run.status == "SUCCESS"


def test_an_answer_whose_process_died_before_it_woke_anybody_brings_the_sweep_when_it_is_repeated() -> None:
    stage = Waiting()
    [pause] = stage.engine.asks.open(RUN_ID)
    stage.clock.pass_by(timedelta(days=30).total_seconds())
    stage.sweep()
    stage.engine.asks._pauses.answer(RUN_ID, pause.clarify_id, "yes", times.to_json(stage.clock.now()))
    stage.clock.pass_by(SHORTEST.total_seconds())
    assert stage.engine.sweep.sweep() == 0
    with pytest.raises(ClarifyAlreadyAnswered):
        stage.engine.asks.answer(stage.run, pause.clarify_id, "yes")
    assert stage.engine.sweep.sweep() == 1
    stage.drive()
    assert stage.run.status == "SUCCESS"
