"""The command as the README has it, against the deployed stack."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.e2e.conftest import ROOT, STEPWEAVE
from tests.e2e.server import Server


def stepweave(server: Server, *arguments: str, typed: str = "") -> subprocess.CompletedProcess[str]:
    environment = os.environ | {
        "STEPWEAVE_URL": server.base_url,
        "STEPWEAVE_API_KEY": server.key,
        "STEPWEAVE_ADMIN_KEY": server.admin_key,
        "LANG": "en_US.UTF-8",
    }
    command = [str(STEPWEAVE), *arguments]
    return subprocess.run(
        command, cwd=ROOT, input=typed, capture_output=True, text=True, timeout=120, env=environment, check=False
    )


def variables_of(path: Path) -> list[str]:
    """What an example needs, from its own declaration: any text, any number."""
    nodes = json.loads(path.read_text())["graphData"]["nodes"]
    declared = [each for node in nodes if node["type"] == "userInput" for each in node["data"]["variables"]]
    values = {"number": "3", "boolean": "true", "array": "[1]", "object": "{}"}
    return [f"{each['name']}={values.get(each.get('type', 'string'), '茶 tea')}" for each in declared]


@pytest.mark.parametrize("path", sorted((ROOT / "examples").glob("*.json")), ids=lambda path: path.stem)
def test_every_example_runs_to_its_end(server: Server, path: Path) -> None:
    given = [word for variable in variables_of(path) for word in ("--var", variable)]
    ended = stepweave(server, "run", str(path.relative_to(ROOT)), *given, typed="refund\n")
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.strip()
    assert "done" in ended.stderr


def test_a_run_is_listed_and_shown(server: Server) -> None:
    run_id = server.start("research-report", {"topic": "tea"})
    server.finish(run_id)
    shown = stepweave(server, "runs", "show", run_id, "--json")
    assert shown.returncode == 0, shown.stderr
    assert json.loads(shown.stdout)["status"] == "SUCCESS"
    listed = stepweave(server, "runs", "list", "research-report", "--json")
    assert run_id in listed.stdout


def test_a_failing_run_ends_the_command_with_one(server: Server) -> None:
    script = [[{"error": "model overloaded", "retryable": False}]]
    nodes = {
        "in": {"type": "userInput", "variables": []},
        "boom": {"type": "llm", "model": "scripted:inline", "userPrompt": "x", "script": script},
        "out": {"type": "output"},
    }
    ended = stepweave(server, "run", server.save(nodes, [["in", "boom"], ["boom", "out"]]))
    assert ended.returncode == 1
    assert "boom" in ended.stderr
    assert "model overloaded" in ended.stderr
