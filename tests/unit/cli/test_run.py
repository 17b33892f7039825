"""`stepweave run`: its exit status, what it prints, and how often it asks the server for what."""

import json
from pathlib import Path

import pytest

from stepweave_local import attachments
from tests.builders.command_line import CommandLine
from tests.unit.cli.fake_server import (
    CUT,
    END,
    PAUSE,
    RUN_ID,
    FakeServer,
    asks,
    complete,
    done,
    error,
    failed,
    running,
    skipped,
    stream,
)

RUNS = "/api/v1/workflows/report/runs"
TOPIC = {"name": "topic", "type": "string", "required": True}


@pytest.fixture
def report(server: FakeServer) -> FakeServer:
    server.knows("report", TOPIC)
    server.script = [
        running("outline", label="Outline"),
        stream("outline", "thinking", "first line\nsecond "),
        stream("outline", "thinking", "line"),
        stream("outline", "tool_call", '{"path": "a.md"}', "read_file"),
        stream("outline", "tool_result", "the text", "read_file"),
        done("outline", result="…"),
        skipped("short"),
        complete(report="Tea is a drink."),
    ]
    return server


def test_a_successful_run_exits_0_with_its_output_alone_on_stdout(cli: CommandLine, report: FakeServer) -> None:
    told = cli("run", "report", "--var", "topic=tea")
    assert (told.status, told.out) == (0, "Tea is a drink.\n")
    assert report.called("POST", RUNS)[0].json == {"variables": {"topic": "tea"}, "async": True}


def test_without_a_terminal_everything_that_happens_is_a_line_on_stderr(cli: CommandLine, report: FakeServer) -> None:
    told = cli("run", "report", "--var", "topic=tea")
    assert told.err.splitlines()[:-2] == [
        f"report · run {RUN_ID}",
        "",
        "[outline] started (llm)",
        "[outline] | first line",
        "[outline] | second line",
        '[outline] read_file {"path": "a.md"}',
        "[outline] read_file → the text",
        "[outline] done",
        "[short] skipped",
        "",
    ]
    assert told.err.splitlines()[-2].startswith("Done in ")


def test_a_run_that_fails_exits_1_and_says_why(cli: CommandLine, report: FakeServer) -> None:
    report.script = [running("a"), failed("a", "no model"), error("node a failed: no model", "a")]
    told = cli("run", "report", "--var", "topic=tea")
    assert (told.status, told.out) == (1, "")
    assert "[a] failed: no model" in told.err
    assert "node a failed: no model" in told.err.splitlines()[-1]


def test_with_json_a_run_prints_one_object_and_nothing_else(cli: CommandLine, report: FakeServer) -> None:
    told = cli("run", "report", "--var", "topic=tea", "--json")
    assert told.err == ""
    assert told.json.pop("seconds") >= 0
    assert told.json["runId"] == RUN_ID
    assert told.json["status"] == "SUCCESS"
    assert told.json["output"]["data"] == {"report": "Tea is a drink."}


def test_with_json_a_failed_run_tells_its_error_and_node(cli: CommandLine, report: FakeServer) -> None:
    report.script = [error("node a failed: no model", "a")]
    told = cli("--json", "run", "report", "--var", "topic=tea")
    assert told.status == 1
    assert {**told.json, "seconds": 0} == {
        "runId": RUN_ID,
        "status": "FAILED",
        "error": "node a failed: no model",
        "failedNodeId": "a",
        "seconds": 0,
    }


def test_several_outputs_are_told_apart_by_their_names(cli: CommandLine, report: FakeServer) -> None:
    report.script = [complete(title="Tea", count=3, tags=["a"])]
    assert cli("run", "report", "--var", "topic=x").out.split() == [
        "title",
        "Tea",
        "count",
        "3",
        "tags",
        "[",
        '"a"',
        "]",
    ]


def test_outputs_too_large_for_an_event_are_told_by_their_address(cli: CommandLine, report: FakeServer) -> None:
    report.script = [{**complete(), "output": None, "outputUrl": f"{RUNS}/{RUN_ID}/output"}]
    assert cli("run", "report", "--var", "topic=x").out == f"{report.url}{RUNS}/{RUN_ID}/output\n"


def test_escape_sequences_of_a_model_do_not_reach_the_terminal(cli: CommandLine, report: FakeServer) -> None:
    report.script = [running("a"), stream("a", "thinking", "\x1b[2Jhidden\n"), complete(report="\x1b]0;title\x07ok")]
    told = cli("run", "report", "--var", "topic=x")
    assert "\x1b" not in told.err + told.out
    assert "[a] | [2Jhidden" in told.err


@pytest.mark.usefixtures("quick")
def test_a_broken_stream_is_resumed_where_it_broke_and_nothing_is_posted_again(
    cli: CommandLine, report: FakeServer
) -> None:
    report.script[3:3] = [CUT]
    report.script[6:6] = [END]
    whole = cli("run", "report", "--var", "topic=tea")
    assert whole.status == 0
    assert whole.err.count("[outline] | second line") == 1
    assert "connection lost" in whole.err
    resumed = [request.headers.get("Last-Event-ID") for request in report.requests if request.path.endswith("/stream")]
    assert resumed == [None, "3", "5"]
    assert len(report.called("POST", RUNS)) == len(report.called("POST", f"{RUNS}/{RUN_ID}/start")) == 1


@pytest.mark.usefixtures("quick")
def test_a_stream_that_never_comes_back_ends_with_exit_2(cli: CommandLine, report: FakeServer) -> None:
    report.answers["GET", f"/api/v1/runs/{RUN_ID}/stream"] = (503, b"down")
    told = cli("run", "report", "--var", "topic=tea")
    assert told.status == 2
    assert f"stepweave runs watch {RUN_ID}" in told.err
    assert "HTTP 503" in told.err


def test_a_question_is_answered_with_a_line_of_the_input(cli: CommandLine, report: FakeServer) -> None:
    report.open_questions = ["clar-review"]
    report.script = [running("review"), asks("review", "Which?", "v1", "v2"), PAUSE, complete(report="done")]
    told = cli("run", "report", "--var", "topic=x", stdin="9\n2\n")
    assert told.status == 0
    assert "[review] ? Which? [v1, v2]" in told.err
    assert '"9" is none of the options' in told.err
    [resume] = report.called("POST", f"/api/v1/runs/{RUN_ID}/resume")
    assert resume.json == {"clarifyId": "clar-review", "answer": "v2"}


def test_a_question_that_nobody_can_answer_here_says_where_to_answer(cli: CommandLine, report: FakeServer) -> None:
    report.open_questions = ["clar-review"]
    report.script = [running("review"), asks("review", "Which?"), PAUSE, complete(report="done")]
    report.goes_on_when_asked = True
    told = cli("run", "report", "--var", "topic=x")
    assert told.status == 0
    assert (
        f"waits for an answer that nobody gives here (Which?): answer it at {report.url}/ui/runs/{RUN_ID}" in told.err
    )


def test_an_old_question_that_is_answered_already_is_not_asked_again(cli: CommandLine, report: FakeServer) -> None:
    report.script = [running("review"), asks("review", "Which?"), PAUSE, complete(report="done")]
    report.goes_on_when_asked = True
    told = cli("run", "report", "--var", "topic=x", stdin="an answer\n")
    assert told.status == 0
    assert not report.called("POST", f"/api/v1/runs/{RUN_ID}/resume")


def test_an_answer_that_came_from_elsewhere_first_does_not_end_the_command(
    cli: CommandLine, report: FakeServer
) -> None:
    report.open_questions = ["clar-review"]
    report.script = [running("review"), asks("review", "Which?"), PAUSE, complete(report="done")]
    report.goes_on_when_asked = True
    told_already = {"code": "CLARIFY_ALREADY_ANSWERED", "message": "answered", "data": None}
    report.answers["POST", f"/api/v1/runs/{RUN_ID}/resume"] = (409, told_already)
    told = cli("run", "report", "--var", "topic=x", stdin="mine\n")
    assert told.status == 0
    assert "answered elsewhere" in told.err


def test_ctrl_c_leaves_the_run_alone_and_tells_how_to_come_back(
    cli: CommandLine, report: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("stepweave_local.watch._Watcher.play", interrupted)
    told = cli("run", "report", "--var", "topic=x")
    assert told.status == 130
    assert f"stepweave runs watch {RUN_ID}" in told.err
    assert f"stepweave runs cancel {RUN_ID}" in told.err
    assert not report.called("POST", f"/api/v1/runs/{RUN_ID}/cancel")


def test_a_file_is_saved_first_and_its_types_are_followed(cli: CommandLine, report: FakeServer, tmp_path: Path) -> None:
    variables = [{"name": "count", "type": "number", "required": True}]
    node = {"id": "in", "type": "userInput", "data": {"variables": variables}}
    definition = {"name": "fresh", "graphData": {"nodes": [node], "edges": []}}
    (tmp_path / "fresh.json").write_text(json.dumps(definition), "utf-8")
    told = cli("run", "fresh.json", "--var", "count=3")
    assert told.status == 0
    assert "Saved fresh, version 1" in told.err
    assert [request.method for request in report.requests[:2]] == ["PUT", "POST"]
    assert report.requests[1].json == definition
    assert report.called("POST", "/api/v1/workflows/fresh/runs")[0].json["variables"] == {"count": 3}


def test_an_invalid_file_tells_every_problem_with_its_place(
    cli: CommandLine, report: FakeServer, tmp_path: Path
) -> None:
    problems = [
        {"code": "NO_OUTPUT", "message": "needs an output"},
        {"code": "BAD_DATA", "message": "model is missing", "nodeId": "draft"},
        {"code": "BAD_EDGE", "message": "no such node", "edge": {"source": "a", "target": "b", "sourceHandle": None}},
    ]
    refused = {"code": "GRAPH_INVALID", "message": "3 problems", "data": {"problems": problems}}
    report.answers["PUT", "/api/workflows/fresh"] = (422, refused)
    (tmp_path / "fresh.json").write_text('{"name": "fresh"}', "utf-8")
    told = cli("run", "fresh.json")
    assert told.status == 2
    assert told.err.splitlines()[0] == "The definition has 3 problems:"
    rows = [line.split() for line in told.err.splitlines()[2:]]
    assert rows == [
        ["–", "needs", "an", "output", "NO_OUTPUT"],
        ["draft", "model", "is", "missing", "BAD_DATA"],
        ["a", "→", "b", "no", "such", "node", "BAD_EDGE"],
    ]
    assert cli("run", "fresh.json", "--json").json["error"]["problems"] == problems


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b'{"name": "x",\n  oops}', "w.json:2:3 is not valid JSON"),
        (b"\xff\xfe", "is not UTF-8"),
        (b"[]", "holds no workflow definition"),
        (None, "w.json cannot be read (No such file or directory)"),
    ],
)
def test_a_file_that_is_no_definition_says_what_is_wrong(
    cli: CommandLine, tmp_path: Path, content: bytes | None, words: str
) -> None:
    if content is not None:
        (tmp_path / "w.json").write_bytes(content)
    told = cli("run", "w.json")
    assert (told.status, told.out) == (2, "")
    assert words in told.err


def test_an_unknown_workflow_names_those_that_may_be_meant(cli: CommandLine, report: FakeServer) -> None:
    told = cli("run", "reprot")
    assert told.status == 2
    assert told.err == "There is no workflow reprot: did you mean report?\n"
    assert "`stepweave workflows list`" in cli("run", "zzz").err


def test_where_there_is_no_workflow_at_all_it_says_how_to_save_one(cli: CommandLine) -> None:
    assert "stepweave workflows push" in cli("run", "report").err


def test_a_workflow_may_be_named_by_its_number(cli: CommandLine, report: FakeServer) -> None:
    assert cli("run", "1", "--var", "topic=x").status == 0
    assert report.called("POST", RUNS)


def test_small_files_go_along_with_their_paths(cli: CommandLine, report: FakeServer, tmp_path: Path) -> None:
    (tmp_path / "data" / "2024").mkdir(parents=True)
    (tmp_path / "data" / "2024" / "数据.csv").write_text("a,b", "utf-8")
    (tmp_path / "notes.md").write_text("hello", "utf-8")
    assert cli("run", "report", "--var", "topic=x", "--file", "notes.md", "--file", "data").status == 0
    [create] = report.called("POST", RUNS)
    assert create.headers["Content-Type"].startswith("multipart/form-data")
    assert json.dumps(["notes.md", "data/2024/数据.csv"], ensure_ascii=False).encode() in create.body
    assert b"hello" in create.body
    assert b"a,b" in create.body


def test_large_files_are_uploaded_to_signed_addresses(
    cli: CommandLine, report: FakeServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(attachments, "REQUEST_BYTES", 3)
    (tmp_path / "big.bin").write_bytes(b"12345")
    target = {"path": "big.bin", "url": f"{report.url}/signed", "headers": {"x-amz-meta-a": "b"}, "expiresAt": ""}
    report.answers["POST", f"{RUNS}/{RUN_ID}/uploads"] = (200, {"code": "OK", "data": {"uploads": [target]}})
    report.answers["PUT", "/signed"] = (200, b"")
    assert cli("run", "report", "--var", "topic=x", "--file", "big.bin").status == 0
    [put] = report.called("PUT", "/signed")
    assert (put.body, put.headers["x-amz-meta-a"]) == (b"12345", "b")
    assert "X-API-Key" not in put.headers
    order = [request.path.rpartition("/")[2] for request in report.requests if request.method in ("POST", "PUT")]
    assert order == ["runs", "uploads", "signed", "start"]


def test_two_files_of_one_name_are_told_before_anything_is_sent(
    cli: CommandLine, report: FakeServer, tmp_path: Path
) -> None:
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "x.md").touch()
    told = cli("run", "report", "--var", "topic=x", "--file", "a/x.md", "--file", "b/x.md")
    assert told.status == 2
    assert "would both be x.md" in told.err
    assert not report.called("POST", RUNS)


def test_a_fail_strategy_is_passed_on_and_a_strange_one_refused(cli: CommandLine, report: FakeServer) -> None:
    cli("run", "report", "--var", "topic=x", "--fail-strategy", "skip")
    assert report.called("POST", RUNS)[0].json["failStrategy"] == "skip"
    assert cli("run", "report", "--fail-strategy", "hope").status == 2


def test_a_busy_server_is_asked_again(cli: CommandLine, report: FakeServer, quick: None) -> None:
    report.answers["GET", "/api/v1/workflows"] = (429, {"code": "RATE_LIMITED", "message": "busy", "data": None})
    told = cli("run", "report", "--var", "topic=x")
    assert told.status == 2
    assert "busy" in told.err
    assert len(report.called("GET", "/api/v1/workflows")) == 4


def test_chinese_is_spoken_where_the_locale_is_chinese(cli: CommandLine, report: FakeServer) -> None:
    told = cli("run", "report", LANG="zh_CN.UTF-8")
    assert told.err == "缺少必填变量 topic（string）：请加上 --var topic=…。\n"
    assert report.requests[0].headers["Accept-Language"] == "zh"
