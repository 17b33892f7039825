"""The same scenarios over every provider: what readers and nodes further on see does not tell which one it was."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from tests.functional.api.agent_scenarios import SCENARIOS, Scenario
from tests.functional.api.playing import play, without_figures
from tests.functional.bedrock_server import BedrockReply, bedrock_server, ended, said
from tests.functional.openai_server import openai_server
from tests.functional.wire_scripts import bedrock_replies, openai_replies, usage_of

SCRIPT = "scripted:inline"
OPENAI, BEDROCK = "openai:m", "bedrock:eu.anthropic.claude-sonnet-4-5-20250929-v1:0"
WIRES = (OPENAI, BEDROCK)

every_scenario = pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name)


@pytest.fixture(autouse=True)
def _some_account(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")
    monkeypatch.delenv("AWS_BEARER_TOKEN_BEDROCK", raising=False)


@contextmanager
def provider(model: str, scenario: Scenario) -> Iterator[tuple[dict[str, Any], list[dict[str, Any]]]]:
    """Settings that lead to a provider which plays the scenario, and the requests that it gets."""
    if model == BEDROCK:
        with bedrock_server(*bedrock_replies(scenario.script)) as bedrock:
            yield {"bedrock_endpoint_url": bedrock.base_url, "bedrock_region": "eu-central-1"}, bedrock.requests
    else:
        with openai_server(*openai_replies(scenario.script)) as openai:
            yield {"openai_base_url": openai.base_url}, openai.requests


def named(beginning: str) -> Scenario:
    [found] = [scenario for scenario in SCENARIOS if scenario.name.startswith(beginning)]
    return found


@every_scenario
def test_a_script_plays_it(scenario: Scenario) -> None:
    played = play(SCRIPT, scenario)
    envelope = played.envelope
    assert played.kinds() == scenario.kinds
    assert envelope["trace"]["thinking"] == scenario.text
    assert tuple((call["name"], call["success"]) for call in envelope["trace"]["tool_calls"]) == scenario.calls
    assert (envelope["status"], played.error) == ((400, scenario.error) if scenario.error else (200, None))


@pytest.mark.parametrize("model", WIRES)
@every_scenario
def test_no_reader_can_tell_a_provider_from_a_script(scenario: Scenario, model: str) -> None:
    script = play(SCRIPT, scenario)
    with provider(model, scenario) as (settings, _):
        wire = play(model, scenario, **settings)
    assert wire.events() == script.events()
    assert without_figures(wire.envelope) == without_figures(script.envelope)
    assert set(wire.metadata) == set(script.metadata)
    assert wire.metadata.get("steps") == script.metadata.get("steps")
    assert wire.metadata["attempts"] == script.metadata["attempts"] == scenario.attempts
    costs = [usage_of(number) for number in range(1, scenario.counted + 1)]
    assert wire.metadata["usage"] == {
        "inputTokens": sum(read for read, _ in costs),
        "outputTokens": sum(written for _, written in costs),
    }


def test_the_tokens_of_a_script_that_fails_on_the_way_are_counted_once() -> None:
    throttled = named("an agent that is throttled")
    smooth = Scenario("", [[step for step in turn if "error" not in step] for turn in throttled.script], (), "", 2)
    assert play(SCRIPT, throttled).metadata["usage"] == play(SCRIPT, smooth).metadata["usage"]


@pytest.mark.parametrize("model", WIRES)
def test_a_provider_is_asked_as_often_as_retry_says_and_not_by_its_sdk(model: str) -> None:
    for scenario, requests in ((named("an agent that is throttled"), 3), (named("a provider that stays away"), 1)):
        with provider(model, scenario) as (settings, received):
            play(model, scenario, **settings)
            assert len(received) == requests


def test_bedrock_gets_back_what_it_has_called_and_what_came_of_it() -> None:
    scenario = named("two tools in one turn")
    with provider(BEDROCK, scenario) as (settings, requests):
        play(BEDROCK, scenario, **settings)
        _, said_before, results = (message["content"] for message in requests[-1]["messages"])
    assert [next(iter(block)) for block in said_before] == ["text", "toolUse", "toolUse"]
    assert [block["toolResult"]["toolUseId"] for block in results if "toolResult" in block] == [
        block["toolUse"]["toolUseId"] for block in said_before if "toolUse" in block
    ]


def test_bedrock_gets_back_its_signed_thoughts() -> None:
    scenario = named("a tool is called")
    with provider(BEDROCK, scenario) as (settings, requests):
        play(BEDROCK, scenario, **settings)
        thought = requests[1]["messages"][1]["content"][0]
    assert thought == {"reasoningContent": {"reasoningText": {"text": "a file ", "signature": "signed-0"}}}


@pytest.mark.parametrize(("exception", "attempts"), [("throttlingException", 2), ("validationException", 1)])
def test_an_exception_in_the_middle_of_bedrocks_stream(exception: str, attempts: int) -> None:
    half = BedrockReply((said(0, text="half "),), breaks=(exception, "no more"))
    whole = BedrockReply((said(0, text="whole"), *ended("end_turn", (5, 1))))
    scenario = Scenario("", [], (), "", 1, data={"retry": {"maxAttempts": 2, "backoffSeconds": 0}})
    with bedrock_server(half, whole) as server:
        played = play(BEDROCK, scenario, bedrock_endpoint_url=server.base_url, bedrock_region="eu-central-1")
        assert len(server.requests) == played.metadata["attempts"] == attempts
    assert played.envelope["trace"]["thinking"] == ("half whole" if attempts == 2 else "half ")
    assert ("no more" in (played.error or "")) == (attempts == 1)
