import asyncio
from typing import Any

import pytest
from pydantic_ai import Agent
from pydantic_ai.messages import (
    ModelMessage,
    ModelMessagesTypeAdapter,
    ModelRequest,
    ModelResponse,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models import ModelRequestParameters

from stepweave.agents.request import ModelRefused
from stepweave.agents.script import Play
from stepweave.agents.scripted import ScriptedModel, tokens

ASKED = ModelRequest(parts=[UserPromptPart("prompt")])


def answer(script: Any, *history: ModelMessage, **play: Any) -> ModelResponse:
    model = ScriptedModel(Play(script, **{"prompt": "prompt", **play}))
    return asyncio.run(model.request([ASKED, *history], None, ModelRequestParameters()))


def said(*parts: Any) -> ModelResponse:
    return ModelResponse(parts=list(parts))


def returned(tool: str, content: Any) -> ModelRequest:
    return ModelRequest(parts=[ToolReturnPart(tool_name=tool, content=content, tool_call_id="call-1-1")])


def text_of(response: ModelResponse) -> str:
    return "".join(part.content for part in response.parts if isinstance(part, TextPart))


def test_neighbouring_steps_of_a_kind_make_one_part() -> None:
    steps = [
        {"thinking": "a"},
        {"thinking": "b"},
        {"text": "c"},
        {"text": "d"},
        {"thinking": "e"},
    ]
    parts = answer([steps]).parts
    assert [(type(part), getattr(part, "content", None)) for part in parts] == [
        (ThinkingPart, "ab"),
        (TextPart, "cd"),
        (ThinkingPart, "e"),
    ]


def test_the_turn_is_told_by_the_responses_in_the_history_whatever_process_made_them() -> None:
    script = [[{"text": "one"}], [{"text": "two"}], [{"text": "three"}]]
    history = ModelMessagesTypeAdapter.validate_json(
        ModelMessagesTypeAdapter.dump_json([said(TextPart("one")), ASKED, said(TextPart("two")), ASKED])
    )
    assert text_of(answer(script)) == "one"
    assert text_of(answer(script, *history)) == "three"


def test_tool_result_and_answer_of_the_person_are_the_last_ones() -> None:
    history = (
        said(ToolCallPart("read_file", {})),
        returned("read_file", {"path": "a"}),
        said(ToolCallPart("clarify", {})),
        returned("clarify", "v2.0"),
        said(ToolCallPart("read_file", {})),
        returned("read_file", {"path": "好", "size": 3}),
    )
    script = [[], [], [], [{"text": "$tool / $answer"}]]
    assert text_of(answer(script, *history)) == '{"path": "好", "size": 3} / v2.0'


def test_an_answer_of_several_choices_is_their_json() -> None:
    history = (said(ToolCallPart("clarify", {})), returned("clarify", ["a", "好"]))
    assert text_of(answer([[], [{"text": "$answer"}]], *history)) == '["a", "好"]'


def test_before_there_is_a_tool_result_or_an_answer_both_are_empty() -> None:
    assert text_of(answer([[{"text": "<$tool$answer>"}]])) == "<>"


def test_prompt_and_system_prompt_are_those_of_the_node_not_those_of_the_request() -> None:
    response = answer([[{"text": "$prompt|$system"}]], prompt="as rendered", system="be brief")
    assert text_of(response) == "as rendered|be brief"


def test_what_is_put_in_is_not_looked_at_again() -> None:
    assert text_of(answer([[{"text": "$prompt"}]], prompt="pay $system", system="secret")) == "pay $system"


def test_a_decision_is_said_as_json() -> None:
    response = answer([[{"decide": {"next": "node-3", "reason": "好", "isFinal": False}}]])
    assert text_of(response) == '{"next": "node-3", "reason": "好", "isFinal": false}'


def test_calls_of_tools_carry_ids_that_are_the_same_in_every_attempt() -> None:
    script = [
        [
            {"text": "$prompt"},
            {"tool": {"name": "write_file", "args": {"text": "$prompt"}}},
            {"ask": {"question": "Which?", "multiple": True}},
            {"todo": [{"text": "t", "status": "done"}]},
            {"tool": {"name": "list_files"}},
        ]
    ]
    calls = answer(script).tool_calls
    assert [(call.tool_name, call.args_as_dict(), call.tool_call_id) for call in calls] == [
        ("write_file", {"text": "prompt"}, "call-1-2"),
        ("clarify", {"question": "Which?", "multiple": True}, "call-1-3"),
        ("todo", {"todos": [{"text": "t", "status": "done"}]}, "call-1-4"),
        ("list_files", {}, "call-1-5"),
    ]


def test_a_tool_that_the_agent_has_is_called_like_by_any_model() -> None:
    script: list[list[dict[str, Any]]] = [
        [{"tool": {"name": "add", "args": {"a": 1, "b": 2}}}],
        [{"text": "sum $tool"}],
    ]
    agent = Agent(ScriptedModel(Play(script, "p")))

    @agent.tool_plain
    def add(a: int, b: int) -> int:
        return a + b

    assert asyncio.run(agent.run("p")).output == "sum 3"


def test_an_error_step_fails_the_request_with_its_own_words() -> None:
    with pytest.raises(ModelRefused) as raised:
        answer([[{"text": "a"}, {"error": "model overloaded", "retryable": True}]])
    assert (raised.value.failure.text.zh, raised.value.failure.retryable) == ("model overloaded", True)


def test_an_error_is_worth_another_attempt_only_when_the_script_says_so() -> None:
    with pytest.raises(ModelRefused) as raised:
        answer([[{"error": "no $prompt"}]])
    assert (raised.value.failure.text.zh, raised.value.failure.retryable) == ("no $prompt", False)


@pytest.mark.parametrize(("tries", "expected"), [(1, "b"), (2, "c"), (3, "c")])
def test_the_next_attempt_goes_on_after_the_error_it_failed_at(tries: int, expected: str) -> None:
    errors = {"error": "throttled", "retryable": True}
    script = [[{"text": "a"}, errors, {"text": "b"}, errors, {"text": "c"}]]
    if expected == "b":
        with pytest.raises(ModelRefused):
            answer(script, tries=tries)
    else:
        assert text_of(answer(script, tries=tries)) == expected


def test_errors_of_earlier_turns_count_before_those_of_later_ones() -> None:
    error = {"error": "throttled", "retryable": True}
    script = [[error, {"text": "one"}], [{"text": "two"}, error, {"text": "three"}]]
    assert text_of(answer(script, tries=1)) == "one"
    with pytest.raises(ModelRefused):
        answer(script, said(TextPart("one")), ASKED, tries=1)
    assert text_of(answer(script, said(TextPart("one")), ASKED, tries=2)) == "three"


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ([], ("第 1 次请求模型，而脚本只有 0 轮", "request 1 to the model, and the script has 0 turns")),
        (
            [[{"text": "one"}]],
            ("第 2 次请求模型，而脚本只有 1 轮", "request 2 to the model, and the script has 1 turn"),
        ),
    ],
)
def test_a_script_that_runs_out_says_so(script: list[list[dict[str, Any]]], words: tuple[str, str]) -> None:
    history: list[ModelMessage] = [said(TextPart("one")), ASKED] if script else []
    with pytest.raises(ModelRefused) as raised:
        answer(script, *history)
    failure = raised.value.failure
    assert words[0] in failure.text.zh
    assert failure.text.en.endswith(words[1])
    assert not failure.retryable


def test_an_empty_turn_answers_nothing() -> None:
    assert answer([[]]).parts == []


def test_usage_counts_four_characters_a_token_both_ways() -> None:
    usage = answer([[{"thinking": "1234"}, {"text": "5"}]], system="abc").usage
    assert (usage.input_tokens, usage.output_tokens) == (tokens(len("abc" + "prompt")), 2)


def test_what_was_said_and_returned_before_is_read_again_with_each_request() -> None:
    history = (
        said(ThinkingPart("think"), TextPart("text"), ToolCallPart("tool", {"a": 1})),
        returned("tool", "result"),
    )
    characters = len("prompt" + "think" + "text" + "tool" + '{"a":1}' + "result")
    assert answer([[], [{"text": "a"}]], *history).usage.input_tokens == tokens(characters)
