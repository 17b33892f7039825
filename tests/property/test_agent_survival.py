"""Wherever its process is killed, an agent goes on from what it saved, and comes to the same end (issue: survival)."""

import json
from collections.abc import Mapping
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from stepweave.execution.outcome import Outcome
from stepweave.nodes.agent import Agent
from tests.unit.agents.visits import Killed, VisitPlayer, agent_node, tool
from tests.unit.agents.work import MemoryWorkspace, RecordingWork

TOOLS = ["todo", "write_file", "read_file"]

said = st.sampled_from(["a", "let me see ", "好"])
thinking = st.builds(lambda text: {"thinking": text}, said)
text = st.builds(lambda text: {"text": text}, said)
ask = st.builds(lambda text: {"ask": {"question": f"{text}?"}}, said)
todo = st.builds(lambda text: {"todo": [{"text": text, "status": "pending"}]}, said)
write = st.builds(lambda text: tool("write_file", path="log.txt", content=text), said)
mistake = st.sampled_from([tool("no_such_tool"), tool("write_file", path="../out", content=""), tool("read_file")])
call = st.one_of(ask, todo, write, mistake)
turn = st.builds(
    lambda before, calls: [*before, *calls],
    st.lists(st.one_of(thinking, text), max_size=2),
    st.lists(call, min_size=1, max_size=3),
)
scripts = st.builds(
    lambda turns, last: [*turns, [*last, {"text": "end of $answer"}]],
    st.lists(turn, max_size=4),
    st.lists(thinking, max_size=2),
)


def with_error(script: list[list[Any]], place: int | None) -> list[list[Any]]:
    """The provider fails once, somewhere: the attempt after it goes on behind the failure."""
    if place is None:
        return script
    number = place % len(script)
    turn_with_error = [*script[number]]
    turn_with_error.insert(place % (len(turn_with_error) + 1), {"error": "overloaded", "retryable": True})
    return [*script[:number], turn_with_error, *script[number + 1 :]]


class Writes(MemoryWorkspace):
    """A workspace that knows what must not be written any more."""

    def __init__(self) -> None:
        super().__init__()
        self.settled: set[bytes] = set()
        self.again: list[bytes] = []

    def write(self, path: str, content: bytes) -> None:
        if content in self.settled:
            self.again.append(content)
        super().write(path, content)

    def settle(self, state: Any) -> None:
        calls = state["transcript"]["calls"] if state is not None else []
        self.settled |= {
            call["args"]["content"].encode() for call in calls if call["name"] == "write_file" and call["success"]
        }


class Saving(RecordingWork):
    def save(self, state: Mapping[str, Any]) -> None:
        super().save(state)
        self.workspace.settle(state)


def numbered(script: list[list[Any]]) -> list[list[Any]]:
    """Each write writes something of its own."""

    def own(step: Any, place: str) -> Any:
        args = step["tool"]["args"] if "tool" in step else {}
        return tool("write_file", **{**args, "content": place}) if "content" in args else step

    return [[own(step, f"{n}.{m}") for m, step in enumerate(turn)] for n, turn in enumerate(script)]


def player(script: list[list[Any]], kills: list[int]) -> VisitPlayer:
    """Invocation i is killed at its `kills[i]`th call of the engine, later ones are not."""
    workspace = Writes()
    left = iter(kills)

    def work() -> RecordingWork:
        workspace.settle(made.saved)
        return Saving(dies_at=next(left, None), raises=Killed(), workspace=workspace)

    node = agent_node(*numbered(script), tools=TOOLS)
    made = VisitPlayer(Agent(), node, answer=lambda question: question.question, work=work)
    return made


def told(outcome: Outcome) -> Mapping[str, Any]:
    """All that is stored of a visit, but for the times."""
    envelope = json.loads(json.dumps(outcome.envelope))
    envelope["metadata"].pop("durationMs")
    return {"envelope": envelope, "logs": [{**entry, "timestamp": None} for entry in outcome.logs]}


@settings(max_examples=60, deadline=None)
@given(scripts, st.none() | st.integers(0, 30), st.lists(st.integers(1, 25), min_size=1, max_size=3))
def test_killed_anywhere_an_agent_comes_to_the_same_end(
    script: list[list[Any]], error: int | None, kills: list[int]
) -> None:
    script = with_error(script, error)
    undisturbed, killed = player(script, []), player(script, kills)
    assert told(killed.play()) == told(undisturbed.play())
    assert [key for key, _ in killed.asked] == [key for key, _ in undisturbed.asked]


@settings(max_examples=60, deadline=None)
@given(scripts, st.lists(st.integers(1, 25), min_size=1, max_size=3))
def test_what_was_saved_of_the_tools_is_kept_and_never_done_again(script: list[list[Any]], kills: list[int]) -> None:
    killed = player(script, kills)
    calls = killed.play().envelope["trace"]["tool_calls"]
    for work in killed.works:
        for state in map(json.loads, work.saves):
            saved = state["transcript"]["calls"]
            assert calls[: len(saved)] == saved
    assert killed.works[0].workspace.again == []
