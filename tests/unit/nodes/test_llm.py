from typing import Any

import pytest

from stepweave.agents.models import ModelSettings
from stepweave.execution.outcome import Outcome
from stepweave.execution.work import RunEnded
from stepweave.graph.model import Node
from stepweave.graph.spec import Field, NodeSpec
from stepweave.nodes.llm import Llm
from tests.builders.scopes import WrittenScope
from tests.functional.openai_server import fails, openai_server, says
from tests.unit.agents.work import ModelsOf, RecordingWork


def node(**data: Any) -> Node:
    return Node(id="write", type="llm", data={"model": "scripted:inline", "userPrompt": "p", **data})


def run(
    *steps: dict[str, Any], scope: WrittenScope | None = None, work: RecordingWork | None = None, **data: Any
) -> Outcome:
    return Llm().run(node(script=[list(steps)], **data), scope or WrittenScope(), work or RecordingWork())


def output(name: str, kind: str = "string", description: str = "") -> dict[str, str]:
    return {"name": name, "type": kind, "description": description}


def messages(outcome: Outcome, kind: str) -> list[str]:
    return [entry["message"] for entry in outcome.logs if entry["type"] == kind]


def problems(**data: Any) -> list[str]:
    return [problem.message.en for problem in Llm().problems(Node(id="n", type="llm", data=data))]


# What is saved


def test_an_llm_is_a_step_of_its_own_and_does_not_route() -> None:
    assert (Llm().light, Llm().chain) == (False, "llm")
    spec: NodeSpec = Llm()
    assert spec.handles(node()) is None


def test_its_output_is_result_or_what_it_declares() -> None:
    assert Llm().outputs(node()) == (Field("result"),)
    declared = [output("title"), output("score", "number", "0 to 1")]
    assert Llm().outputs(node(outputs=declared)) == (Field("title"), Field("score", "number", description="0 to 1"))


def test_good_data_has_no_problems() -> None:
    assert problems(model="openai:gpt-5", userPrompt="p") == []
    assert (
        problems(
            model="scripted:inline",
            systemPrompt="s",
            userPrompt="{{topic}}",
            temperature=0,
            maxTokens=1,
            contextTools=True,
            script=[[{"text": "a"}]],
        )
        == []
    )


def test_a_script_is_looked_at_only_where_it_is_played() -> None:
    assert problems(model="openai:gpt-5", script="left over") == []


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ({}, 'node "n": data.model is missing and is needed'),
        ({"model": "gpt-5"}, 'node "n": data.model must have the form provider:model'),
        ({"model": "google:x"}, 'node "n": data.model has the provider google, which does not exist'),
        ({"model": "scripted:x"}, 'node "n": data.model must be scripted:inline'),
        ({"model": "scripted:inline"}, 'node "n": data.script must be an array of turns'),
        ({"model": "scripted:inline", "script": [[{"say": 1}]]}, 'node "n": data.script[0][0] must be an object'),
        ({"model": "openai:x", "temperature": 3}, 'node "n": data.temperature must be at most 2'),
        ({"model": "openai:x", "maxTokens": 0}, 'node "n": data.maxTokens must be at least 1'),
        ({"model": "openai:x", "maxTokens": "9"}, 'node "n": data.maxTokens must be a whole number'),
        ({"model": "openai:x", "userPrompt": 5}, 'node "n": data.userPrompt must be a string'),
        ({"model": "openai:x", "contextTools": "yes"}, 'node "n": data.contextTools must be true or false'),
    ],
)
def test_bad_data_is_told_with_its_place(data: dict[str, Any], words: str) -> None:
    [problem] = problems(**data)
    assert problem.startswith(words)


def test_all_problems_of_the_data_are_told() -> None:
    found = problems(model="gpt", temperature="hot", maxTokens=-1, systemPrompt=[])
    assert len(found) == 4


# What it gives


def test_the_answer_is_the_result_in_an_envelope() -> None:
    outcome = run({"thinking": "hm "}, {"text": "an"}, {"text": "swer"})
    assert (outcome.status, outcome.error, outcome.retryable) == ("SUCCESS", None, False)
    assert outcome.envelope == {
        "status": 200,
        "message": "调用成功",
        "data": {"result": "answer"},
        "trace": {"thinking": "hm answer", "tool_calls": []},
        "metadata": {
            "model": "scripted:inline",
            "usage": {"inputTokens": 1, "outputTokens": 3},
            "durationMs": outcome.envelope["metadata"]["durationMs"],
            "attempts": 1,
        },
    }
    assert outcome.envelope["metadata"]["durationMs"] > 0


def test_stored_texts_are_in_the_language_of_the_run() -> None:
    assert run({"text": "a"}, work=RecordingWork(language="en")).envelope["message"] == "called"
    assert run(work=RecordingWork(language="en"), userPrompt=" ").error == "the user prompt is empty"


def test_both_prompts_are_rendered_and_what_they_used_is_kept() -> None:
    scope = WrittenScope({"first": {"found": ["a"]}}, {"topic": "大语言模型"})
    outcome = run(
        {"text": "$system / $prompt"},
        scope=scope,
        systemPrompt="about {{topic}}",
        userPrompt="use {{first.found}} \\{{topic}}",
    )
    assert outcome.envelope["data"] == {"result": 'about 大语言模型 / use ["a"] {{topic}}'}
    assert outcome.variables == {"topic": "大语言模型", "first.found": ["a"]}


def test_a_declared_name_takes_the_place_of_result() -> None:
    assert run({"text": "a"}, outputs=[output("verdict")]).envelope["data"] == {"verdict": "a"}


@pytest.mark.parametrize(
    ("kind", "answer", "value"),
    [("number", " 3.5 ", 3.5), ("number", "7", 7), ("boolean", "true", True), ("array", "```json\n[1]\n```", [1])],
)
def test_a_single_output_that_is_no_string_is_converted(kind: str, answer: str, value: Any) -> None:
    outcome = run({"text": answer}, outputs=[output("it", kind)])
    assert outcome.envelope["data"] == {"it": value}
    assert messages(outcome, "WARN") == []


def test_several_outputs_are_read_out_of_the_answer() -> None:
    declared = [output("title"), output("score", "number"), output("tags", "array")]
    outcome = run({"text": 'Sure: {"title": "x", "score": "3.5"}'}, outputs=declared)
    assert outcome.envelope["data"] == {"title": "x", "score": 3.5, "tags": None}
    [warning] = messages(outcome, "WARN")
    assert '"tags"' in warning


def test_an_answer_that_cannot_be_read_goes_to_the_first_output_whole() -> None:
    outcome = run({"text": "no idea"}, outputs=[output("title"), output("score", "number")])
    assert outcome.status == "SUCCESS"
    assert outcome.envelope["data"]["title"] == "no idea"
    assert messages(outcome, "WARN") != []


def test_the_script_sees_the_prompt_without_the_instruction_for_several_outputs() -> None:
    outcome = run({"text": "$prompt"}, outputs=[output("title"), output("score")])
    assert outcome.envelope["data"]["title"] == "p"


def test_a_provider_gets_the_instruction_at_the_end_of_the_prompt() -> None:
    declared = [output("title", description="a headline"), output("score", "number")]
    with openai_server(says('{"title": "x", ', '"score": 2}')) as server:
        work = RecordingWork(models=ModelsOf(ModelSettings(openai_base_url=server.base_url)))
        outcome = Llm().run(
            node(model="openai:m", outputs=declared, temperature=0.5, maxTokens=9), WrittenScope(), work
        )
    assert outcome.envelope["data"] == {"title": "x", "score": 2}
    [sent] = server.requests
    prompt = sent["messages"][-1]["content"]
    assert prompt.startswith("p\n")
    assert "title (string): a headline" in prompt
    assert (sent["temperature"], sent["max_tokens"]) == (0.5, 9)


# What is told on the way


def test_the_log_tells_warnings_steps_and_thinking_in_their_order() -> None:
    outcome = run({"thinking": "hm "}, {"text": "a"}, userPrompt="p{{ghost}}", outputs=[output("it", "number")])
    assert [entry["type"] for entry in outcome.logs] == ["WARN", "STEP", "THINKING", "WARN"]
    assert messages(outcome, "THINKING") == ["hm a"]
    stamps = [entry["timestamp"] for entry in outcome.logs]
    assert None not in stamps
    assert stamps == sorted(stamps)


def test_what_streams_is_what_the_trace_keeps() -> None:
    work = RecordingWork()
    outcome = run({"thinking": "a"}, {"text": "b"}, {"thinking": "c"}, {"text": "d"}, work=work)
    assert "".join(work.streamed()) == outcome.envelope["trace"]["thinking"] == "abcd"


def test_a_long_trace_is_cut_and_the_answer_is_not() -> None:
    outcome = run({"text": "x" * 100}, work=RecordingWork(trace_limit=10))
    assert outcome.envelope["trace"] == {"thinking": "x" * 10, "tool_calls": [], "truncated": True}
    assert outcome.envelope["data"] == {"result": "x" * 100}


def test_attempts_count_those_that_failed_before() -> None:
    outcome = run({"error": "e", "retryable": True}, {"text": "fine"}, work=RecordingWork(tries=1))
    assert outcome.envelope["data"] == {"result": "fine"}
    assert outcome.envelope["metadata"]["attempts"] == 2


# How it fails


@pytest.mark.parametrize("prompt", ["", "  \n", "{{missing}}"])
def test_a_blank_prompt_fails_before_the_model_is_called(prompt: str) -> None:
    work = RecordingWork()
    outcome = run({"text": "never"}, work=work, userPrompt=prompt)
    assert (outcome.status, outcome.error, work.events) == ("FAILED", "用户提示词为空", [])
    assert outcome.envelope["message"] == "用户提示词为空"
    assert messages(outcome, "ERROR") == ["用户提示词为空"]


@pytest.mark.parametrize("steps", [[], [{"text": " \n"}], [{"thinking": "only thoughts"}]])
def test_a_blank_answer_fails(steps: list[dict[str, Any]]) -> None:
    outcome = run(*steps)
    assert (outcome.status, outcome.error, outcome.retryable) == ("FAILED", "LLM 返回空结果", False)


def test_every_precondition_that_fails_is_told_and_the_model_is_not_called() -> None:
    work = RecordingWork()
    inputs = [
        {"name": "first", "type": "string", "required": True},
        {"name": "second", "type": "number", "required": True},
    ]
    outcome = run({"text": "never"}, scope=WrittenScope(inputs={"second": "many"}), work=work, inputs=inputs)
    assert outcome.status == "FAILED"
    assert outcome.error is not None
    assert '"first"' in outcome.error
    assert '"second"' in outcome.error
    assert work.events == []


def test_a_failure_of_the_provider_is_told_in_its_words_with_the_trace_up_to_it() -> None:
    outcome = run({"thinking": "hm"}, {"error": "model overloaded", "retryable": True})
    assert (outcome.status, outcome.error, outcome.retryable) == ("FAILED", "model overloaded", True)
    assert outcome.envelope["status"] == 400
    assert outcome.envelope["data"] == {}
    assert outcome.envelope["trace"] == {"thinking": "hm", "tool_calls": []}
    assert outcome.envelope["metadata"]["usage"] == {"inputTokens": 0, "outputTokens": 0}
    assert messages(outcome, "ERROR") == ["model overloaded"]


def test_a_script_that_runs_out_fails_the_node_in_words() -> None:
    outcome = Llm().run(node(script=[]), WrittenScope(), RecordingWork())
    assert outcome.error is not None
    assert "脚本已经用完" in outcome.error


def test_a_throttled_provider_is_worth_another_attempt_and_a_refusal_is_not() -> None:
    with openai_server(fails(429, "slow down"), fails(400, "too long")) as server:
        work = RecordingWork(models=ModelsOf(ModelSettings(openai_base_url=server.base_url)))
        first, second = (Llm().run(node(model="openai:m"), WrittenScope(), work) for _ in range(2))
    assert (first.error, first.retryable) == ("模型服务出错（HTTP 429）：slow down", True)
    assert (second.error, second.retryable) == ("模型服务出错（HTTP 400）：too long", False)


def test_an_answer_cut_at_its_length_succeeds_with_a_warning() -> None:
    with openai_server(says("half", finish_reason="length")) as server:
        work = RecordingWork(models=ModelsOf(ModelSettings(openai_base_url=server.base_url)))
        outcome = Llm().run(node(model="openai:m"), WrittenScope(), work)
    assert outcome.envelope["data"] == {"result": "half"}
    assert messages(outcome, "WARN") == ["回答在 maxTokens 处被截断"]


def test_a_node_that_takes_longer_than_its_timeout_fails() -> None:
    outcome = run({"delayMs": 20000}, {"text": "late"}, timeoutSeconds=0.1)
    assert outcome.status == "FAILED"
    assert outcome.error is not None
    assert "timeoutSeconds" in outcome.error


def test_a_run_that_has_ended_stops_the_node() -> None:
    with pytest.raises(RunEnded):
        run({"text": "a"}, {"delayMs": 20000}, work=RecordingWork(ends_at_tick=1))
