"""Agents across a Hermes Bridge: names, outputs and events are those of agents in the engine's own process (contract §2)."""

from typing import Any

import pytest

from tests.functional.api.agent_scenarios import SCENARIOS, Scenario
from tests.functional.api.definitions import definition
from tests.functional.api.playing import Played, play
from tests.functional.api.stack import Stack
from tests.functional.bridge_server import bridge_server
from tests.functional.fake_bridge import answers, event, fake_bridge, streams
from tests.functional.openai_server import openai_server
from tests.functional.wire_scripts import openai_replies

SCRIPT, OPENAI = "scripted:inline", "openai:m"

every_scenario = pytest.mark.parametrize(
    "scenario", [scenario for scenario in SCENARIOS if scenario.type != "llm"], ids=lambda scenario: scenario.name
)


def across(url: str) -> dict[str, Any]:
    return {"hermes_enabled": True, "hermes_bridge_url": url}


def lasting(played: Played) -> dict[str, Any]:
    """The envelope without what differs from run to run."""
    metadata = {name: value for name, value in played.metadata.items() if name != "durationMs"}
    return {**played.envelope, "metadata": metadata}


@every_scenario
def test_no_reader_can_tell_that_a_script_is_played_across_a_bridge(scenario: Scenario) -> None:
    here = play(SCRIPT, scenario)
    with bridge_server() as url:
        there = play(SCRIPT, scenario, **across(url))
    assert there.kinds() == scenario.kinds
    assert there.events() == here.events()
    assert without_usage(lasting(there)) == without_usage(lasting(here))


@every_scenario
def test_no_reader_can_tell_that_a_provider_is_asked_by_a_bridge(scenario: Scenario) -> None:
    with openai_server(*openai_replies(scenario.script)) as openai:
        here = play(OPENAI, scenario, openai_base_url=openai.base_url)
    with (
        openai_server(*openai_replies(scenario.script)) as openai,
        bridge_server(openai_base_url=openai.base_url) as url,
    ):
        there = play(OPENAI, scenario, **across(url))
    assert there.events() == here.events()
    assert lasting(there) == lasting(here)


def without_usage(envelope: dict[str, Any]) -> dict[str, Any]:
    """A script counts the characters that it reads; of a tool that is not there the bridge's model reads other words."""
    return {**envelope, "metadata": {**envelope["metadata"], "usage": None}}


@pytest.mark.parametrize("kind", ["agent", "skill", "smartAction"])
def test_all_three_node_types_run_across_the_bridge(kind: str) -> None:
    with fake_bridge(streams(event("result", text="from the bridge"))) as bridge:
        told = finished(Stack(**across(bridge.url)), {"type": kind, "prompt": "go", "instruction": "go"})
        assert len(bridge.bodies) == 1
    assert (told["status"], told["outputs"]["data"]) == ("SUCCESS", {"result": "from the bridge"})


def test_a_model_without_tools_is_called_by_the_engine_itself() -> None:
    with fake_bridge(answers(500)) as bridge:
        told = finished(Stack(**across(bridge.url)), {"type": "llm", "userPrompt": "go", "script": [[{"text": "hi"}]]})
        assert bridge.bodies == []
    assert told["outputs"]["data"] == {"result": "hi"}


def test_a_model_that_only_looks_up_what_came_before_is_no_agent() -> None:
    with fake_bridge(answers(500)) as bridge:
        look = [{"tool": {"name": "workflow_context_list", "args": {}}}]
        node = {"type": "llm", "userPrompt": "go", "contextTools": True, "script": [look, [{"text": "$tool"}]]}
        told = finished(Stack(**across(bridge.url)), node)
        assert bridge.bodies == []
    assert '"nodeId": "in"' in told["outputs"]["data"]["result"]


def test_what_a_planner_has_done_beside_the_palette_runs_across_the_bridge_and_the_planner_here() -> None:
    off_canvas = {"decide": {"next": None, "instruction": "do this", "reason": "r", "isFinal": True}}
    nodes = {"in": {"type": "userInput"}, "out": {"type": "output"}}
    planner = {"model": SCRIPT, "script": [[off_canvas]], "allowOffCanvas": True}
    with fake_bridge(streams(event("result", text="from the bridge"))) as bridge:
        stack = Stack(**across(bridge.url))
        stack.save(definition("one", nodes, [], mode="AGENTIC", planner=planner))
        told = stack.data("GET", f"/api/v1/workflows/one/runs/{stack.finish_run('one')}")
        [body] = bridge.bodies
    assert told["outputs"]["data"]["result"] == "from the bridge"
    assert "do this" in body["prompt"]


@pytest.mark.parametrize(("strategy", "status"), [("abort", "FAILED"), ("skip", "SUCCESS")])
def test_a_bridge_that_dies_again_and_again_ends_the_node_by_its_strategy(strategy: str, status: str) -> None:
    retry = {"maxAttempts": 2, "backoffSeconds": 0}
    half = streams(event("step", iteration=1), event("thinking", content="half "))
    with fake_bridge(half) as bridge:
        stack = Stack(**across(bridge.url))
        told = finished(stack, {"type": "agent", "prompt": "go", "failStrategy": strategy, "retry": retry})
        assert len(bridge.bodies) == 2
    assert told["status"] == status
    [node] = [node for node in told["nodes"] if node["nodeId"] == "node"]
    assert "the stream ended before its last event" in node["output"]["message"]
    assert Played(stack, told["runId"]).envelope["trace"]["thinking"] == "half half "


def finished(stack: Stack, node: dict[str, Any]) -> dict[str, Any]:
    """The result of a run over one node."""
    nodes = {"in": {"type": "userInput"}, "node": {"model": SCRIPT, "script": [], **node}, "out": {"type": "output"}}
    stack.save(definition("one", nodes, [("in", "node"), ("node", "out")]))
    run_id = stack.finish_run("one")
    told: dict[str, Any] = stack.data("GET", f"/api/v1/workflows/one/runs/{run_id}")
    return told
