import time
from collections.abc import Callable
from typing import Any

import pytest
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

from stepweave.agents.loop import run_loop
from stepweave.agents.models import ModelSettings, OpenedModel
from stepweave.agents.request import LoopRequest, LoopResult
from stepweave.errors import Superseded
from stepweave.execution.work import RunEnded
from stepweave.graph.spec import Field
from tests.functional.openai_server import OpenAIServer, Reply, fails, openai_server, says
from tests.unit.agents.work import ModelsOf, RecordingWork

KEY = "sk-very-secret"


def play(*turns: list[dict[str, Any]], work: RecordingWork | None = None, **rest: Any) -> LoopResult:
    request = LoopRequest("scripted:inline", **{"prompt": "hello", "script": list(turns), **rest})
    return run_loop(request, work or RecordingWork())


def work_with(server: OpenAIServer, **rest: Any) -> RecordingWork:
    settings = ModelSettings(openai_base_url=server.base_url, openai_api_key=KEY, read_timeout_seconds=0.5)  # type: ignore[arg-type]
    return RecordingWork(models=ModelsOf(settings), **rest)


def ask(server: OpenAIServer, work: RecordingWork | None = None, **rest: Any) -> LoopResult:
    return run_loop(LoopRequest("openai:small", **{"prompt": "hello", **rest}), work or work_with(server))


def seconds_of(action: Callable[[], Any]) -> float:
    begin = time.perf_counter()
    action()
    return time.perf_counter() - begin


def test_thoughts_and_text_stream_in_their_order_and_only_text_is_the_answer() -> None:
    work = RecordingWork()
    result = play([{"thinking": "hm "}, {"text": "a"}, {"thinking": "no "}, {"text": "b"}], work=work)
    assert work.streamed() == ["hm ", "a", "no ", "b"]
    assert (result.text, result.thinking, result.failure) == ("ab", "hm ano b", None)


def test_each_request_is_told_as_a_step_before_what_it_streams() -> None:
    work = RecordingWork()
    play([{"text": "a"}, {"tool": {"name": "unknown", "args": {}}}], [{"text": "b"}], work=work)
    assert work.events == [
        ("step", '{"iteration": 1}', {"iteration": 1}),
        ("thinking", "a", None),
        ("step", '{"iteration": 2}', {"iteration": 2}),
        ("thinking", "b", None),
    ]


def test_the_log_has_one_thinking_entry_for_each_unbroken_stretch_timed_by_its_beginning() -> None:
    result = play([{"thinking": "a"}, {"text": "b"}, {"tool": {"name": "unknown"}}], [{"thinking": "c"}, {"text": "d"}])
    assert [(entry["type"], entry["message"]) for entry in result.logs] == [
        ("STEP", "第 1 轮模型调用"),
        ("THINKING", "ab"),
        ("STEP", "第 2 轮模型调用"),
        ("THINKING", "cd"),
    ]
    assert [entry["timestamp"] for entry in result.logs] == [f"2026-01-01T00:00:0{n}.000Z" for n in (1, 2, 3, 4)]


def test_words_of_the_log_are_in_the_language_of_the_run() -> None:
    assert play([{"text": "a"}], work=RecordingWork(language="en")).logs[0]["message"] == "model request 1"


def test_the_answer_is_that_of_the_last_turn() -> None:
    assert play([{"text": "first"}, {"tool": {"name": "unknown"}}], [{"text": "last"}]).text == "last"


def test_an_answer_without_text_is_not_asked_for_again() -> None:
    work = RecordingWork()
    result = play([{"thinking": "only"}], [{"text": "never"}], work=work)
    assert (result.text, result.thinking, work.streamed("step")) == ("", "only", ['{"iteration": 1}'])


def test_a_failure_keeps_what_was_streamed_up_to_it_and_costs_nothing() -> None:
    result = play([{"thinking": "12345"}, {"error": "overloaded", "retryable": True}])
    assert result.failure is not None
    assert (result.failure.text.zh, result.failure.retryable) == ("overloaded", True)
    assert (result.text, result.thinking) == ("", "12345")
    assert result.usage == {"inputTokens": 0, "outputTokens": 0}


def test_a_run_that_ends_while_the_model_is_silent_stops_the_call_at_once() -> None:
    def stopped() -> None:
        with pytest.raises(RunEnded):
            play([{"text": "a"}, {"delayMs": 20000}], work=RecordingWork(ends_at_tick=2))

    assert seconds_of(stopped) < 5


@pytest.mark.parametrize("raised", [RunEnded(), Superseded("overtaken")])
def test_what_an_emit_raises_reaches_the_caller_and_nothing_more_is_streamed(raised: Exception) -> None:
    work = RecordingWork(ends_at_event=2, raises=raised)
    with pytest.raises(type(raised)):
        play([{"text": "a"}, {"text": "b"}], work=work)
    assert work.streamed() == ["a"]


def test_while_the_model_is_silent_what_was_gathered_is_still_written() -> None:
    work = RecordingWork()
    play([{"text": "a"}, {"delayMs": 400}, {"text": "b"}], work=work)
    assert work.ticks >= 3


def test_a_node_that_takes_too_long_fails_with_its_limit_in_the_text() -> None:
    result = play([{"text": "a"}, {"delayMs": 20000}], timeout=0.2)
    assert result.failure is not None
    assert "0.2" in result.failure.text.zh
    assert "timeoutSeconds" in result.failure.text.en
    assert not result.failure.retryable
    assert result.thinking == "a"


def test_a_fault_of_ours_is_raised_and_not_taken_for_the_providers() -> None:
    class Broken:
        def open(self, name: str, play: Any) -> Any:
            raise LookupError("ours")

    with pytest.raises(LookupError):
        play([], work=RecordingWork(models=Broken()))


def test_deltas_and_usage_of_a_compatible_server_are_taken_over() -> None:
    with openai_server(says("a", "b", "c", usage=(7, 11))) as server:
        work = work_with(server)
        result = ask(server, work, system="be brief", instruction=" as JSON", temperature=0.25, max_tokens=64)
    assert work.streamed() == ["a", "b", "c"]
    assert (result.text, result.usage) == ("abc", {"inputTokens": 7, "outputTokens": 11})
    [sent] = server.requests
    assert [(message["role"], message["content"]) for message in sent["messages"]] == [
        ("system", "be brief"),
        ("user", "hello as JSON"),
    ]
    assert (sent["model"], sent["temperature"], sent["max_tokens"]) == ("small", 0.25, 64)
    assert "response_format" not in sent
    assert server.keys == [KEY]


def test_reasoning_of_a_compatible_server_is_thinking_and_not_part_of_the_answer() -> None:
    reply = Reply(deltas=({"reasoning_content": "let me "}, {"reasoning_content": "see. "}, {"content": "42"}))
    with openai_server(reply) as server:
        result = ask(server)
    assert (result.thinking, result.text) == ("let me see. 42", "42")


def test_an_answer_that_the_provider_cut_is_told() -> None:
    with openai_server(says("half", finish_reason="length")) as server:
        result = ask(server)
    assert result.text == "half"
    assert result.cut_short is not None
    assert "maxTokens" in result.cut_short.en


def test_a_throttled_call_is_one_request_and_worth_another_attempt() -> None:
    with openai_server(fails(429, "slow down"), says("ok")) as server:
        first = ask(server)
        assert len(server.requests) == 1
        second = ask(server)
    assert first.failure is not None
    assert (first.failure.retryable, first.failure.text.zh) == (True, "模型服务出错（HTTP 429）：slow down")
    assert second.text == "ok"


@pytest.mark.parametrize(
    ("status", "retryable"),
    [
        *((status, False) for status in (400, 401, 403, 404, 422)),
        *((status, True) for status in (408, 429, 500, 502, 503, 529)),
    ],
)
def test_only_what_may_pass_by_itself_is_worth_another_attempt(status: int, retryable: bool) -> None:
    with openai_server(fails(status, "sorry")) as server:
        result = ask(server)
    assert result.failure is not None
    assert result.failure.retryable is retryable
    assert f"HTTP {status}" in result.failure.text.en
    assert "sorry" in result.failure.text.en
    assert len(server.requests) == 1


def test_a_quota_that_is_used_up_is_not_worth_another_attempt() -> None:
    with openai_server(fails(402, "pay first")) as server:
        result = ask(server)
    assert result.failure is not None
    assert not result.failure.retryable


def test_a_key_that_the_provider_quotes_stands_in_no_message() -> None:
    with openai_server(fails(401, f"bad key {KEY}!")) as server:
        result = ask(server)
    assert result.failure is not None
    assert result.failure.text.en.endswith("bad key ***!")
    assert KEY not in repr(result)


def test_a_stream_that_breaks_off_is_worth_another_attempt_and_keeps_what_it_said() -> None:
    with openai_server(says("half", end="break")) as server:
        result = ask(server)
    assert result.failure is not None
    assert result.failure.retryable
    assert (result.text, result.thinking) == ("", "half")


def test_a_stream_that_stands_still_is_given_up_after_the_read_timeout() -> None:
    with openai_server(says("half", end="stall")) as server:
        result = ask(server)
    assert result.failure is not None
    assert result.failure.retryable
    assert result.thinking == "half"


def test_a_stream_that_stands_still_is_left_at_once_when_the_run_ends() -> None:
    with openai_server(says("half", end="stall")) as server:
        work = work_with(server, ends_at_tick=3)
        work.models = ModelsOf(ModelSettings(openai_base_url=server.base_url, read_timeout_seconds=30))

        def stopped() -> None:
            with pytest.raises(RunEnded):
                ask(server, work)

        assert seconds_of(stopped) < 10


def test_a_server_that_is_not_there_is_worth_another_attempt() -> None:
    with openai_server() as server:
        pass
    result = ask(server)
    assert result.failure is not None
    assert result.failure.retryable


def test_a_missing_key_is_told_with_the_setting_to_make() -> None:
    result = run_loop(LoopRequest("openai:small", "hello"), RecordingWork())
    assert result.failure is not None
    assert "OPENAI_API_KEY" in result.failure.text.zh
    assert not result.failure.retryable


class Native:
    """A model that has a structured-output mode, at the fake server."""

    def __init__(self, server: OpenAIServer) -> None:
        self.server = server

    def open(self, name: str, play: Any) -> OpenedModel:
        provider = OpenAIProvider(base_url=self.server.base_url, api_key=KEY)
        return OpenedModel(OpenAIChatModel("small", provider=provider))


def test_a_model_with_a_structured_output_mode_is_asked_by_it_and_not_by_words() -> None:
    fields = (Field("title", description="a headline"), Field("score", "number"))
    with openai_server(says('{"title": "x", ', "not even JSON")) as server:
        work = RecordingWork(models=Native(server))
        result = ask(server, work, instruction="as JSON", fields=fields)
    [sent] = server.requests
    schema = sent["response_format"]["json_schema"]["schema"]
    assert schema["properties"] == {
        "title": {"type": "string", "description": "a headline"},
        "score": {"type": "number"},
    }
    assert schema["required"] == ["title", "score"]
    assert sent["messages"][-1]["content"] == "hello"
    assert result.text == '{"title": "x", not even JSON'


def test_free_objects_and_arrays_are_asked_for_by_words() -> None:
    with openai_server(says("{}")) as server:
        ask(
            server,
            RecordingWork(models=Native(server)),
            instruction=" as JSON",
            fields=(Field("a", "array"), Field("b")),
        )
    [sent] = server.requests
    assert "response_format" not in sent
    assert sent["messages"][-1]["content"] == "hello as JSON"
