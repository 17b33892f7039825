"""Agents against Bedrock as the emulator gives it: its canned answer, and the turns of another server behind it."""

import re
from pathlib import Path
from typing import override

import pytest

from stepweave_local.deploy import CREDENTIALS
from stepweave_local.emulator import Emulator
from stepweave_local.project import REGION, Project
from tests.functional.api.agent_scenarios import SCENARIOS, Scenario
from tests.functional.api.playing import Played, play, without_figures
from tests.functional.openai_server import openai_server
from tests.functional.wire_scripts import openai_replies, usage_of
from tests.infrastructure.template import ROOT

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("emulator")]

MODEL = "bedrock:amazon.nova-lite-v1:0"

PLAYABLE = [
    scenario
    for scenario in SCENARIOS
    if not any({"thinking", "error"} & set(step) for turn in scenario.script for step in turn)
]
"""The emulator passes on text, calls of tools and usage; thoughts and failures are not among what it knows."""


class Fronting(Emulator):
    """An emulator that asks another server what its models say."""

    def __init__(self, data_dir: Path, models_url: str) -> None:
        super().__init__(Project(ROOT), data_dir)
        self._models_url = models_url

    @override
    def _environment(self) -> dict[str, str]:
        return super()._environment() | {"MINISTACK_BEDROCK_PROXY_URL": self._models_url}


@pytest.fixture(autouse=True)
def _local_account(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in CREDENTIALS.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("AWS_BEARER_TOKEN_BEDROCK", raising=False)


def play_on(emulator: Emulator, scenario: Scenario) -> Played:
    return play(MODEL, scenario, bedrock_endpoint_url=emulator.endpoint_url, bedrock_region=REGION)


def test_the_emulator_answers_agents_and_models(tmp_path: Path) -> None:
    with Emulator(Project(ROOT), tmp_path / "data") as emulator:
        for kind in ("agent", "llm"):
            played = play_on(emulator, Scenario("", [], (), "", 1, type=kind))
            assert played.kinds() == ("step", "thinking")
            assert re.match(r"\[ministack mock .*reply for prompt", played.envelope["data"]["result"])
            assert played.envelope["trace"]["thinking"] == played.envelope["data"]["result"]
            assert all(count > 0 for count in played.metadata["usage"].values())


def test_scenarios_over_the_emulator_are_as_scripted(tmp_path: Path) -> None:
    assert {call for scenario in PLAYABLE for call, _ in scenario.calls} >= {"write_file", "clarify", "shell"}
    with openai_server() as models, Fronting(tmp_path / "data", models.base_url.removesuffix("/v1")) as emulator:
        for scenario in PLAYABLE:
            models.replies[:] = openai_replies(scenario.script)
            wire, script = play_on(emulator, scenario), play("scripted:inline", scenario)
            assert wire.events() == script.events()
            assert without_figures(wire.envelope) == without_figures(script.envelope)
            assert models.replies == []
            read, written = zip(*(usage_of(number) for number in range(1, scenario.counted + 1)), strict=True)
            assert wire.metadata["usage"] == {"inputTokens": sum(read), "outputTokens": sum(written)}
