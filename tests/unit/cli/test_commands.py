"""The commands beside `run`: what they ask of the server, what they print, and how they fail."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from stepweave_local import main as command_module
from tests.builders.command_line import CommandLine, Done
from tests.unit.cli.fake_server import ADMIN_KEY, KEY, RUN_ID, FakeServer, complete, error, running

ROOT = Path(__file__).parents[3]
EXAMPLES = ROOT / "examples"
RUN = {
    "runId": RUN_ID,
    "workflow": "report",
    "status": "FAILED",
    "startedAt": "2026-07-01T08:30:05.000Z",
    "completedAt": "2026-07-01T08:31:12.500Z",
    "error": "节点 draft 执行失败：no model",
    "failedNodeId": "draft",
}
DEFINITION = {"name": "report", "title": "报告", "graphData": {"nodes": [], "edges": []}}


def ok(data: Any) -> tuple[int, Any]:
    return 200, {"code": "OK", "message": "", "data": data}


def refused(status: int, code: str, message: str) -> tuple[int, Any]:
    return status, {"code": code, "message": message, "data": None}


def words(told: Done) -> list[list[str]]:
    return [line.split() for line in told.out.splitlines()]


def test_status_tells_where_the_server_is_and_that_the_keys_work(cli: CommandLine, server: FakeServer) -> None:
    server.knows("report")
    told = cli("status")
    assert told.status == 0
    assert server.url in told.out
    assert "from STEPWEAVE_URL" in told.out
    assert "accepted   1 workflow" in told.out
    data = cli("status", "--json").json
    assert (data["keyAccepted"], data["adminKeyAccepted"], data["workflows"]) == (True, True, 1)


def test_status_tells_keys_that_are_refused(cli: CommandLine, server: FakeServer) -> None:
    told = cli("status", "--key", "wrong")
    assert told.status == 2
    assert told.out.count("refused") == 2
    assert cli("status", STEPWEAVE_ADMIN_KEY="wrong").status == 0


def test_no_server_says_so_in_one_sentence_with_exit_2(lonely: CommandLine, tmp_path: Path) -> None:
    (tmp_path / ".stepweave").mkdir()
    dev = {"baseUrl": "http://127.0.0.1:9", "apiKey": "k", "adminKey": "a"}
    (tmp_path / ".stepweave" / "dev.json").write_text(json.dumps(dev), "utf-8")
    told = lonely("workflows", "list")
    assert (told.status, told.out) == (2, "")
    assert told.err == "No server is running at http://127.0.0.1:9: run `stepweave up` first.\n"
    assert (
        lonely("workflows", "list", LANG="zh_CN").err
        == "http://127.0.0.1:9 没有服务在运行：请先运行 `stepweave up`。\n"
    )


def test_with_json_an_error_is_an_object_on_stdout_and_a_sentence_on_stderr(lonely: CommandLine) -> None:
    told = lonely("workflows", "list", "--json", "--endpoint", "http://127.0.0.1:9", "--key", "k")
    assert told.status == 2
    assert told.json["error"]["code"] == "UNREACHABLE"
    assert told.json["error"]["message"] + "\n" == told.err


def test_a_wrong_key_says_what_to_check(cli: CommandLine) -> None:
    told = cli("workflows", "list", "--key", "wrong")
    assert told.status == 2
    assert told.err.startswith("the API key is missing or wrong. Check --key or STEPWEAVE_API_KEY")


@pytest.mark.parametrize("answer", [(200, b"<html>"), (502, b"Bad gateway"), (200, {"hello": "world"})])
def test_a_server_that_is_not_stepweave_is_told(cli: CommandLine, server: FakeServer, answer: tuple[int, Any]) -> None:
    server.answers["GET", "/api/v1/workflows"] = answer
    told = cli("workflows", "list")
    assert told.status == 2
    assert "is not stepweave: check the address" in told.err


def test_options_may_stand_before_the_command_or_after_it(cli: CommandLine, server: FakeServer) -> None:
    cli("--key", "before", "workflows", "list")
    cli("--key", "before", "workflows", "list", "--key", "after")
    assert [request.headers["X-API-Key"] for request in server.requests] == ["before", "after"]


def test_workflows_are_listed_over_all_pages_with_their_inputs(cli: CommandLine, server: FakeServer) -> None:
    for number in range(101):
        server.knows(f"flow-{number}", {"name": "topic", "required": True}, {"name": "depth"})
    rows = words(cli("workflows", "list"))
    assert rows[0] == ["name", "id", "inputs"]
    assert rows[101] == ["flow-100", "101", "topic*,", "depth"]
    assert len(cli("workflows", "list", "--json").json["items"]) == 101


def test_an_empty_list_says_how_to_fill_it(cli: CommandLine) -> None:
    assert "stepweave workflows push" in cli("workflows", "list").out


def test_push_makes_a_workflow_and_then_the_next_version_of_it(
    cli: CommandLine, server: FakeServer, tmp_path: Path
) -> None:
    (tmp_path / "w.json").write_text(json.dumps(DEFINITION), "utf-8")
    assert "report saved as version 1" in cli("workflows", "push", "w.json").err
    told = cli("workflows", "push", "w.json", "--json")
    assert told.json == {"items": [{"id": 1, "name": "report", "version": 2}]}
    assert [request.method for request in server.requests] == ["PUT", "POST", "PUT"]
    assert {request.headers["X-API-Key"] for request in server.requests} == {ADMIN_KEY}


def test_push_saves_nothing_when_one_of_the_files_cannot_be_read(
    cli: CommandLine, server: FakeServer, tmp_path: Path
) -> None:
    (tmp_path / "w.json").write_text(json.dumps(DEFINITION), "utf-8")
    assert cli("workflows", "push", "w.json", "missing.json").status == 2
    assert not server.requests


def test_pull_writes_the_definition_without_the_fields_of_the_server(
    cli: CommandLine, server: FakeServer, tmp_path: Path
) -> None:
    server.knows("report")
    server.answers["GET", "/api/workflows/report"] = ok({**DEFINITION, "id": 1, "version": 3, "latestVersion": 4})
    told = cli("workflows", "pull", "1", "--version", "3", "--json")
    assert told.json == {"name": "report", "version": 3, "file": "report.json"}
    assert json.loads((tmp_path / "report.json").read_text("utf-8")) == DEFINITION
    assert server.requests[-1].query == {"version": "3"}
    assert json.loads(cli("workflows", "pull", "report", "-o", "-").out) == DEFINITION


def test_pull_never_overwrites_changes_without_force(cli: CommandLine, server: FakeServer, tmp_path: Path) -> None:
    server.knows("report")
    server.answers["GET", "/api/workflows/report"] = ok(DEFINITION)
    assert cli("workflows", "pull", "report").status == 0
    assert cli("workflows", "pull", "report").status == 0
    (tmp_path / "report.json").write_text("mine", "utf-8")
    told = cli("workflows", "pull", "report")
    assert told.status == 2
    assert "report.json exists and differs: give --force" in told.err
    assert (tmp_path / "report.json").read_text("utf-8") == "mine"
    assert cli("workflows", "pull", "report", "--force").status == 0
    assert json.loads((tmp_path / "report.json").read_text("utf-8")) == DEFINITION


def test_validate_needs_no_server_and_tells_all_problems(lonely: CommandLine, tmp_path: Path) -> None:
    good = EXAMPLES / "research-report.json"
    (tmp_path / "bad.json").write_text('{"name": "Bad Name", "graphData": {"nodes": [{"id": "a"}]}}', "utf-8")
    assert lonely("workflows", "validate", str(good)).status == 0
    told = lonely("workflows", "validate", str(good), "bad.json")
    assert told.status == 1
    lines = told.out.splitlines()
    assert lines[0] == f"✓ {good}"
    assert lines[1].startswith("✗ bad.json: ")
    assert len(lines) > 4
    checked = lonely("workflows", "validate", "bad.json", "--json").json["items"]
    assert checked[0]["valid"] is False
    assert {"code", "message"} <= set(checked[0]["problems"][0])


def test_keys_are_created_shown_once_listed_and_revoked(cli: CommandLine, server: FakeServer) -> None:
    key = {
        "keyId": "key-1",
        "name": "ci",
        "scopes": ["run"],
        "workflows": ["report"],
        "createdAt": "2026-07-01T00:00:00Z",
    }
    server.answers["POST", "/api/keys"] = ok({**key, "key": "sw_secret", "callbackSecret": "whsec"})
    server.answers["GET", "/api/keys"] = ok({"total": 1, "items": [key]})
    server.answers["DELETE", "/api/keys/key-1"] = ok(None)
    made = cli("keys", "create", "--name", "ci", "--workflow", "report")
    assert "sw_secret" in made.out
    assert "whsec" in made.out
    assert "nobody can show it again" in made.out
    assert server.requests[-1].json == {"name": "ci", "scopes": ["run"], "workflows": ["report"]}
    assert words(cli("keys", "list"))[1] == ["key-1", "ci", "run", "report", "2026-07-01T00:00:00Z"]
    assert cli("keys", "revoke", "key-1", "--json").json == {"keyId": "key-1", "revoked": True}


def test_an_admin_key_cannot_be_bound_to_workflows(cli: CommandLine, server: FakeServer) -> None:
    assert "--admin and --workflow exclude each other" in cli("keys", "create", "--admin", "--workflow", "a").err
    assert not server.requests


def test_bootstrap_makes_the_key_without_any_server(lonely: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, str]] = []

    def create_admin_key(stack: str, name: str) -> Mapping[str, Any]:
        asked.append((stack, name))
        return {"keyId": "key-1", "key": "sw_first"}

    monkeypatch.setattr(command_module, "_load", lambda target: {command_module.BOOTSTRAP: create_admin_key}[target])
    assert lonely("keys", "create", "--bootstrap", "--stack", "prod", "--json").json["key"] == "sw_first"
    assert asked == [("prod", "admin")]


def test_runs_are_listed_of_all_workflows_or_of_one(cli: CommandLine, server: FakeServer) -> None:
    server.knows("report")
    server.knows("other")
    newer = {**RUN, "runId": "0000000b", "createdAt": "2026-07-02T00:00:00Z", "status": "RUNNING", "completedAt": None}
    older = {**RUN, "createdAt": "2026-07-01T00:00:00Z"}
    server.answers["GET", "/api/v1/workflows/report/runs"] = ok({"items": [older], "nextCursor": None})
    server.answers["GET", "/api/v1/workflows/other/runs"] = ok({"items": [newer], "nextCursor": None})
    rows = words(cli("runs", "list", "--status", "failed"))[1:]
    assert [row[:2] for row in rows] == [["0000000b", "RUNNING"], [RUN_ID, "FAILED"]]
    assert "1m08s" in rows[1]
    assert server.requests[-1].query == {"limit": "20", "status": "FAILED"}
    assert {request.headers["X-API-Key"] for request in server.requests} == {KEY}
    assert len(cli("runs", "list", "--limit", "1", "--json").json["items"]) == 1
    assert len(cli("runs", "list", "report", "--json").json["items"]) == 1


def test_show_tells_the_nodes_of_a_run_and_exits_1_when_it_failed(cli: CommandLine, server: FakeServer) -> None:
    nodes = [
        {
            "nodeId": "draft",
            "label": "Draft",
            "nodeType": "llm",
            "status": "FAILED",
            "error": "no model",
            "visits": [1, 2],
        }
    ]
    server.knows("other")
    server.knows("report")
    server.answers["GET", f"/api/v1/workflows/other/runs/{RUN_ID}"] = refused(404, "RUN_NOT_FOUND", "not there")
    server.answers["GET", f"/api/v1/workflows/report/runs/{RUN_ID}"] = ok({**RUN, "nodes": nodes, "outputs": None})
    told = cli("runs", "show", RUN_ID)
    assert told.status == 1
    assert "✗" in told.out
    assert "Draft ×2" in told.out
    assert "no model" in told.out
    assert cli("runs", "show", RUN_ID, "--json").json["failedNodeId"] == "draft"


def test_show_prints_the_outputs_of_a_run_that_succeeded(cli: CommandLine, server: FakeServer) -> None:
    result: dict[str, Any] = {
        **RUN,
        "status": "SUCCESS",
        "error": None,
        "nodes": [],
        "outputs": {"status": 200, "data": {"a": "tea"}},
    }
    server.knows("report")
    server.answers["GET", f"/api/v1/workflows/report/runs/{RUN_ID}"] = ok(result)
    told = cli("runs", "show", RUN_ID)
    assert told.status == 0
    assert told.out.splitlines()[-1] == "  tea"


def test_an_unknown_run_says_how_to_find_the_known_ones(cli: CommandLine, server: FakeServer) -> None:
    server.answers["POST", "/api/v1/runs/ffffffff/cancel"] = refused(404, "RUN_NOT_FOUND", "there is no run ffffffff")
    told = cli("runs", "cancel", "ffffffff")
    assert told.status == 2
    assert told.err == "there is no run ffffffff. `stepweave runs list` shows the runs that there are.\n"


def test_cancel_and_redrive_say_what_they_did(cli: CommandLine, server: FakeServer) -> None:
    server.answers["POST", f"/api/v1/runs/{RUN_ID}/cancel"] = ok({"runId": RUN_ID, "status": "FAILED"})
    server.answers["POST", f"/api/runs/{RUN_ID}/redrive"] = ok({"runId": RUN_ID, "restarted": 2})
    assert cli("runs", "cancel", RUN_ID).out == f"Run {RUN_ID} is cancelled.\n"
    assert cli("runs", "redrive", RUN_ID, "--json").json == {"runId": RUN_ID, "restarted": 2}


def test_watch_prints_every_event_as_a_line_of_json(cli: CommandLine, server: FakeServer) -> None:
    server.script = [running("a"), running("b"), error("CANCELLED")]
    told = cli("runs", "watch", RUN_ID, "--json", "--after", "1")
    assert told.status == 1
    lines = [json.loads(line) for line in told.out.splitlines()]
    assert [(line["id"], line["type"]) for line in lines] == [(2, "node_status"), (3, "workflow_error")]


def test_watch_ends_as_the_run_ends(cli: CommandLine, server: FakeServer) -> None:
    server.script = [running("a"), complete(a="tea")]
    assert cli("runs", "watch", RUN_ID).out == "tea\n"
    server.answers["GET", f"/api/v1/runs/{RUN_ID}/stream"] = (204, b"")
    assert "no events after 9" in cli("runs", "watch", RUN_ID, "--after", "9").err


def test_watching_an_unknown_run_tells_the_error_of_the_stream(cli: CommandLine, server: FakeServer) -> None:
    event = b'event: workflow_error\ndata: {"error": "there is no run", "code": "RUN_NOT_FOUND"}\n\n'
    server.answers["GET", f"/api/v1/runs/{RUN_ID}/stream"] = (404, event)
    told = cli("runs", "watch", RUN_ID)
    assert told.status == 2
    assert told.err.startswith("there is no run. `stepweave runs list`")


def test_wrong_usage_is_one_sentence_with_the_help_page_to_read(cli: CommandLine) -> None:
    assert cli("run").err == "WORKFLOW|FILE.json is missing: see `stepweave run --help`.\n"
    assert (
        cli("run", "x", "--fil", "y").err
        == "There is no option --fil (did you mean --file?): see `stepweave run --help`.\n"
    )
    assert cli("bogus").err == "No such command 'bogus': see `stepweave --help`.\n"
    assert cli("run", LANG="zh_CN").err == "缺少 WORKFLOW|FILE.json：用法见 `stepweave run --help`。\n"


@pytest.mark.parametrize(
    ("language", "sentence"), [("en_US", "Run the whole stack"), ("zh_CN.UTF-8", "在本机启动整套服务")]
)
def test_help_speaks_the_language_of_the_locale(lonely: CommandLine, language: str, sentence: str) -> None:
    told = lonely("--help", LANG=language)
    assert told.status == 0
    assert sentence in told.out
    assert lonely(LANG=language).out == told.out


def test_up_serves_on_the_port_and_directory_given(lonely: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    served: list[tuple[int, Path]] = []

    def serve(port: int, data_dir: Path, tell: object) -> None:
        served.append((port, data_dir))

    monkeypatch.setattr(command_module, "_load", lambda target: {command_module.SERVE: serve}[target])
    assert lonely("up", "--port", "3000", "--data-dir", "state").status == 0
    assert lonely("up").status == 0
    assert served == [(3000, Path("state")), (2438, Path(".stepweave"))]
    assert lonely("up", "--port", "99999").status == 2


def test_help_and_completion_do_not_wait_for_what_only_a_call_needs() -> None:
    heavy = ["httpx", "pydantic", "rich.markdown", "boto3", "uvicorn", "fastapi"]
    program = f"import sys, stepweave_local.main; print([name for name in {heavy} if name in sys.modules])"
    paths = os.pathsep.join(str(ROOT / folder) for folder in ("layers/engine", "local"))
    told = subprocess.run(
        [sys.executable, "-c", program], env={"PYTHONPATH": paths}, capture_output=True, text=True, check=True
    )
    assert told.stdout == "[]\n"


def test_a_request_that_its_gateway_refuses_is_told_with_what_to_do(
    cli: CommandLine, server: FakeServer, tmp_path: Path
) -> None:
    (tmp_path / "SKILL.md").write_text("---\nname: sing\ndescription: how to sing\n---\nSing.\n", "utf-8")
    server.answers["POST", "/api/skills"] = (413, b'{"message":"Request Entity Too Large"}')
    told = cli("skills", "push", str(tmp_path))
    assert told.status == 2
    assert "about 4 MB" in told.err
