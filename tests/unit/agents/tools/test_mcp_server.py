"""The tools of MCP servers, as an agent has them."""

import socket
import time
from collections.abc import Mapping
from typing import Any

import pytest

from stepweave.agents.tools import mcp_server
from stepweave.execution.outcome import Outcome
from stepweave.execution.work import RunEnded
from stepweave.nodes.agent import Agent
from tests.builders.scopes import WrittenScope
from tests.functional.mcp_server import ToolServer, texts, tool_server
from tests.unit.agents.visits import agent_node, tool
from tests.unit.agents.work import RecordingWork

KEY = "a-very-secret-key"


def run(server: ToolServer, *turns: list[Mapping[str, Any]], work: RecordingWork | None = None, **rest: Any) -> Outcome:
    servers = [{"name": "notes", "url": server.url, "headers": {"X-Key": KEY}}]
    work = work or RecordingWork(private_hosts=True, language="en")
    result = Agent().run(agent_node(*turns, mcpServers=servers, **rest), WrittenScope(), work)
    assert isinstance(result, Outcome)
    return result


def results(outcome: Outcome) -> list[tuple[Any, bool]]:
    return [(call["result"], call["success"]) for call in outcome.envelope["trace"]["tool_calls"]]


def test_an_agent_calls_the_tools_of_a_server_by_its_name_and_theirs() -> None:
    tools = {
        "add": lambda a: {"content": [], "structuredContent": {"sum": a["a"] + a["b"]}},
        "find.it": texts("one", "two"),
    }
    with tool_server(tools) as server:
        outcome = run(server, [tool("notes_add", a=1, b=2), tool("notes_find_it", q="x")], [{"text": "ok"}])
    assert outcome.envelope["data"] == {"result": "ok"}
    assert [entry["message"] for entry in outcome.logs if entry["type"] == "STATUS"] == [
        "connecting to the MCP server notes"
    ]
    assert results(outcome) == [({"sum": 3}, True), ("one\ntwo", True)]
    assert server.calls == [("add", {"a": 1, "b": 2}), ("find.it", {"q": "x"})]
    assert all(headers.get("X-Key") == KEY for headers in server.headers)


def test_what_a_tool_of_a_server_refuses_is_told_to_the_model() -> None:
    def fails(_: Any) -> Any:
        raise ValueError("out of paper")

    with tool_server({"bad": texts("no such note", error=True), "worse": fails}) as server:
        outcome = run(server, [tool("notes_bad"), tool("notes_worse"), tool("notes_none")], [{"text": "ok"}])
    [bad, worse, none] = results(outcome)
    assert bad == ("no such note", False)
    assert (worse[1], "out of paper" in worse[0]) == (False, True)
    assert (none[1], "there is no tool notes_none" in none[0]) == (False, True)
    assert outcome.status == "SUCCESS"


def test_a_tool_of_a_server_that_hangs_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mcp_server, "TOOL_SECONDS", 0.3)
    begin = time.perf_counter()
    with tool_server({"hang": texts("late")}) as server:
        outcome = run(server, [tool("notes_hang")], [{"text": "ok"}])
    assert time.perf_counter() - begin < 10
    assert results(outcome)[0][1] is False
    assert outcome.status == "SUCCESS"


def test_a_server_that_accepts_and_says_nothing_fails_the_node_and_may_answer_later(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(mcp_server, "_OPEN_SECONDS", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        outcome = run(ToolServer(f"http://127.0.0.1:{silent.getsockname()[1]}/mcp", {}), [{"text": "never"}])
    assert outcome.error == 'MCP server "notes" did not answer in time'
    assert outcome.retryable


def test_a_server_that_is_not_there_fails_the_node_by_name_and_may_be_there_later() -> None:
    with tool_server({}) as server:
        pass
    outcome = run(server, [{"text": "never"}])
    assert outcome.error is not None
    assert 'MCP server "notes"' in outcome.error
    assert outcome.retryable


def test_a_server_that_speaks_no_mcp_fails_the_node() -> None:
    with tool_server({}, status=404) as server:
        outcome = run(server, [{"text": "never"}])
    assert outcome.error is not None
    assert 'MCP server "notes" cannot be used' in outcome.error
    assert not outcome.retryable


def test_a_server_at_a_private_address_is_not_called() -> None:
    with tool_server({"add": texts("x")}) as server:
        outcome = run(server, [{"text": "never"}], work=RecordingWork(language="en"))
    assert server.headers == []
    assert outcome.error is not None
    assert outcome.error.endswith(
        "an address that is not public; for a server of your own set TOOLS_PRIVATE_HOSTS=true"
    )
    assert not outcome.retryable


def test_the_end_of_the_run_is_raised_as_it_is_through_a_connected_server() -> None:
    with tool_server({"add": texts("x")}) as server, pytest.raises(RunEnded):
        run(server, [{"text": "a"}, {"delayMs": 20000}], work=RecordingWork(private_hosts=True, ends_at_tick=30))


def test_a_failure_of_the_model_is_told_as_it_is_through_a_connected_server() -> None:
    with tool_server({"add": texts("x")}) as server:
        outcome = run(server, [{"error": "overloaded", "retryable": True}])
    assert (outcome.error, outcome.retryable) == ("overloaded", True)


def test_a_secret_header_stands_in_no_message() -> None:
    with tool_server({"add": texts("x")}) as server:
        outcome = run(server, [{"thinking": "hm"}], [{"text": "never"}], maxSteps=1)
    assert KEY not in repr(outcome)


@pytest.mark.parametrize("status", [404, 500, 503])
def test_a_server_that_breaks_down_in_the_middle_is_told_to_the_model(status: int) -> None:
    with tool_server({}) as server:

        def break_down(_: Any) -> Any:
            server.status = status
            return {"content": []}

        server.tools = {"once": break_down}
        outcome = run(server, [tool("notes_once"), tool("notes_once")], [{"text": "ok"}])
    assert outcome.status == "SUCCESS"
    assert [success for _, success in results(outcome)] == [True, False]


def test_a_connection_that_is_cut_in_a_call_is_told_and_made_anew_for_the_next() -> None:
    with tool_server({"drop": texts("x"), "add": texts("fine")}) as server:
        outcome = run(server, [tool("notes_drop"), tool("notes_add")], [{"text": "ok"}])
    [dropped, added] = results(outcome)
    assert dropped[1] is False
    assert added == ("fine", True)
