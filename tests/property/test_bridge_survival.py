"""Wherever its process is killed, an agent across a bridge comes to the end of an agent that nothing happened to."""

from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stepweave.execution.bridge import Bridge
from stepweave.nodes.agent import Agent
from tests.functional.bridge_server import bridge_server
from tests.property.test_agent_survival import TOOLS, numbered, scripts, told, with_error
from tests.unit.agents.visits import Killed, VisitPlayer, agent_node
from tests.unit.agents.work import RecordingWork


@pytest.fixture(scope="module")
def bridges() -> Iterator[list[Bridge | None]]:
    with bridge_server() as one, bridge_server() as other:
        yield [Bridge(one), Bridge(other)]


def player(script: list[list[Any]], bridges: list[Bridge | None], kills: list[int]) -> VisitPlayer:
    """Each invocation goes to the next bridge; invocation i is killed at its `kills[i]`th call of the engine."""
    left = iter(kills)

    def work() -> RecordingWork:
        bridge = bridges[len(made.works) % len(bridges)]
        return RecordingWork(bridge=bridge, dies_at=next(left, None), raises=Killed())

    made = VisitPlayer(Agent(), agent_node(*numbered(script), tools=TOOLS), lambda asked: asked.question, work)
    return made


def without_usage(told_of: Mapping[str, Any]) -> Mapping[str, Any]:
    """A script counts the characters that it reads; of a tool that is not there the bridge's model reads other words."""
    told_of["envelope"]["metadata"].pop("usage")
    return told_of


@settings(max_examples=15, deadline=None)
@given(script=scripts, error=st.none() | st.integers(0, 30), kills=st.lists(st.integers(1, 25), min_size=1, max_size=3))
def test_killed_anywhere_and_at_whichever_bridge_it_comes_to_the_same_end(
    bridges: list[Bridge | None], script: list[list[Any]], error: int | None, kills: list[int]
) -> None:
    script = with_error(script, error)
    here, across, killed = player(script, [None], []), player(script, bridges[:1], []), player(script, bridges, kills)
    end = told(across.play())
    assert told(killed.play()) == end
    assert without_usage(end) == without_usage(told(here.play()))
    assert [key for key, _ in killed.asked] == [key for key, _ in across.asked] == [key for key, _ in here.asked]
