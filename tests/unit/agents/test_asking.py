"""Questions to people: the agent's side of AskFor (contract §4, §5)."""

from typing import Any

import pytest

from stepweave.execution.outcome import Asked, Outcome, Unfinished
from stepweave.execution.pause import Option, Question
from stepweave.nodes.agent import Agent
from tests.unit.agents.visits import VisitPlayer, agent_node, tool
from tests.unit.agents.work import RecordingWork

WHICH = {
    "question": "Which version?",
    "options": [{"label": "v1 (prod)", "value": "v1"}, {"label": "v2", "value": "v2"}],
    "allowCustom": True,
    "placeholder": "or another",
    "multiple": False,
}


def test_an_agent_asks_and_goes_on_with_the_answer() -> None:
    node = agent_node([{"thinking": "hm "}, {"ask": WHICH}], [{"text": "using $answer"}])
    player = VisitPlayer(Agent(), node, answer=lambda question: question.options[1].value)
    outcome = player.play()
    assert outcome.envelope["data"] == {"result": "using v2"}
    [(_, question)] = player.asked
    assert question == Question(
        "Which version?", (Option("v1 (prod)", "v1"), Option("v2", "v2")), allow_custom=True, placeholder="or another"
    )


def test_the_call_is_told_before_the_question_and_its_result_is_the_engines_to_tell() -> None:
    player = VisitPlayer(Agent(), agent_node([{"ask": WHICH}], [{"text": "ok"}]))
    player.invoke()
    assert player.works[0].kinds() == ["step", "tool_call"]
    assert player.works[0].tool_names[-1] == "clarify"
    player.play()
    assert "tool_result" not in player.kinds()


def test_log_and_trace_hold_the_call_the_question_and_the_answer() -> None:
    outcome = VisitPlayer(Agent(), agent_node([{"ask": WHICH}], [{"text": "ok"}]), answer=lambda _: "v1").play()
    entries = [(entry["type"], entry["message"]) for entry in outcome.logs]
    assert entries[1:4] == [("TOOL_CALL", "clarify"), ("CLARIFY", "Which version?"), ("TOOL_RESULT", "clarify")]
    assert outcome.logs[3]["detail"] == "v1"
    [call] = outcome.envelope["trace"]["tool_calls"]
    assert (call["name"], call["args"]["question"], call["result"], call["success"]) == (
        "clarify",
        "Which version?",
        "v1",
        True,
    )


def test_several_questions_of_one_turn_are_asked_one_after_the_other_and_each_gets_its_answer() -> None:
    turn = [{"ask": {"question": "A?"}}, tool("todo", todos=[]), {"ask": {"question": "B?"}}]
    node = agent_node(turn, [{"text": "done"}], tools=["todo"])
    player = VisitPlayer(Agent(), node, answer=lambda question: f"to {question.question}")
    outcome = player.play()
    assert [question.question for _, question in player.asked] == ["A?", "B?"]
    assert len({key for key, _ in player.asked}) == 2
    calls = outcome.envelope["trace"]["tool_calls"]
    assert [(call["name"], call["result"]) for call in calls] == [
        ("todo", {"todos": 0, "completed": 0}),
        ("clarify", "to A?"),
        ("clarify", "to B?"),
    ]
    assert [kind for kind in player.kinds() if kind == "tool_call"] == ["tool_call"] * 3
    assert player.streamed("step") == ['{"iteration": 1}', '{"iteration": 2}']


def test_the_model_gets_the_answers_of_a_turn_together() -> None:
    node = agent_node(
        [{"ask": {"question": "A?"}}, {"ask": {"question": "B?"}}], [{"text": "$answer"}], instructions="", prompt="p"
    )
    player = VisitPlayer(Agent(), node, answer=lambda question: question.question * 2)
    assert player.play().envelope["data"] == {"result": "B?B?"}


def test_questions_of_turns_that_follow_each_other_have_keys_of_their_own() -> None:
    turns = [[{"ask": {"question": f"{n}?"}}] for n in range(3)]
    answers = iter(["one", "two", "three"])
    player = VisitPlayer(Agent(), agent_node(*turns, [{"text": "$answer"}]), answer=lambda _: next(answers))
    outcome = player.play()
    assert len({key for key, _ in player.asked}) == 3
    assert [call["result"] for call in outcome.envelope["trace"]["tool_calls"]] == ["one", "two", "three"]
    assert outcome.envelope["data"] == {"result": "three"}


def test_an_answer_of_several_choices_reaches_the_model_and_the_trace_as_a_list() -> None:
    ask = {**WHICH, "multiple": True}
    outcome = VisitPlayer(
        Agent(), agent_node([{"ask": ask}], [{"text": "$answer"}]), answer=lambda _: ["v1", "v2"]
    ).play()
    assert outcome.envelope["trace"]["tool_calls"][0]["result"] == ["v1", "v2"]
    assert outcome.envelope["data"] == {"result": '["v1", "v2"]'}


@pytest.mark.parametrize(
    "ask",
    [
        {"question": " "},
        {"question": "x" * 5000},
        {"question": "q", "options": [{"label": ""}]},
        {"question": "q", "options": [{"label": "a"}] * 51},
    ],
)
def test_a_question_that_cannot_be_asked_is_told_to_the_model_and_to_nobody_else(ask: dict[str, Any]) -> None:
    player = VisitPlayer(Agent(), agent_node([tool("clarify", **ask)], [{"text": "sorry"}]))
    outcome = player.play()
    assert player.asked == []
    [call] = outcome.envelope["trace"]["tool_calls"]
    assert (call["name"], call["success"]) == ("clarify", False)
    assert player.kinds().count("tool_result") == 1


def test_options_may_be_plain_words() -> None:
    player = VisitPlayer(Agent(), agent_node([tool("clarify", question="q", options=["a", "b"])], [{"text": "ok"}]))
    player.play()
    assert player.asked[0][1].options == (Option("a", "a"), Option("b", "b"))


def test_an_answer_is_told_to_the_model_once_though_the_provider_fails_after_it() -> None:
    node = agent_node(
        [tool("todo", todos=[]), {"ask": {"question": "A?"}}],
        [{"thinking": "so "}, {"error": "overloaded", "retryable": True}, {"text": "$answer"}],
        tools=["todo"],
    )
    player = VisitPlayer(Agent(), node)
    outcome = player.play()
    assert outcome.envelope["data"] == {"result": "yes"}
    assert len(player.asked) == 1
    assert [call["name"] for call in outcome.envelope["trace"]["tool_calls"]] == ["todo", "clarify"]
    assert outcome.envelope["trace"]["thinking"] == "so yes"
    assert [entry["message"] for entry in outcome.logs if entry["type"] == "ERROR"] == ["overloaded"]


def test_waiting_for_a_person_does_not_count_as_work() -> None:
    def work() -> RecordingWork:
        made = RecordingWork()
        made.clock.monotonic_seconds = 1_000_000.0 * (len(player.works) + 1)  # days have passed
        return made

    player = VisitPlayer(Agent(), agent_node([{"ask": WHICH}], [{"text": "ok"}], timeoutSeconds=3600), work=work)
    outcome = player.play()
    assert outcome.status == "SUCCESS"
    assert outcome.envelope["metadata"]["durationMs"] < 100_000


def test_work_before_a_question_counts_against_the_time_limit() -> None:
    player = VisitPlayer(Agent(), agent_node([{"ask": WHICH}], [{"delayMs": 5000}, {"text": "ok"}], timeoutSeconds=1.2))
    assert isinstance(player.invoke(), Asked)
    assert player.saved["seconds"] == 1  # the clock of these tests moves on by a second at each look
    outcome = player.play()
    assert outcome.error is not None
    assert "timeoutSeconds" in outcome.error


def test_an_agent_that_does_not_ask_or_use_tools_saves_nothing() -> None:
    player = VisitPlayer(Agent(), agent_node([{"text": "ok"}]))
    player.play()
    assert player.works[0].saves == []


# The platform's time


class Countdown:
    """Gives the seconds left, one look after the other; the last for ever."""

    def __init__(self, *seconds: float) -> None:
        self._seconds = list(seconds)

    def __call__(self) -> float:
        return self._seconds.pop(0) if len(self._seconds) > 1 else self._seconds[0]


def test_an_agent_near_the_time_limit_goes_on_in_the_next_invocation() -> None:
    turns = [[{"thinking": f"{n} "}, tool("todo", todos=[])] for n in range(4)]
    clocks = iter([Countdown(900, 100), Countdown(900, 800, 100), Countdown(900)])
    player = VisitPlayer(
        Agent(),
        agent_node(*turns, [{"text": "end"}], tools=["todo"]),
        work=lambda: RecordingWork(seconds_left=next(clocks)),
    )
    first = player.invoke()
    assert isinstance(first, Unfinished)
    assert player.works[0].saves == []  # the engine stores the state with the hand-over
    outcome = player.play()
    assert outcome.envelope["trace"]["thinking"] == "0 1 2 3 end" == "".join(player.streamed())
    assert len(outcome.envelope["trace"]["tool_calls"]) == 4
    assert player.streamed("step") == [f'{{"iteration": {n}}}' for n in range(1, 6)]
    assert outcome.envelope["metadata"]["steps"] == 5


def test_a_turn_that_does_not_fit_into_the_time_left_is_made_again_in_the_next_invocation() -> None:
    clocks = iter([Countdown(900, 5), Countdown(900)])
    player = VisitPlayer(
        Agent(),
        agent_node([{"thinking": "slow "}, {"delayMs": 400}, {"text": "done"}]),
        work=lambda: RecordingWork(seconds_left=next(clocks)),
    )
    outcome = player.play()
    assert len(player.works) == 2
    assert outcome.envelope["data"] == {"result": "done"}
    assert "".join(player.streamed()) == outcome.envelope["trace"]["thinking"] == "slow slow done"


def test_a_turn_that_never_fits_ends_the_node_instead_of_going_on_for_ever() -> None:
    player = VisitPlayer(
        Agent(),
        agent_node([{"thinking": "slow "}, {"delayMs": 5000}]),
        work=lambda: RecordingWork(seconds_left=Countdown(900, 5)),
    )
    outcome = player.play()
    assert len(player.works) == 2
    assert (outcome.status, outcome.retryable) == ("FAILED", False)
    assert outcome.error is not None
    assert "时间限制" in outcome.error


def test_usage_is_counted_once_over_invocations() -> None:
    turns = [[{"thinking": "12345678"}, {"ask": {"question": "?"}}], [{"text": "1234"}]]
    interrupted = VisitPlayer(Agent(), agent_node(*turns)).play()
    assert isinstance(interrupted, Outcome)
    written = interrupted.envelope["metadata"]["usage"]["outputTokens"]
    question = len("clarify") + len('{"question": "?"}')
    assert written == -(-(8 + question) // 4) + 1
