"""Agents with a provider that speaks OpenAI's chat completions: the same road as a script, over the network."""

import json
from typing import Any

import pytest

from stepweave.agents.models import ModelSettings
from stepweave.execution.outcome import Outcome
from stepweave.graph.model import Node
from stepweave.nodes.agent import Agent
from tests.functional.openai_server import OpenAIServer, Reply, calls, fails, openai_server, says
from tests.unit.agents.visits import VisitPlayer
from tests.unit.agents.work import MemoryWorkspace, ModelsOf, RecordingWork


def player(server: OpenAIServer, answer: Any = "yes", **data: Any) -> VisitPlayer:
    settings = ModelSettings(openai_base_url=server.base_url, openai_api_key="sk-secret", read_timeout_seconds=2)  # type: ignore[arg-type]
    workspace = MemoryWorkspace()
    told = {"model": "openai:m", "instructions": "be good", "prompt": "go", "tools": ["todo", "write_file"], **data}
    return VisitPlayer(
        Agent(),
        Node(id="work", type="agent", data=told),
        answer=lambda _: answer,
        work=lambda: RecordingWork(models=ModelsOf(settings), workspace=workspace),
    )


def write(call_id: str, path: str, content: str) -> tuple[str, str, str]:
    return (call_id, "write_file", json.dumps({"path": path, "content": content}))


def tool_messages(request: dict[str, Any]) -> list[dict[str, Any]]:
    return [message for message in request["messages"] if message["role"] == "tool"]


def trace_of(outcome: Outcome) -> list[tuple[str, bool]]:
    return [(call["name"], call["success"]) for call in outcome.envelope["trace"]["tool_calls"]]


def test_calls_that_stream_in_pieces_are_made_and_their_results_go_back() -> None:
    first = calls(write("c1", "a.md", "你好"), write("c2", "b.md", "x"), text="I write. ")
    with openai_server(first, says("done")) as server:
        made = player(server)
        outcome = made.play()
        one, two = server.requests
    assert outcome.envelope["data"] == {"result": "done"}
    assert made.works[0].workspace.files == {"a.md": "你好".encode(), "b.md": b"x"}
    assert {tool["function"]["name"] for tool in one["tools"]} == {"clarify", "todo", "write_file"}
    assert [(message["tool_call_id"], json.loads(message["content"])) for message in tool_messages(two)] == [
        ("c1", {"path": "a.md", "bytes": 6}),
        ("c2", {"path": "b.md", "bytes": 1}),
    ]
    assert one["messages"][0] == {"role": "system", "content": "be good"}
    assert outcome.envelope["trace"]["thinking"] == "I write. done"


def test_usage_of_all_requests_is_added_up() -> None:
    with openai_server(calls(write("c", "a", "x"), usage=(10, 2)), says("done", usage=(20, 3))) as server:
        outcome = player(server).play()
    assert outcome.envelope["metadata"]["usage"] == {"inputTokens": 30, "outputTokens": 5}
    assert outcome.envelope["metadata"]["steps"] == 2


@pytest.mark.parametrize("arguments", ['{"path": ', "[1]", '{"path": NaN}', '"text"', '{"a":' * 300 + "1" + "}" * 300])
def test_arguments_that_are_no_json_object_are_told_to_the_model(arguments: str) -> None:
    with openai_server(calls(("c", "write_file", arguments)), says("sorry")) as server:
        made = player(server)
        outcome = made.play()
        [told] = tool_messages(server.requests[1])
    assert "JSON" in told["content"]
    [call] = outcome.envelope["trace"]["tool_calls"]
    assert (call["args"], call["success"]) == (arguments, False)
    kinds = made.kinds()
    assert kinds.count("tool_call") == kinds.count("tool_result") == 1
    assert ("tool_progress", '{"name": "write_file", "event_type": "tool.failed"}') in {
        (kind, content) for kind, content, _ in made.events()
    }


def test_arguments_that_do_not_fit_and_tools_that_are_not_there_are_told_in_order() -> None:
    turn = calls(("c1", "shell", '{"cmd": "ls"}'), ("c2", "write_file", "{}"), write("c3", "a", "x"))
    with openai_server(turn, says("ok")) as server:
        made = player(server)
        outcome = made.play()
    assert trace_of(outcome) == [("shell", False), ("write_file", False), ("write_file", True)]
    names = [
        name for (kind, _, _), name in zip(made.events(), made.works[0].tool_names, strict=True) if kind == "tool_call"
    ]
    assert names == ["shell", "write_file", "write_file"]
    assert outcome.envelope["trace"]["tool_calls"][0]["args"] == {"cmd": "ls"}


def test_a_model_that_never_learns_is_stopped_by_max_steps_and_not_before() -> None:
    with openai_server(*(calls((f"c{n}", "shell", "{}")) for n in range(12))) as server:
        outcome = player(server, maxSteps=12).play()
    assert outcome.error is not None
    assert "maxSteps" in outcome.error
    assert len(server.requests) == 12


def test_calls_of_a_server_that_numbers_them_all_alike_are_told_apart() -> None:
    ask = ("call_0", "clarify", '{"question": "A?"}')
    with openai_server(calls(write("call_0", "a", "x"), ask), calls(ask), says("done")) as server:
        made = player(server)
        outcome = made.play()
    assert len(made.asked) == 2
    assert trace_of(outcome) == [("write_file", True), ("clarify", True), ("clarify", True)]
    assert len({message["tool_call_id"] for message in tool_messages(server.requests[1])}) == 2


def test_a_question_reaches_the_person_and_the_answer_the_model_in_another_process() -> None:
    ask = ("c1", "clarify", json.dumps({"question": "Which?", "options": [{"label": "one", "value": "1"}]}))
    with openai_server(calls(ask, write("c2", "a", "x"), text="hm "), says("so be it")) as server:
        made = player(server, answer="1")
        outcome = made.play()
        assert {message["tool_call_id"]: message["content"] for message in tool_messages(server.requests[1])} == {
            "c1": "1",
            "c2": '{"path":"a","bytes":1}',
        }
    assert outcome.envelope["data"] == {"result": "so be it"}
    assert outcome.envelope["trace"]["thinking"] == "hm so be it"
    assert made.works[0].workspace.files == {"a": b"x"}


def test_a_provider_that_throttles_in_the_middle_is_asked_again_at_the_failed_turn() -> None:
    with openai_server(calls(write("c1", "a", "x")), fails(429, "slow down"), says("done")) as server:
        made = player(server)
        outcome = made.play()
    assert outcome.envelope["data"] == {"result": "done"}
    assert (outcome.envelope["metadata"]["attempts"], outcome.envelope["metadata"]["steps"]) == (2, 2)
    assert trace_of(outcome) == [("write_file", True)]
    assert [tool_messages(request) for request in server.requests][1] == tool_messages(server.requests[2])
    assert made.streamed("step") == ['{"iteration": 1}', '{"iteration": 2}', '{"iteration": 2}']


def test_a_stream_that_breaks_off_is_made_again_and_what_it_said_stays_told() -> None:
    with openai_server(says("half", end="break"), says("whole")) as server:
        made = player(server)
        outcome = made.play()
    assert outcome.envelope["data"] == {"result": "whole"}
    assert "".join(made.streamed()) == outcome.envelope["trace"]["thinking"] == "halfwhole"


def test_a_refusal_ends_the_node_with_the_trace_up_to_it() -> None:
    with openai_server(calls(write("c1", "a", "x"), text="hm"), fails(400, "too long")) as server:
        outcome = player(server).play()
    assert (outcome.status, outcome.retryable) == ("FAILED", False)
    assert outcome.envelope["trace"]["thinking"] == "hm"
    assert trace_of(outcome) == [("write_file", True)]


def test_reasoning_is_sent_back_as_the_provider_gave_it_and_streams_as_thinking() -> None:
    first = Reply(
        deltas=({"reasoning_content": "let me "}, {"reasoning_content": "see"}, *calls(write("c", "a", "x")).deltas),
        finish_reason="tool_calls",
    )
    with openai_server(first, says("done")) as server:
        outcome = player(server).play()
    assert outcome.envelope["trace"]["thinking"] == "let me seedone"


def test_the_settings_of_the_node_reach_the_provider() -> None:
    with openai_server(says("ok")) as server:
        player(server, temperature=0.5, maxTokens=77).play()
        [sent] = server.requests
    assert (sent["temperature"], sent["max_tokens"]) == (0.5, 77)
