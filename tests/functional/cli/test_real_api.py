"""The command against the real API over memory: what it asks for is what the API has, and the examples run."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.builders.command_line import CommandLine
from tests.functional.api.definitions import asking
from tests.functional.api.stack import Stack

EXAMPLES = Path(__file__).parents[3] / "examples"


def hurried(name: str, folder: Path) -> str:
    """An example without the pauses of its scripts, as a file of the same name."""
    definition = json.loads((EXAMPLES / name).read_text("utf-8"))
    for node in definition["graphData"]["nodes"]:
        script = node["data"].get("script", [])
        node["data"] |= (
            {"script": [[step for step in turn if "delayMs" not in step] for turn in script]} if script else {}
        )
    (folder / name).write_text(json.dumps(definition), "utf-8")
    return name


@pytest.mark.parametrize(("length", "taken", "skipped"), [("full", "report", "brief"), ("short", "brief", "report")])
def test_the_research_report_takes_the_branch_that_was_asked_for(
    cli: CommandLine, tmp_path: Path, length: str, taken: str, skipped: str
) -> None:
    told = cli("run", hurried("research-report.json", tmp_path), "--var", "topic=茶", "--var", f"length={length}")
    assert told.status == 0, told.err
    assert "茶" in told.out
    assert f"[{taken}] done" in told.err
    assert f"[{skipped}] skipped" in told.err
    assert "[outline] | 题目是「茶」" in told.err


def test_the_parallel_review_joins_all_reviews(cli: CommandLine, tmp_path: Path) -> None:
    told = cli("run", hurried("parallel-review.json", tmp_path), "--var", "text=hello", "--json")
    assert told.status == 0, told.err
    assert set(told.json["output"]["data"]) == {"verdict", "factsReview", "styleReview", "readerReview"}


def test_the_structured_summary_gives_typed_outputs(cli: CommandLine, tmp_path: Path) -> None:
    told = cli("run", hurried("structured-summary.json", tmp_path), "--var", "text=hello", "--json")
    data: dict[str, Any] = told.json["output"]["data"]
    assert (data["sentiment"], data["confidence"], data["needsReview"]) == ("neutral", 0.85, False)
    assert len(data["points"]) == 3


@pytest.mark.parametrize("example", sorted(path.name for path in EXAMPLES.glob("*.json")))
def test_every_example_is_valid_and_told_in_the_readme(cli: CommandLine, example: str) -> None:
    told = cli("workflows", "validate", str(EXAMPLES / example))
    assert told.status == 0, told.out
    definition = json.loads((EXAMPLES / example).read_text("utf-8"))
    assert f"{definition['name']}.json" == example
    assert f"[`{example}`]({example})" in (EXAMPLES / "README.md").read_text("utf-8")


def test_a_question_is_answered_and_the_run_goes_on(cli: CommandLine, stack: Stack) -> None:
    options = [{"label": "Version 1", "value": "v1"}, {"label": "Version 2", "value": "v2"}]
    stack.save(asking(options=options, allowCustom=False))
    told = cli("run", "asking", stdin="3\nVersion 2\n")
    assert (told.status, told.out) == (0, "v2\n"), told.err


def test_a_definition_goes_to_the_server_and_comes_back_as_it_was(cli: CommandLine, tmp_path: Path) -> None:
    name = hurried("research-report.json", tmp_path)
    before = json.loads((tmp_path / name).read_text("utf-8"))
    assert cli("workflows", "push", name).status == 0
    assert cli("workflows", "push", name, "--json").json["items"][0]["version"] == 2
    assert [one["name"] for one in cli("workflows", "list", "--json").json["items"]] == ["research-report"]
    assert cli("workflows", "pull", "research-report", "-o", "back.json").status == 0
    assert json.loads((tmp_path / "back.json").read_text("utf-8")) == before


def test_an_invalid_definition_is_told_with_the_places_of_its_problems(cli: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "bad.json").write_text('{"name": "bad", "graphData": {"nodes": [{"id": "a", "type": "llm"}]}}', "utf-8")
    told = cli("run", "bad.json")
    assert told.status == 2
    problems = cli("run", "bad.json", "--json").json["error"]["problems"]
    assert len(problems) > 2
    assert all(problem["code"] in told.err for problem in problems)
    assert cli("workflows", "validate", "bad.json", "--json").json["items"][0]["problems"] == problems


def test_a_run_is_listed_shown_watched_again_and_past_cancelling(cli: CommandLine, tmp_path: Path) -> None:
    name = hurried("structured-summary.json", tmp_path)
    run_id = cli("run", name, "--var", "text=hello", "--json").json["runId"]
    assert [run["runId"] for run in cli("runs", "list", "--json").json["items"]] == [run_id]
    assert cli("runs", "list", "structured-summary", "--status", "FAILED").out == "There are no runs.\n"
    shown = cli("runs", "show", run_id)
    assert shown.status == 0
    assert "摘要 · Summary" in shown.out
    assert "confidence" in shown.out
    events = [json.loads(line) for line in cli("runs", "watch", run_id, "--json").out.splitlines()]
    assert [event["id"] for event in events] == list(range(1, len(events) + 1))
    assert cli("runs", "watch", run_id).status == 0
    assert cli("runs", "cancel", run_id).status == 2
    assert cli("runs", "show", "ffffffff").status == 2


def test_a_run_that_waits_can_be_cancelled(cli: CommandLine, stack: Stack) -> None:
    stack.save(asking())
    run_id = stack.start_run("asking")
    assert cli("runs", "cancel", run_id).status == 0
    watched = cli("runs", "watch", run_id)
    assert watched.status == 1
    assert "CANCELLED" in watched.err
    assert cli("runs", "redrive", run_id, "--json").json["runId"] == run_id


def test_keys_are_made_used_and_revoked(cli: CommandLine) -> None:
    made = cli("keys", "create", "--name", "ci", "--workflow", "research-report", "--json").json
    assert cli("workflows", "list", "--key", made["key"]).status == 0
    assert "ci" in cli("keys", "list").out
    assert cli("keys", "create", "--key", made["key"]).status == 2
    assert cli("keys", "revoke", made["keyId"]).status == 0
    assert made["keyId"] not in cli("keys", "list").out


def test_status_finds_the_server_of_dev_json(cli: CommandLine) -> None:
    told = cli("status")
    assert told.status == 0
    assert told.out.count("accepted") == 2
    assert "dev.json" in told.out
