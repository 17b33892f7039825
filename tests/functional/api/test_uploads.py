"""Runs that are created with files (contract §4, multipart create; seed §3.1)."""

import io
import json
import tracemalloc
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import httpx
import pytest

from stepweave.api import submission
from stepweave.api.form_limits import RUN_FORM
from stepweave.errors import Unavailable
from tests.functional.api.definitions import echo
from tests.functional.api.stack import Stack, parse, run_async
from tests.functional.api.test_errors import refused

RUNS = "/api/v1/workflows/echo/runs"
MB = 1024 * 1024
PAYLOAD = ("payload", (None, json.dumps({"variables": {"topic": "x"}}), "application/json"))


def file(name: str | None, content: bytes = b"content", path: str | None = None) -> Any:
    headers = {"X-Relative-Path": path} if path is not None else {}
    return ("files", (name, content, "application/octet-stream", headers))


def create(stack: Stack, *parts: Any, **options: Any) -> httpx.Response:
    return stack.call("POST", RUNS, files=parts, **options)


def payload(**fields: Any) -> Any:
    return ("payload", (None, json.dumps(fields), "application/json"))


def blobs_of(stack: Stack) -> dict[str, bytes]:
    blobs = stack.engine.ports.blobs
    return {name: blobs.get(name) or b"" for name, _ in blobs.list("")}


def files_of(stack: Stack, response: httpx.Response) -> dict[str, bytes]:
    """The files of the run that was made."""
    assert response.status_code == 200, response.text
    place = f"runs/{response.json()['data']['runId']}/workspace/"
    return {name.removeprefix(place): content for name, content in blobs_of(stack).items() if name.startswith(place)}


def nothing_is_left(stack: Stack) -> bool:
    return not blobs_of(stack) and stack.data("GET", RUNS)["items"] == []


def body(*parts: bytes, end: bytes = b"--B--\r\n") -> bytes:
    """A body written out: each part from its headers on."""
    return b"".join(b"--B\r\n" + part + b"\r\n" for part in parts) + end


def send(
    stack: Stack, content: bytes | AsyncIterator[bytes], kind: str = "multipart/form-data; boundary=B"
) -> httpx.Response:
    return stack.call("POST", RUNS, content=content, headers={"Content-Type": kind})


FILE = b'Content-Disposition: form-data; name="files"; filename="a.txt"\r\n\r\ncontent'


# Paths


def test_the_example_of_the_specification(stack: Stack) -> None:
    response = create(
        stack,
        PAYLOAD,
        file("report.md", b"# report"),
        file("data.csv", b"1,2", "inputs/2024/data.csv"),
        file("config.yaml", b"a: 1", "config/config.yaml"),
    )
    assert files_of(stack, response) == {
        "report.md": b"# report",
        "inputs/2024/data.csv": b"1,2",
        "config/config.yaml": b"a: 1",
    }
    assert response.json()["data"]["status"] == "CREATED"


@pytest.mark.parametrize(
    "name", ["报告.txt", "plan-🚀.txt", "a b.txt", "d/e/f.txt", 'quo"ted.txt', "semi;colon.txt", "100%.txt"]
)
@pytest.mark.parametrize("by", ["filename", "header", "payload"])
def test_a_name_of_any_characters_is_kept(stack: Stack, name: str, by: str) -> None:
    given = file("other" if by != "filename" else name, path=name if by == "header" else None)
    response = create(stack, payload(inputs={"uploadedFiles": [name]} if by == "payload" else {}), given)
    expected = name if by != "filename" else name.replace('"', "%22")  # as browsers and clients write it
    assert files_of(stack, response) == {expected: b"content"}


def test_the_header_wins_over_the_payload_and_the_payload_over_the_filename(stack: Stack) -> None:
    listed = ["p0", {"path": "d/p1", "size": 7}, None, {}, "beyond the files"]
    response = create(
        stack,
        file("f0", path="h0"),
        file("f1"),
        file("f2"),
        file("f3"),
        payload(inputs={"uploadedFiles": listed, "topic": "t"}),  # the payload may come last
    )
    assert set(files_of(stack, response)) == {"h0", "d/p1", "f2", "f3"}
    assert stack.engine.store.inputs(response.json()["data"]["runId"]) == {"topic": "t"}


def test_a_file_without_a_filename_takes_its_path_from_elsewhere(stack: Stack) -> None:
    response = send(stack, body(b'Content-Disposition: form-data; name="files"\r\nx-relative-path:  d/a \r\n\r\n1'))
    assert files_of(stack, response) == {"d/a": b"1"}


def test_a_filename_in_the_extended_notation_is_read(stack: Stack) -> None:
    part = b"Content-Disposition: form-data; name=\"files\"; filename*=UTF-8''%E6%8A%A5.txt\r\n\r\n1"
    assert files_of(stack, send(stack, body(part))) == {"报.txt": b"1"}


@pytest.mark.parametrize(
    "path",
    [
        "../x",
        "a/../../x",
        "/etc/passwd",
        "..%2fx",
        "..%2F..%2Fetc",
        "C:\\x",
        "C:/x",
        "\\\\server\\x",
        "..\\x",
        "a\\..\\..\\x",
        "dir/",
        "...",
        "x" * 1001,
    ],
)
@pytest.mark.parametrize("by", ["filename", "header", "payload"])
def test_a_path_that_could_lead_out_is_refused_and_nothing_is_left(stack: Stack, path: str, by: str) -> None:
    given = file(path if by == "filename" else "a", path=path if by == "header" else None)
    listed = {"uploadedFiles": ["ok.txt", path]} if by == "payload" else {}
    refused(create(stack, payload(inputs=listed), file("ok.txt"), given), 400, "VALIDATION_FAILED")
    assert nothing_is_left(stack)


@pytest.mark.parametrize("name", [b"a\x00b", b"a\xffb", b"\xed\xa0\x80"])
def test_a_name_that_is_no_text_is_refused(stack: Stack, name: bytes) -> None:
    part = b'Content-Disposition: form-data; name="files"; filename="%b"\r\n\r\n1' % name
    refused(send(stack, body(part)), 400, "VALIDATION_FAILED")
    assert nothing_is_left(stack)


@pytest.mark.parametrize(("one", "other"), [("a", "a"), ("a", "./a"), ("a/b", "a//b"), ("a", "a/b"), ("a/b/c", "a")])
def test_two_files_that_cannot_lie_side_by_side_are_refused(stack: Stack, one: str, other: str) -> None:
    refused(create(stack, file(one), file(other)), 400, "VALIDATION_FAILED")
    assert nothing_is_left(stack)


def test_a_link_is_stored_as_the_file_that_it_is(stack: Stack) -> None:
    part = b'Content-Disposition: form-data; name="files"; filename="link"\r\nContent-Type: inode/symlink\r\n\r\n/etc/passwd'
    assert files_of(stack, send(stack, body(part))) == {"link": b"/etc/passwd"}


# Limits


def test_fifty_files_are_taken_and_one_more_is_refused(stack: Stack) -> None:
    assert len(files_of(stack, create(stack, *(file(f"f{number}") for number in range(50))))) == 50
    fresh = Stack()
    fresh.save(echo())
    assert "uploads" in refused(create(fresh, *(file(f"f{number}") for number in range(51))), 413, "PAYLOAD_TOO_LARGE")
    assert nothing_is_left(fresh)


def test_a_file_of_100_mb_and_a_byte_is_refused_in_little_memory(stack: Stack) -> None:
    async def much() -> AsyncIterator[bytes]:
        yield b'--B\r\nContent-Disposition: form-data; name="files"; filename="a"\r\n\r\n'
        for _ in range(100 * 16):
            yield bytes(MB // 16)
        yield b"x\r\n--B--\r\n"

    tracemalloc.start()
    response = send(stack, much())
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    message = refused(response, 413, "PAYLOAD_TOO_LARGE")
    assert "files[0]" in message
    assert "uploads" in message
    assert peak < 16 * MB
    assert nothing_is_left(stack)


def test_a_file_of_exactly_the_limit_is_taken(stack: Stack, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(submission, "RUN_FORM", replace(RUN_FORM, file_bytes=3 * MB))
    content = bytes(range(256)) * (3 * MB // 256)
    assert files_of(stack, create(stack, file("a", content))) == {"a": content}
    refused(create(stack, file("a", content + b"x")), 413, "PAYLOAD_TOO_LARGE")


def test_a_request_that_says_it_is_too_large_is_refused_unread(stack: Stack) -> None:
    async def unread() -> AsyncIterator[bytes]:
        pytest.fail("the body was read")
        yield b""

    response = stack.call(
        "POST",
        RUNS,
        content=unread(),
        headers={"Content-Type": "multipart/form-data; boundary=B", "Content-Length": str(500 * MB + 1)},
    )
    assert "uploads" in refused(response, 413, "PAYLOAD_TOO_LARGE")


def test_a_request_that_grows_too_large_is_refused(stack: Stack, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(submission, "RUN_FORM", replace(RUN_FORM, request_bytes=2 * MB))
    refused(create(stack, file("a", bytes(MB)), file("b", bytes(MB))), 413, "PAYLOAD_TOO_LARGE")
    assert nothing_is_left(stack)


def test_a_payload_over_6_mb_is_refused(stack: Stack) -> None:
    refused(create(stack, payload(variables={"topic": "x" * 6_000_000}), file("a")), 413, "PAYLOAD_TOO_LARGE")
    assert nothing_is_left(stack)


# Bodies that are not right


@pytest.mark.parametrize(
    "content", [b"{", b"[]", b'"x"', b"\xff", b'{"variables": 5}', b'{"ttlHours": 0}', b'{"nonsense": 1}']
)
def test_a_payload_that_is_not_right_is_refused_and_nothing_is_left(stack: Stack, content: bytes) -> None:
    refused(create(stack, file("a"), ("payload", (None, content))), 400, "VALIDATION_FAILED")
    assert nothing_is_left(stack)


def test_without_a_payload_a_run_has_no_inputs_but_its_files(stack: Stack) -> None:
    response = create(stack, file("a"))
    assert files_of(stack, response) == {"a": b"content"}
    assert stack.engine.store.inputs(response.json()["data"]["runId"]) == {}


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"--B",
        b"--B\r\n",
        body(FILE, end=b""),
        body(FILE, end=b"--B"),
        body(FILE)[:-20],
        b"--C\r\n" + FILE + b"\r\n--C--\r\n",
        b"no boundary at all",
        body(b"Content-Disposition: form-data; name=files; filename=a\r\nbroken header\r\n\r\n1"),
        body(b"\r\nno headers"),
        body(b"Content-Disposition: attachment; filename=a\r\n\r\n1"),
        body(b'Content-Disposition: form-data; name="file"; filename="a"\r\n\r\n1'),
        body(b'Content-Disposition: form-data; name="files"\r\n\r\n1'),
        body(b'Content-Disposition: form-data; name="files"; filename=""\r\n\r\n1'),
        body(
            b'Content-Disposition: form-data; name="payload"\r\n\r\n{}',
            b'Content-Disposition: form-data; name="payload"\r\n\r\n{}',
        ),
        body(b'Content-Disposition: form-data; name="files"; filename="%b"\r\n\r\n1' % (b"x" * 5000)),
        body(b'Content-Disposition: form-data; name="files"; filename="a"\r\n' + b"X-A: 1\r\n" * 20 + b"\r\n1"),
    ],
)
def test_a_body_that_is_cut_or_broken_is_refused_and_nothing_is_left(stack: Stack, content: bytes) -> None:
    refused(send(stack, content), 400, "VALIDATION_FAILED")
    assert nothing_is_left(stack)


@pytest.mark.parametrize(
    "kind", ["multipart/form-data", "multipart/form-data; boundary=", f"multipart/form-data; boundary={'x' * 300}"]
)
def test_a_boundary_that_is_not_right_is_refused(stack: Stack, kind: str) -> None:
    refused(send(stack, body(FILE), kind), 400, "VALIDATION_FAILED")


def test_a_body_that_comes_in_any_pieces_is_the_same_body(stack: Stack) -> None:
    content = body(b'Content-Disposition: form-data; name="payload"\r\n\r\n{"variables": {"topic": "x"}}', FILE)

    async def bit_by_bit() -> AsyncIterator[bytes]:
        for index in range(len(content)):
            yield content[index : index + 1]

    assert files_of(stack, send(stack, bit_by_bit())) == {"a.txt": b"content"}


def test_a_client_that_goes_away_leaves_nothing(stack: Stack) -> None:
    messages = iter(
        [{"type": "http.request", "body": body(FILE, end=b""), "more_body": True}, {"type": "http.disconnect"}]
    )
    headers = [(b"x-api-key", stack.key.encode()), (b"content-type", b"multipart/form-data; boundary=B")]
    scope = {
        "type": "http",
        "method": "POST",
        "path": RUNS,
        "raw_path": RUNS.encode(),
        "query_string": b"",
        "root_path": "",
        "headers": headers,
        "http_version": "1.1",
        "scheme": "http",
        "server": ("test", 80),
        "client": ("test", 1),
    }
    sent: list[Any] = []

    async def receive() -> Any:
        return next(messages)

    async def answer(message: Any) -> None:
        sent.append(message)

    run_async(stack.app(scope, receive, answer))
    assert sent == []
    assert nothing_is_left(stack)


@pytest.mark.parametrize("path", ["/api/v1/runs/00000000/resume", "/api/workflows", "/api/keys"])
def test_other_calls_take_no_files(stack: Stack, path: str) -> None:
    response = stack.call("POST", path, files=[file("a")], admin=True)
    assert response.status_code in (404, 415)


# Nothing is left behind when storing goes wrong


def test_when_a_file_cannot_be_stored_there_is_no_run_and_no_file(
    stack: Stack, monkeypatch: pytest.MonkeyPatch
) -> None:
    blobs = stack.engine.ports.blobs
    writer = blobs.writer

    def failing(name: str, *rest: Any) -> Any:
        if name.endswith("/b"):
            raise Unavailable("no")
        return writer(name, *rest)

    monkeypatch.setattr(blobs, "writer", failing)
    response = create(stack, file("a"), file("b"), file("c"))
    assert response.status_code == 429
    assert nothing_is_left(stack)


def test_when_the_run_cannot_be_made_its_files_go(stack: Stack, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(*_: Any, **__: Any) -> None:
        raise Unavailable("no")

    monkeypatch.setattr(stack.engine.store, "create", failing)
    assert create(stack, file("a")).status_code == 429
    monkeypatch.undo()
    assert nothing_is_left(stack)


def test_an_id_that_another_run_has_is_not_taken(stack: Stack, monkeypatch: pytest.MonkeyPatch) -> None:
    taken = files = create(stack, file("a", b"1"))
    run_id = taken.json()["data"]["runId"]
    ids = iter([run_id, run_id, "0000000f"])
    monkeypatch.setattr(stack.engine.runs, "_new_run_id", lambda: next(ids))
    assert create(stack, file("a", b"2")).json()["data"]["runId"] == "0000000f"
    assert files_of(stack, files) == {"a": b"1"}


def test_the_temporary_file_is_closed_whatever_happens(stack: Stack, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Any] = []

    def temporary() -> Any:
        made.append(io.BytesIO())
        return made[-1]

    monkeypatch.setattr("stepweave.api.submission.TemporaryFile", temporary)
    create(stack, file("a"))
    create(stack, file("../a"))
    send(stack, body(FILE, end=b""))
    assert [each.closed for each in made] == [True, True, True]


# Repeated requests, and the stream at once


def test_the_same_request_under_one_key_makes_one_run_with_its_files_once(stack: Stack) -> None:
    once = {"Idempotency-Key": "k"}
    first, second = (create(stack, PAYLOAD, file("a"), headers=once) for _ in range(2))
    assert first.json()["data"]["runId"] == second.json()["data"]["runId"]
    assert len(blobs_of(stack)) == 1


@pytest.mark.parametrize("other", [file("a", b"other"), file("b")])
def test_another_file_under_the_same_key_is_another_request(stack: Stack, other: Any) -> None:
    once = {"Idempotency-Key": "k"}
    create(stack, PAYLOAD, file("a"), headers=once)
    refused(create(stack, PAYLOAD, other, headers=once), 409, "IDEMPOTENCY_CONFLICT")
    assert len(blobs_of(stack)) == 1


@pytest.mark.parametrize("path", [RUNS, "/api/workflows/echo/run"])
def test_a_run_with_files_can_be_created_and_streamed_in_one_call(stack: Stack, path: str) -> None:
    parts = [payload(variables={"topic": "x"}, **{"async": False}), file("d/a.txt"), file("a.log")]
    with stack.driven():
        response = stack.call("POST", path, files=parts, admin=True)
    assert response.headers["Content-Type"].startswith("text/event-stream")
    (*_, (_, kind, data)) = parse(response.text)
    assert (kind, data["workingDirFiles"]) == ("workflow_complete", ["d/a.txt"])


def test_an_upload_that_nobody_may_make_is_not_read(stack: Stack) -> None:
    class Unread(io.BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            pytest.fail("the body was read")

    response = stack.call("POST", RUNS, files=[("files", ("a", Unread(b"x")))], key="sw-wrong")
    refused(response, 401, "UNAUTHORIZED")
