"""What the engine sends to a bridge, and what it makes of the answers (docs/hermes-bridge.md)."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest

from stepweave.agents.bridge import client
from stepweave.agents.bridge.client import is_loopback
from stepweave.execution.bridge import Bridge
from stepweave.execution.context_query import ContextQuery
from stepweave.execution.outcome import Asked, Outcome
from stepweave.nodes.agent import Agent
from tests.functional.fake_bridge import FakeBridge, Reply, event, fake_bridge, streams
from tests.functional.mcp_server import texts, tool_server
from tests.unit.agents.visits import Killed, VisitPlayer, agent_node
from tests.unit.agents.work import RecordingWork

ROOT = Path(__file__).parents[4]
DONE = event("result", text="done", usage={"inputTokens": 9, "outputTokens": 4})
HISTORY = [{"anything": ["the bridge", None, 1.5]}]


def step(iteration: int) -> bytes:
    return event("step", iteration=iteration)


def calls(*made: tuple[str, str, Any], history: Any = HISTORY) -> bytes:
    listed = [{"callId": call_id, "name": name, "arguments": arguments} for call_id, name, arguments in made]
    return event("calls", calls=listed, history=history, usage={"inputTokens": 5, "outputTokens": 3})


def player(
    bridge: FakeBridge, *, token: str | None = None, work: dict[str, Any] | None = None, **data: Any
) -> VisitPlayer:
    conditions = {"bridge": Bridge(bridge.url, token, idle_seconds=20), "language": "en", **(work or {})}
    return VisitPlayer(Agent(), agent_node(**data), work=lambda: RecordingWork(**conditions))


def played(*replies: Reply, **options: Any) -> tuple[Outcome, VisitPlayer, FakeBridge]:
    with fake_bridge(*replies) as bridge:
        visit = player(bridge, **options)
        return visit.play(), visit, bridge


def test_the_first_request_says_what_the_node_wants() -> None:
    _, _, bridge = played(
        streams(step(1), DONE),
        token="t",
        model="openai:gpt-5",
        tools=["todo"],
        maxSteps=7,
        maxTokens=50,
        temperature=0.5,
    )
    [told] = bridge.bodies
    tools = told.pop("tools")
    assert [tool["name"] for tool in tools] == ["clarify", "todo"]
    assert set(tools[0]) == {"name", "description", "parameters"}
    assert told == {
        "protocol": 1,
        "model": "openai:gpt-5",
        "prompt": "go",
        "system": "be good",
        "language": "en",
        "temperature": 0.5,
        "maxTokens": 50,
        "maxSteps": 7,
        "results": [],
        "usage": {"inputTokens": 0, "outputTokens": 0},
        "tries": 0,
        "script": [],
    }
    assert bridge.headers[0]["Authorization"] == "Bearer t"


def test_without_a_token_none_is_shown() -> None:
    _, _, bridge = played(streams(step(1), DONE))
    assert "Authorization" not in bridge.headers[0]


def test_tools_are_called_by_the_engine_and_their_results_go_with_the_next_request() -> None:
    wanted = calls(
        ("1", "write_file", {"path": "a.md", "content": "tea"}),
        ("2", "shell", {"cmd": "ls"}),
        ("3", "write_file", "{broken"),
        ("4", "write_file", {"path": "../b"}),
    )
    outcome, visit, bridge = played(streams(step(1), wanted), streams(step(2), DONE), tools=["write_file"])
    assert visit.works[0].workspace.files == {"a.md": b"tea"}
    told = bridge.bodies[1]
    assert told["history"] == HISTORY
    assert told["usage"] == {"inputTokens": 5, "outputTokens": 3}
    assert [(each["callId"], each["name"], each["success"]) for each in told["results"]] == [
        *(("1", "write_file", True), ("2", "shell", False), ("3", "write_file", False), ("4", "write_file", False))
    ]
    assert told["results"][0]["content"] == {"path": "a.md", "bytes": 3}
    trace = outcome.envelope["trace"]["tool_calls"]
    assert [(call["name"], call["args"], call["success"]) for call in trace][1:3] == [
        *(("shell", {"cmd": "ls"}, False), ("write_file", "{broken", False))
    ]
    metadata = outcome.envelope["metadata"]
    assert (metadata["usage"], metadata["steps"]) == ({"inputTokens": 9, "outputTokens": 4}, 2)


def test_a_null_in_a_result_is_sent_as_such() -> None:
    with tool_server({"nothing": lambda _: {"content": [], "structuredContent": {"found": None}}}) as server:
        wanted = calls(("1", "notes_nothing", {}))
        _, _, bridge = played(
            streams(step(1), wanted),
            streams(step(2), DONE),
            mcpServers=[{"name": "notes", "url": server.url}],
            work={"private_hosts": True},
        )
    assert bridge.bodies[1]["results"][0]["content"] == {"found": None}


def test_neither_address_nor_headers_of_an_mcp_server_leave_the_engine() -> None:
    with tool_server({"look": texts("found")}) as server:
        wanted = calls(("1", "notes_look", {"at": "x"}))
        servers = [{"name": "notes", "url": server.url, "headers": {"X-Secret": "hush-hush"}}]
        _, _, bridge = played(
            streams(step(1), wanted), streams(step(2), DONE), mcpServers=servers, work={"private_hosts": True}
        )
        assert server.calls == [("look", {"at": "x"})]
    sent = json.dumps(bridge.bodies)
    assert "found" in sent
    assert server.url not in sent
    assert "hush-hush" not in sent


def test_a_person_is_asked_and_the_answer_goes_with_the_next_request() -> None:
    question = {"question": "Colour?", "options": ["red", "blue"]}
    wanted = calls(("1", "clarify", question), ("2", "todo", {"todos": []}), ("3", "clarify", {"question": "Sure?"}))
    with fake_bridge(streams(step(1), wanted), streams(step(2), DONE)) as bridge:
        visit = player(bridge, tools=["todo"])
        visit.answer = lambda asked: {"Colour?": "blue", "Sure?": "yes"}[asked.question]
        assert isinstance(visit.invoke(), Asked)
        assert len(bridge.bodies) == 1
        outcome = visit.play()
    assert [asked.question for _, asked in visit.asked] == ["Colour?", "Sure?"]
    assert [(each["callId"], each["content"]) for each in bridge.bodies[1]["results"]] == [
        *(("1", "blue"), ("2", {"todos": 0, "completed": 0}), ("3", "yes"))
    ]
    assert bridge.bodies[1]["history"] == HISTORY
    assert outcome.envelope["data"] == {"result": "done"}


def test_a_question_that_is_none_is_told_to_the_model() -> None:
    outcome, visit, bridge = played(streams(step(1), calls(("1", "clarify", {}))), streams(step(2), DONE))
    assert (visit.asked, bridge.bodies[1]["results"][0]["success"]) == ([], False)
    assert outcome.status == "SUCCESS"


def test_after_a_failure_with_an_answer_nobody_is_asked_twice() -> None:
    overloaded = event("failure", message="overloaded", retryable=True)
    outcome, visit, bridge = played(
        streams(step(1), calls(("1", "clarify", {"question": "Colour?"}))),
        streams(step(2), overloaded),
        streams(step(2), DONE),
    )
    assert (len(visit.asked), outcome.status) == (1, "SUCCESS")
    assert [body["tries"] for body in bridge.bodies] == [0, 0, 1]
    assert bridge.bodies[1]["results"] == bridge.bodies[2]["results"]


def test_tools_of_the_bridges_own_are_told_and_kept() -> None:
    pieces = (
        step(1),
        event("status", content="searching"),
        event("tool_call", name="search", arguments={"q": "a"}),
        event("tool_call", name="search", arguments={"q": "b"}),
        event("tool_progress", name="search", event_type="tool.started"),
        event("tool_result", name="search", content=["A"]),
        event("tool_result", name="search", content="no", success=False),
        event("todo_update", todos=[{"text": "read", "status": "completed"}]),
        DONE,
    )
    outcome, visit, _ = played(streams(*pieces))
    assert visit.kinds() == ["step", "status", *["tool_call"] * 2, "tool_progress", *["tool_result"] * 2, "todo_update"]
    assert outcome.envelope["trace"]["tool_calls"] == [
        {"name": "search", "args": {"q": "a"}, "result": ["A"], "success": True},
        {"name": "search", "args": {"q": "b"}, "result": "no", "success": False},
    ]


def test_a_turn_that_was_told_is_not_made_again_after_a_death() -> None:
    turn = event("turn", history=["after one"], usage={"inputTokens": 2, "outputTokens": 1})
    with fake_bridge(streams(step(1), turn, step(2), event("thinking", content="x")), streams(step(2), DONE)) as bridge:
        visit = player(bridge)
        visit.work = lambda: RecordingWork(
            bridge=Bridge(bridge.url), raises=Killed(), dies_at=4 if not visit.works else None
        )
        with pytest.raises(Killed):
            visit.invoke()
        outcome = visit.play()
    assert (bridge.bodies[1]["history"], bridge.bodies[1]["results"]) == (["after one"], [])
    assert bridge.bodies[1]["usage"] == {"inputTokens": 2, "outputTokens": 1}
    assert outcome.envelope["metadata"]["steps"] == 2


def test_an_answer_that_was_cut_short_says_why() -> None:
    outcome, _, _ = played(streams(step(1), event("result", text="half", cutShort="the answer was cut at maxTokens")))
    assert [entry["message"] for entry in outcome.logs if entry["type"] == "WARN"] == [
        "the answer was cut at maxTokens"
    ]


class Lending:
    """Lends a context query, and notes when it is taken back."""

    open = False

    @contextmanager
    def __call__(self) -> Iterator[ContextQuery]:
        self.open = True
        yield ContextQuery("http://127.0.0.1:5", "tok", "0a1b2c3d", "visit")
        self.open = False


def test_a_bridge_on_loopback_may_ask_for_the_context_while_it_works() -> None:
    lending = Lending()
    _, _, bridge = played(streams(step(1), DONE), work={"context_query": lending})
    assert bridge.bodies[0]["context_query"] == {
        "base_url": "http://127.0.0.1:5",
        "token": "tok",
        "run_id": "0a1b2c3d",
        "visit_uuid": "visit",
    }
    assert not lending.open


def test_a_bridge_elsewhere_may_not(monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[Any] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        sent.append(json.loads(request.content))
        return httpx2.Response(200, headers={"Content-Type": "text/event-stream"}, content=step(1) + DONE)

    monkeypatch.setattr(client, "direct_transport", lambda: httpx2.MockTransport(answer))
    work = RecordingWork(bridge=Bridge("https://bridge.internal"), context_query=Lending())
    assert isinstance(VisitPlayer(Agent(), agent_node(), work=lambda: work).invoke(), Outcome)
    assert "context_query" not in sent[0]


@pytest.mark.parametrize(
    ("url", "loopback"),
    [
        ("http://127.0.0.1:2439", True),
        ("http://127.8.8.8", True),
        ("http://localhost:1", True),
        ("https://[::1]:2439", True),
        ("http://10.0.0.1", False),
        ("http://localhost.example.org", False),
        ("http://127.0.0.1.example.org", False),
        ("http://127.0.0.1@example.org", False),
        ("http://[::ffff:10.0.0.1]", False),
    ],
)
def test_what_loopback_is(url: str, loopback: bool) -> None:
    assert is_loopback(url) is loopback


ASKING = [[{"ask": {"question": "Colour?"}}], [{"text": "$answer"}]]


def test_an_agent_that_began_without_a_bridge_goes_on_without_one() -> None:
    with fake_bridge(streams(step(1), DONE)) as bridge:
        visit = VisitPlayer(Agent(), agent_node(*ASKING))
        assert isinstance(visit.invoke(), Asked)
        visit.work = lambda: RecordingWork(bridge=Bridge(bridge.url))
        assert visit.play().envelope["data"] == {"result": "yes"}
        assert bridge.bodies == []


def test_an_agent_whose_bridge_is_gone_says_so() -> None:
    wanted = calls(("1", "clarify", {"question": "A?"}), ("2", "clarify", {"question": "B?"}))
    with fake_bridge(streams(step(1), wanted)) as bridge:
        visit = player(bridge)
        assert isinstance(visit.invoke(), Asked)
    visit.work = lambda: RecordingWork(language="en")
    assert isinstance(visit.invoke(), Asked)
    outcome = visit.play()
    assert outcome.status == "FAILED"
    assert "set HERMES_ENABLED and HERMES_BRIDGE_URL" in (outcome.error or "")
    assert [call["result"] for call in outcome.envelope["trace"]["tool_calls"]] == ["yes", "yes"]


def test_the_engine_spares_itself_the_agent_library() -> None:
    program = """
import sys
from tests.functional.fake_bridge import event, fake_bridge, streams
from stepweave.execution.bridge import Bridge
from stepweave.nodes.agent import Agent
from tests.unit.agents.visits import VisitPlayer, agent_node
from tests.unit.agents.work import RecordingWork
with fake_bridge(streams(event("result", text="done"))) as bridge:
    outcome = VisitPlayer(Agent(), agent_node(), work=lambda: RecordingWork(bridge=Bridge(bridge.url))).play()
print(outcome.status, "pydantic_ai" in sys.modules)
"""
    paths = os.pathsep.join(str(ROOT / place) for place in ("layers/engine", "local", "."))
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONPATH": paths},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stdout, done.stderr) == ("SUCCESS False\n", "")
