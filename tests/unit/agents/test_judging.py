"""Answers that are refused and asked for again (contract §2, AGENTIC): in one conversation, a few times, over invocations."""

import json
from typing import Any

import pytest

from stepweave.agents.loop import run_agent
from stepweave.agents.request import MOST_REFUSALS, Abilities, LoopRequest, LoopResult
from stepweave.execution.work import RunEnded
from stepweave.texts import Text
from tests.functional.openai_server import openai_server, says
from tests.unit.agents.test_loop import work_with
from tests.unit.agents.work import RecordingWork


def only_yes(answer: str) -> Text | None:
    return None if answer == "yes" else Text.same(f"{answer} is not yes")


def judged(work: RecordingWork, *turns: list[dict[str, Any]], **rest: Any) -> LoopResult:
    request = LoopRequest(
        "scripted:inline", "go", abilities=Abilities(asks=False), judge=only_yes, script=list(turns), **rest
    )
    result = run_agent(request, work)
    assert isinstance(result, LoopResult)
    return result


def test_a_refused_answer_is_asked_for_again_and_the_next_one_counts() -> None:
    work = RecordingWork()
    result = judged(work, [{"text": "no"}], [{"text": "yes"}])
    assert (result.text, result.failure, result.steps) == ("yes", None, 2)
    assert work.streamed() == ["no", "yes"]


def test_an_answer_that_stays_wrong_stands_after_as_many_refusals_as_there_may_be() -> None:
    result = judged(RecordingWork(), *[[{"text": f"no {number}"}] for number in range(MOST_REFUSALS + 3)])
    assert (result.text, result.steps) == (f"no {MOST_REFUSALS}", MOST_REFUSALS + 1)


def test_tools_between_two_answers_are_no_refusals() -> None:
    look = [{"tool": {"name": "unknown", "args": {}}}]
    result = judged(RecordingWork(), look, [{"text": "no"}], look, look, [{"text": "no"}], look, [{"text": "yes"}])
    assert (result.text, result.steps) == ("yes", 7)


def test_refusals_are_counted_over_invocations() -> None:
    """The process dies in the third turn; whoever goes on has two refusals behind him, and asks the first turns no more."""
    turns = [[{"text": f"no {number}"}] for number in range(6)]
    dying = RecordingWork(ends_at_event=5)  # a step and a text for each of the first two turns
    with pytest.raises(RunEnded):
        judged(dying, *turns)
    assert dying.streamed() == ["no 0", "no 1"]
    going_on = RecordingWork(saved=json.loads(dying.saves[-1]))
    result = judged(going_on, *turns)
    assert (result.text, result.steps) == (f"no {MOST_REFUSALS}", MOST_REFUSALS + 1)
    assert going_on.streamed() == ["no 2", "no 3"]


def test_the_model_reads_its_answer_and_what_is_wrong_with_it() -> None:
    with openai_server(says("no"), says("yes")) as server:
        request = LoopRequest("openai:small", "go", abilities=Abilities(asks=False), judge=only_yes)
        assert isinstance(result := run_agent(request, work_with(server)), LoopResult)
        assert result.text == "yes"
        said = [(message["role"], message["content"]) for message in server.requests[1]["messages"]]
    assert said == [("user", "go"), ("assistant", "no"), ("user", "no is not yes")]
