"""A context token lives while its visit does: renewed by the engine, dead with every way a visit can end (contract §6)."""

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest

from stepweave import ids
from stepweave.adapters.memory import MemoryItems
from stepweave.errors import Unavailable
from stepweave.execution.outcome import Asked, Unfinished, failed, succeeded
from stepweave.execution.pause import Question
from stepweave.execution.step import Step
from stepweave.execution.work import RunEnded
from stepweave.items import TOKENS_EXPIRING, OutcomeUnknown
from stepweave.services.context_tokens import ContextRules, ContextTokens
from stepweave.services.visit_work import VisitWork
from stepweave.store.tokens import Tokens
from stepweave.texts import Text
from tests.unit.services.stage import RUN_ID, Stage

STRAIGHT = (("in", "a"), ("a", "out"))
BESIDE = (("in", "a"), ("in", "b"), ("a", "out"), ("b", "out"))


class Taken:
    """What the node `a` does: takes a token as a process does that is then killed, so that nobody ends it, and goes on as
    `then` says. `token` is the last that it took."""

    def __init__(self, then: Callable[[VisitWork], Any] = lambda work: succeeded("ok", {})) -> None:
        self._then = then
        self.stage: Stage
        self.token = ""

    def __call__(self, work: VisitWork) -> Any:
        self.token = self.stage.engine.context_tokens.issue(work.visit)
        assert self.is_good(), "while its visit runs the token is good"
        return self._then(work)

    def is_good(self) -> bool:
        """As another process sees it."""
        engine = self.stage.engine
        other = ContextTokens(Tokens(engine.ports.items), engine.store, self.stage.clock, ContextRules())
        return other.recognise([self.token]) is not None


def staged(taken: Taken, *arrows: tuple[str, str], acts: dict[str, Any] | None = None, **data: Any) -> Stage:
    taken.stage = Stage(*(arrows or STRAIGHT), acts={"a": taken, **(acts or {})}, data={"a": data})
    return taken.stage


def run_to_node(stage: Stage) -> str:
    """The chain that stands before `a`."""
    [chain] = stage.chains.running
    while stage.chains.running[chain]["nodeId"] != "a":
        stage.step(chain)
    return chain


def test_a_token_dies_with_the_success_of_its_visit() -> None:
    taken = Taken()
    staged(taken).drive()
    assert not taken.is_good()


@pytest.mark.parametrize("strategy", ["abort", "skip"])
def test_a_token_dies_with_the_failure_of_its_visit(strategy: str) -> None:
    taken = Taken(lambda work: failed("broken"))
    staged(taken, failStrategy=strategy).drive()
    assert not taken.is_good()


def test_a_token_dies_when_the_node_is_tried_again_in_another_invocation() -> None:
    taken = Taken(lambda work: failed("provider", retryable=True))
    stage = staged(taken, retry={"maxAttempts": 2, "backoffSeconds": 120})
    chain = run_to_node(stage)
    stage.step(chain)
    first = taken.token
    stage.step(chain)
    assert taken.token != first
    taken.token = first
    assert not taken.is_good()


def test_a_token_dies_when_the_visit_asks_a_person() -> None:
    taken = Taken(lambda work: Asked(Question("which?"), "call", {}))
    stage = staged(taken)
    stage.step(run_to_node(stage))
    assert stage.visit("a").waiting is not None
    assert not taken.is_good()


def test_a_token_dies_when_another_invocation_goes_on() -> None:
    taken = Taken(lambda work: Unfinished({}))
    stage = staged(taken)
    chain = run_to_node(stage)
    stage.step(chain)
    first = taken.token
    stage.step(chain)
    taken.token = first
    assert not taken.is_good()


class Killed(BaseException):
    """The process dies."""


def die(work: VisitWork) -> Any:
    raise Killed


def killed(taken: Taken) -> Stage:
    """The process of `a` has died in the middle of it; its token is as good as ever."""
    stage = staged(taken)
    chain = run_to_node(stage)
    with pytest.raises(Killed):
        stage.step(chain)
    assert taken.is_good()
    return stage


def test_a_token_dies_with_a_cancel() -> None:
    taken = Taken(die)
    killed(taken).engine.ending.cancel(RUN_ID)
    assert not taken.is_good()


def test_a_token_dies_when_the_platform_gives_the_step_up() -> None:
    taken = Taken(die)
    stage = killed(taken)
    [(chain, step)] = stage.chains.running.items()
    stage.engine.advance.recover(Step.from_json(step), chain, Text.same("timed out"))
    assert not taken.is_good()


def test_a_token_dies_when_a_redrive_takes_the_visit_over() -> None:
    taken = Taken(die)
    stage = killed(taken)
    stage.chains.running.clear()
    stage.clock.pass_by(61)
    stage.engine.redrive.redrive(RUN_ID)
    assert stage.chains.running
    assert not taken.is_good()


def test_a_token_dies_when_another_branch_aborts_the_run() -> None:
    taken = Taken(die)
    stage = staged(taken, *BESIDE, acts={"b": lambda work: failed("broken")})
    while not taken.token:
        for chain in list(stage.chains.running):
            if stage.chains.running[chain]["nodeId"] == "a":
                with pytest.raises(Killed):
                    stage.step(chain)
            elif stage.chains.running[chain]["nodeId"] != "b":
                stage.step(chain)
    [beside] = [chain for chain, step in stage.chains.running.items() if step["nodeId"] == "b"]
    stage.step(beside)
    assert stage.run.status == "FAILED"
    assert not taken.is_good()


# Renewal and limits


@pytest.mark.parametrize("ticks", [True, False])
def test_a_token_is_renewed_as_long_as_the_engine_ticks(ticks: bool) -> None:
    seen: list[bool] = []

    def then(work: VisitWork) -> Any:
        for _ in range(100):
            taken.stage.clock.pass_by(10)
            if ticks:
                work.tick()
        seen.append(taken.is_good())
        return succeeded("ok", {})

    taken = Taken(then)
    staged(taken).drive()
    assert seen == [ticks]


def test_without_a_tick_a_token_lives_120_seconds() -> None:
    lived: list[bool] = []

    def then(work: VisitWork) -> Any:
        taken.stage.clock.pass_by(119.9)
        lived.append(taken.is_good())
        taken.stage.clock.pass_by(0.1)
        lived.append(taken.is_good())
        return succeeded("ok", {})

    taken = Taken(then)
    staged(taken).drive()
    assert lived == [True, False]


def test_a_fifth_token_ends_the_oldest() -> None:
    good: list[list[bool]] = []

    def then(work: VisitWork) -> Any:
        tokens = taken.stage.engine.context_tokens
        five = [taken.token, *(tokens.issue(work.visit) for _ in range(4))]
        good.append([tokens.recognise([each]) is not None for each in five])
        good.append([tokens.recognise([each], own_only=True) is not None for each in five])
        return succeeded("ok", {})

    taken = Taken(then)
    staged(taken).drive()
    assert good == [[False, True, True, True, True]] * 2


def stored(stage: Stage) -> list[Any]:
    return stage.engine.ports.items.query_index(TOKENS_EXPIRING, "context")


def test_only_a_hash_is_stored_and_the_sweep_takes_it_away() -> None:
    taken = Taken(die)
    stage = killed(taken)
    [item] = stored(stage)
    assert taken.token not in str(item)
    assert ids.CONTEXT_TOKEN.fullmatch(taken.token)
    stage.engine.sweep.sweep()
    assert len(stored(stage)) == 1
    stage.clock.pass_by(121)
    stage.engine.sweep.sweep()
    assert stored(stage) == []


def test_the_sweep_cleans_no_more_often_than_it_is_told_to() -> None:
    taken = Taken(die)
    stage = killed(taken)
    tokens = stage.engine.context_tokens
    stage.clock.pass_by(70)
    tokens.issue(stage.visit("a"))
    stage.clock.pass_by(80)
    assert tokens.clean() == 1
    stage.clock.pass_by(59)
    assert tokens.clean() == 0
    stage.clock.pass_by(1)
    assert tokens.clean() == 1


def test_what_was_lent_is_taken_back_however_the_node_leaves() -> None:
    seen: list[Any] = []

    def then(work: VisitWork) -> Any:
        assert work.context_query is not None
        with suppress(RunEnded), work.context_query() as query:
            seen.append(query)
            assert taken.stage.engine.context_tokens.recognise([query.token], own_only=True) is not None
            raise RunEnded
        assert taken.stage.engine.context_tokens.recognise([query.token], own_only=True) is None
        assert taken.stage.engine.context_tokens.recognise([query.token]) is None
        return succeeded("ok", {})

    taken = Taken(then)
    stage = staged(taken)
    stage.drive()
    assert (seen[0].run_id, seen[0].visit_uuid) == (RUN_ID, stage.visit("a").visit_uuid)
    assert seen[0].token not in repr(seen[0])
    assert len(stored(stage)) == 1  # the one that nobody ended


def test_a_process_forgets_all_of_its_tokens_with_the_visit() -> None:
    def act(work: VisitWork) -> Any:
        assert work.context_query is not None
        with work.context_query(), work.context_query():
            work.tick()
        return succeeded("ok", {})

    stage = Stage(*STRAIGHT, acts={"a": act})
    stage.drive()
    tokens = stage.engine.context_tokens
    assert (tokens._own, dict(tokens._live), tokens._renewed_at) == ({}, {}, {})


class Unsure(MemoryItems):
    """Nobody knows whether a token was stored."""

    def put(self, table: Any, item: Any) -> None:
        super().put(table, item)
        if table == "tokens":
            raise OutcomeUnknown


def test_a_store_that_does_not_answer_is_told_as_such() -> None:
    refused: list[bool] = []

    def act(work: VisitWork) -> Any:
        with pytest.raises(Unavailable):
            stage.engine.context_tokens.issue(work.visit)
        refused.append(True)
        return succeeded("ok", {})

    stage = Stage(*STRAIGHT, acts={"a": act}, items=Unsure())
    stage.drive()
    assert refused == [True]
