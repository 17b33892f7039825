"""The files of a run over HTTP: addresses to upload to, the zip, and their end (contract §4)."""

import io
import zipfile
from datetime import timedelta
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import httpx
import pytest

from stepweave import clock as times
from stepweave.api import routes_files
from tests.functional.api.definitions import asking, definition
from tests.functional.api.stack import Stack
from tests.functional.api.test_errors import refused

RUNS = "/api/v1/workflows/echo/runs"
TOPIC = {"topic": "x"}
GB = 1024**3


def names(content: bytes) -> list[str]:
    return zipfile.ZipFile(io.BytesIO(content)).namelist()


def put(stack: Stack, run_id: str, **files: bytes) -> None:
    for path, content in files.items():
        stack.engine.ports.blobs.put(f"runs/{run_id}/workspace/{path}", content)


def named_by(stack: Stack, url: str) -> bytes:
    """What stands at an address of the memory's."""
    content = stack.engine.ports.blobs.get(unquote(urlsplit(url).path).removeprefix("/"))
    assert content is not None
    return content


def with_files(stack: Stack, **body: Any) -> str:
    run_id = stack.create_run("echo", variables=TOPIC, **body)
    put(stack, run_id, **{"报告.txt": b"r", "a b.txt": b"12", "plan-🚀.txt": b"", "x.log": b"log", "z/.hermes/s": b"s"})
    return run_id


LISTED = ["a b.txt", "plan-🚀.txt", "报告.txt"]


# The zip


@pytest.mark.parametrize("path", ["/api/v1/workflows/echo/runs/{}/workspace", "/api/workflows/echo/runs/{}/download"])
def test_the_files_come_as_a_zip_named_after_workflow_and_run(stack: Stack, path: str) -> None:
    run_id = with_files(stack)
    response = stack.call("GET", path.format(run_id), admin=True)
    assert (response.status_code, response.headers["Content-Type"]) == (200, "application/zip")
    assert response.headers["Content-Disposition"] == f"attachment; filename*=UTF-8''workflow-1-run-{run_id}.zip"
    assert names(response.content) == sorted(LISTED)


def test_the_number_of_the_workflow_leads_to_the_zip_as_its_name_does(stack: Stack) -> None:
    run_id = with_files(stack)
    assert names(stack.call("GET", f"/api/v1/workflows/1/runs/{run_id}/workspace").content) == sorted(LISTED)


def test_a_run_without_files_has_an_empty_zip(stack: Stack) -> None:
    run_id = stack.create_run("echo")
    assert names(stack.call("GET", f"{RUNS}/{run_id}/workspace").content) == []


def test_the_agentignore_of_the_run_holds(stack: Stack) -> None:
    run_id = with_files(stack)
    put(stack, run_id, **{".agentignore": b"plan-*\n"})
    assert names(stack.call("GET", f"{RUNS}/{run_id}/workspace").content) == [".agentignore", "a b.txt", "报告.txt"]


def test_the_address_of_the_same_zip_is_given_when_asked_for(stack: Stack) -> None:
    run_id = with_files(stack)
    url = stack.data("GET", f"{RUNS}/{run_id}/workspace?redirect=false")["url"]
    assert named_by(stack, url) == stack.call("GET", f"{RUNS}/{run_id}/workspace").content
    (told,) = parse_qs(urlsplit(url).query)["disposition"]
    assert told == f"attachment; filename*=UTF-8''workflow-1-run-{run_id}.zip"


def test_a_small_zip_passes_the_gateway(gateway: Stack) -> None:
    run_id = with_files(gateway)
    assert names(gateway.call("GET", f"{RUNS}/{run_id}/workspace").content) == sorted(LISTED)


def test_a_zip_too_large_for_the_gateway_is_a_302_to_the_same_zip(
    gateway: Stack, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_id = with_files(gateway)
    whole = gateway.call("GET", f"{RUNS}/{run_id}/workspace").content
    monkeypatch.setattr(routes_files, "_GATEWAY_BYTES", len(whole) - 1)
    response = gateway.call("GET", f"{RUNS}/{run_id}/workspace")
    assert (response.status_code, response.content) == (302, b"")
    assert named_by(gateway, response.headers["Location"]) == whole


def test_the_zip_is_as_private_as_the_run(stack: Stack) -> None:
    run_id = with_files(stack)
    stack.save(
        definition(
            "other",
            {"in": {"type": "userInput"}, "m": {"type": "much", "bytes": 1}, "out": {"type": "output"}},
            [("in", "m"), ("m", "out")],
        )
    )
    foreign = stack.app.state.api.keys.create("foreign", ["run"], ["other"]).secret
    for path in (f"{RUNS}/{run_id}/workspace", f"/api/v1/workflows/other/runs/{run_id}/workspace"):
        assert stack.call("GET", path, key=foreign).status_code in (401, 404)
    refused(stack.call("GET", f"{RUNS}/0000000f/workspace"), 404, "RUN_NOT_FOUND")
    assert stack.call("GET", f"/api/workflows/echo/runs/{run_id}/download").status_code == 401


def test_the_result_counts_the_files_and_the_end_tells_their_paths(stack: Stack) -> None:
    run_id = with_files(stack)
    stack.data("POST", f"{RUNS}/{run_id}/start")
    stack.drive()
    told = stack.data("GET", f"{RUNS}/{run_id}")["workspace"]
    assert told == {"fileCount": 3, "totalBytes": 3, "downloadUrl": f"{RUNS}/{run_id}/workspace"}
    assert stack.events(run_id)[-1]["data"]["workingDirFiles"] == sorted(LISTED)


def test_of_very_many_files_the_end_tells_as_many_as_fit(stack: Stack) -> None:
    run_id = stack.create_run("echo", variables=TOPIC)
    put(stack, run_id, **{f"{number:05}{'x' * 990}": b"" for number in range(1500)})
    stack.data("POST", f"{RUNS}/{run_id}/start")
    stack.drive()
    told = stack.events(run_id)[-1]["data"]["workingDirFiles"]
    assert 900 < len(told) < 1010
    assert stack.data("GET", f"{RUNS}/{run_id}")["workspace"]["fileCount"] == 1500


# Addresses to upload to


def uploads(stack: Stack, run_id: str, *files: Any) -> httpx.Response:
    return stack.call("POST", f"{RUNS}/{run_id}/uploads", {"files": list(files)})


def test_each_file_gets_an_address_of_its_own(stack: Stack) -> None:
    run_id = stack.create_run("echo")
    response = uploads(stack, run_id, {"path": "./d//报告.txt", "size": 7}, {"path": "b", "size": 0})
    one, other = response.json()["data"]["uploads"]
    assert unquote(urlsplit(one["url"]).path) == f"/runs/{run_id}/workspace/d/报告.txt"
    assert (one["path"], one["headers"], other["path"]) == ("d/报告.txt", {"Content-Length": "7"}, "b")
    assert one["expiresAt"].endswith("Z")


@pytest.mark.parametrize(
    "files",
    [
        [],
        [{"path": "a"}],
        [{"size": 1}],
        [{"path": 1, "size": 1}],
        [{"path": "a", "size": -1}],
        [{"path": "a", "size": "1"}],
        [{"path": "a", "size": 1.5}],
        [{"path": "../a", "size": 1}],
        [{"path": "a", "size": 1}, {"path": "./a", "size": 1}],
        [{"path": "a", "size": 1}, {"path": "a/b", "size": 1}],
        [{"path": f"f{number}", "size": 1} for number in range(501)],
    ],
)
def test_files_that_are_not_right_get_no_address(stack: Stack, files: list[Any]) -> None:
    refused(uploads(stack, stack.create_run("echo"), *files), 400, "VALIDATION_FAILED")


def test_a_file_larger_than_storage_takes_at_once_gets_no_address(stack: Stack) -> None:
    run_id = stack.create_run("echo")
    assert uploads(stack, run_id, {"path": "a", "size": 5 * GB}).status_code == 200
    refused(uploads(stack, run_id, {"path": "a", "size": 5 * GB + 1}), 413, "PAYLOAD_TOO_LARGE")


def test_files_are_uploaded_before_the_start(stack: Stack) -> None:
    run_id = stack.start_run("echo", variables=TOPIC)
    refused(uploads(stack, run_id, {"path": "a", "size": 1}), 409, "RUN_ALREADY_STARTED")


def test_very_many_addresses_fit_into_an_answer(stack: Stack) -> None:
    files = [{"path": f"{number:03}{'好' * 320}", "size": 1} for number in range(500)]
    response = uploads(stack, stack.create_run("echo"), *files)
    assert response.status_code == 200
    assert len(response.content) + 500 * 2_000 < 5_000_000  # with a signature and a session token in each address


# filePath


def reading(name: str = "reading", **types: str) -> dict[str, Any]:
    """Its light output node needs the file that `doc` names; the run's own input is not checked at the start."""
    outputs: dict[str, Any] = {"type": "output", "inputs": [{"name": "doc", "type": "filePath", "required": True}]}
    say = {"type": "llm", "model": "scripted:inline", "userPrompt": "go", "script": [[{"text": "x"}]]}
    say |= {"inputs": [{"name": "doc", "type": types.get("say", "string")}]}
    variables = [{"name": "doc", "type": types.get("start", "string")}]
    return definition(
        name,
        {"in": {"type": "userInput", "variables": variables}, "say": say, "out": outputs},
        [("in", "say"), ("say", "out")],
    )


@pytest.mark.parametrize("doc", ["a.txt", "./d/../a.txt", "x.log"])
@pytest.mark.parametrize("types", [{}, {"say": "filePath"}, {"start": "filePath"}])
def test_a_file_path_names_a_file_of_the_run(stack: Stack, doc: str, types: dict[str, str]) -> None:
    stack.save(reading(**types))
    run_id = stack.create_run("reading", variables={"doc": doc})
    put(stack, run_id, **{"a.txt": b"", "x.log": b""})
    stack.data("POST", f"/api/v1/workflows/reading/runs/{run_id}/start")
    stack.drive()
    assert stack.data("GET", f"/api/v1/workflows/reading/runs/{run_id}")["status"] == "SUCCESS"


@pytest.mark.parametrize("doc", ["b.txt", "../a.txt", "/a.txt", "", "a\\b"])
def test_a_start_is_refused_when_a_file_is_missing(stack: Stack, doc: str) -> None:
    stack.save(reading(start="filePath"))
    run_id = stack.create_run("reading", variables={"doc": doc})
    put(stack, run_id, **{"a.txt": b""})
    assert "doc" in refused(
        stack.call("POST", f"/api/v1/workflows/reading/runs/{run_id}/start"), 400, "VALIDATION_FAILED"
    )


@pytest.mark.parametrize(("types", "node"), [({}, "out"), ({"say": "filePath"}, "say")])
@pytest.mark.parametrize("doc", ["b.txt", "../a.txt", "a\\b"])
def test_a_node_whose_file_is_missing_fails_and_names_it(
    stack: Stack, types: dict[str, str], node: str, doc: str
) -> None:
    stack.save(reading(**types))
    run_id = stack.finish_run("reading", variables={"doc": doc})
    result = stack.data("GET", f"/api/v1/workflows/reading/runs/{run_id}")
    assert (result["status"], result["failedNodeId"]) == ("FAILED", node)
    assert '"doc"' in result["error"]


# Their end


def expired(stack: Stack, run_id: str, workflow: str = "echo") -> bool:
    """As the API tells it, before and after the sweep, which must agree."""
    path = f"/api/v1/workflows/{workflow}/runs/{run_id}"
    gone = stack.call("GET", f"{path}/workspace").status_code == 404
    assert (stack.data("GET", path)["workspace"]["fileCount"] == 0) == gone
    stack.engine.sweep.sweep()
    assert (list(stack.engine.ports.blobs.list(f"runs/{run_id}/workspace")) == []) == gone
    return gone


@pytest.mark.parametrize(
    ("body", "hours"), [({}, 720), ({"ttlHours": 2}, 2), ({"ttlHours": 0.5}, 0.5), ({"ttlHours": 5000}, 5000)]
)
@pytest.mark.parametrize("starts", [True, False])
def test_files_go_some_time_after_the_end_or_after_the_creation_of_a_run_that_is_never_started(
    stack: Stack, body: dict[str, Any], hours: float, starts: bool
) -> None:
    run_id = with_files(stack, **body)
    stack.data("GET", f"{RUNS}/{run_id}/workspace?redirect=false")  # leaves the zip, which must go too
    if starts:
        stack.clock.ahead = timedelta(hours=hours / 2)
        stack.data("POST", f"{RUNS}/{run_id}/start")
        stack.drive()
    begin = stack.clock.ahead
    stack.clock.ahead = begin + timedelta(hours=hours, minutes=-1)
    stack.engine.sweep.sweep()
    assert not expired(stack, run_id)
    stack.clock.ahead = begin + timedelta(hours=hours, minutes=1)
    stack.engine.sweep.sweep()
    assert expired(stack, run_id)
    result = stack.data("GET", f"{RUNS}/{run_id}")
    assert result["status"] == ("SUCCESS" if starts else "CREATED")
    refused(stack.call("GET", f"{RUNS}/{run_id}/workspace"), 404, "RUN_NOT_FOUND")
    refused(stack.call("GET", f"{RUNS}/{run_id}/workspace?redirect=false"), 404, "RUN_NOT_FOUND")


def test_files_never_go_while_a_run_waits(stack: Stack) -> None:
    stack.save(asking())
    run_id = stack.create_run("asking", ttlHours=1)
    put(stack, run_id, a=b"1")
    stack.data("POST", f"/api/v1/workflows/asking/runs/{run_id}/start")
    stack.drive()
    stack.clock.ahead = timedelta(days=300)
    assert not expired(stack, run_id, "asking")


def test_a_cancelled_run_keeps_its_files_for_a_while_too(stack: Stack) -> None:
    run_id = with_files(stack, ttlHours=1)
    stack.data("POST", f"/api/v1/runs/{run_id}/cancel")
    assert not expired(stack, run_id)
    stack.clock.ahead = timedelta(hours=26)
    for _ in range(3):
        stack.engine.sweep.sweep()
    assert expired(stack, run_id)


def test_a_run_whose_files_have_expired_takes_no_more(stack: Stack) -> None:
    run_id = stack.create_run("echo", ttlHours=1)
    stack.clock.ahead = timedelta(hours=2)
    refused(uploads(stack, run_id, {"path": "a", "size": 1}), 404, "RUN_NOT_FOUND")


def test_when_nothing_is_left_to_do_nobody_looks_at_a_run_before_its_records_expire(stack: Stack) -> None:
    run_id = stack.finish_run("echo", variables=TOPIC, ttlHours=1)
    stack.clock.ahead = timedelta(hours=30)
    for _ in range(3):
        stack.engine.sweep.sweep()
    item = stack.items.get(("runs", run_id, "RUN"))
    assert item["open"] == "records"
    assert times.from_json(item["checkAt"]) > stack.clock.now() + timedelta(days=363)
    assert stack.engine.sweep.sweep() == 0
