"""The conformance kit against the deployed stack: what integrators can hold any server of ours against."""

import importlib.util
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.e2e.server import Server

KIT = Path(__file__).parents[2] / "conformance"
AT_ONCE = 4


def _load(path: Path) -> Any:
    spec = importlib.util.spec_from_file_location("conformance_run", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


runner = _load(KIT / "run.py")
scenarios = {
    scenario["name"]: scenario
    for file in sorted((KIT / "scenarios").glob("*.yaml"))
    for scenario in yaml.safe_load_all(file.read_text())
    if scenario
}


@pytest.fixture(scope="module")
def played(server: Server) -> dict[str, list[str]]:
    """Every scenario's problems; several are played at once, as a real server would have it."""
    kit_server = runner.Server(server.base_url, server.key, server.admin_key)

    def play(scenario: dict[str, Any]) -> list[str]:
        try:
            problems: list[str] = runner.play(kit_server, scenario)
        except Exception as error:  # noqa: BLE001 - as run.py does: a crash is a finding
            return [f"runner stopped: {error!r}"]
        return problems

    with ThreadPoolExecutor(AT_ONCE) as pool:
        return dict(zip(scenarios, pool.map(play, scenarios.values()), strict=True))


@pytest.mark.parametrize("name", scenarios)
def test_the_scenario_holds(played: dict[str, list[str]], name: str) -> None:
    assert not played[name], "\n".join(played[name])
