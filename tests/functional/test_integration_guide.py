"""`docs/integration.md`: its commands are executed as they stand, and both languages have the same."""

import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from tests.functional.js.served import Served

ROOT = Path(__file__).parents[2]
GUIDES = (ROOT / "docs" / "integration.md", ROOT / "docs" / "integration.zh.md")
EXAMPLES = ("research-report", "support-triage")


def blocks(guide: Path, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", guide.read_text("utf-8"), re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("language", ["sh", "js"])
def test_both_languages_have_the_same_commands(language: str) -> None:
    english, chinese = (blocks(guide, language) for guide in GUIDES)
    assert english
    assert english == chinese


def test_both_languages_have_the_same_structure() -> None:
    english, chinese = (re.findall(r"^(#+|\||-) ?", guide.read_text("utf-8"), re.MULTILINE) for guide in GUIDES)
    assert english == chinese


def test_every_link_leads_somewhere() -> None:
    for guide in GUIDES:
        for target in re.findall(r"\]\((?!http)([^)]+)\)", guide.read_text("utf-8")):
            assert (guide.parent / target).exists(), f"{guide.name}: {target}"


def test_every_command_does_what_the_page_says(tmp_path: Path) -> None:
    server = Served()
    try:
        for name in EXAMPLES:
            server.stack.save(_unhurried(name))
        told = _execute(blocks(GUIDES[0], "sh"), tmp_path, server)
    finally:
        server.close()
    _, listed, _, started, followed, asked_for, in_one, again, page, files, _, uploads, asking, viewed, cancelled = told
    assert [one["name"] for one in _answers(listed)[0]["items"]] == ["research-report"]
    assert _answers(started)[0]["status"] == "RUNNING"
    ids = _ids(followed)
    assert ids == list(range(1, len(ids) + 1))
    assert "event: workflow_complete" in followed
    result, logs = _answers(asked_for)
    assert result["outputs"]["data"]["report"]
    assert logs["logs"]
    assert zipfile.is_zipfile(tmp_path / "workspace.zip")
    assert _ids(in_one) == ids
    assert _ids(again) == ids[3:] * 2
    assert _answers(page)[0]["done"]
    assert _answers(files)[0]["status"] == "CREATED"
    assert _answers(uploads)[0]["uploads"][0]["path"] == "inputs/film.mp4"
    assert '"accepted":true' in asking
    assert "event: workflow_complete" in asking
    assert _answers(viewed)[0]["status"] == "SUCCESS"
    assert _ids(viewed) == ids
    assert _answers(cancelled)[0]["error"] == "CANCELLED"


def _unhurried(name: str) -> dict[str, object]:
    """An example without the pauses of its scripts."""
    text = (ROOT / "examples" / f"{name}.json").read_text("utf-8")
    definition: dict[str, object] = json.loads(re.sub(r'"delayMs": \d+', '"delayMs": 0', text))
    return definition


def _execute(commands: list[str], folder: Path, server: Served) -> list[str]:
    """What each block writes. An answer that is an error ends it, as does a command that fails."""
    curl = shutil.which("curl")
    assert curl is not None, "curl is not installed: the commands of docs/integration.md are tested with it"
    (folder / ".curlrc").write_text("fail-with-body\nshow-error\n", "utf-8")
    mark = "-- next block --\n"
    script = "set -euo pipefail\n" + f"printf '%s' '{mark}'\n".join(commands)
    environment = os.environ | {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "CURL_HOME": str(folder),
        "NO_PROXY": "127.0.0.1",
        "STEPWEAVE_URL": server.url,
        "STEPWEAVE_API_KEY": server.stack.key,
    }
    done = subprocess.run(
        ["bash", "-c", script], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{done.stdout[-2000:]}\n{done.stderr[-2000:]}"
    return done.stdout.split(mark)


def _answers(text: str) -> list[Any]:
    """The data of the answers at the beginning of what was written."""
    found = []
    while text.startswith("{"):
        answer, end = json.JSONDecoder().raw_decode(text)
        found.append(answer["data"])
        text = text[end:]
    return found


def _ids(stream: str) -> list[int]:
    return [int(number) for number in re.findall(r"^id: (\d+)$", stream, re.MULTILINE)]
