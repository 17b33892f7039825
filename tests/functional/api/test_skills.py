"""Skills over HTTP: pushed as folders, listed, shown by version, used by agents (contract §2, §4)."""

from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import httpx
import pytest

from stepweave.api import routes_skills
from stepweave.services.skills import MOST_BYTES, MOST_FILES
from tests.functional.api.stack import Stack
from tests.functional.api.test_agents import one_agent, result
from tests.functional.api.test_errors import refused

MB = 1024 * 1024


def skill_text(name: str = "write-report", body: str = "Write it.", description: str = "how to") -> bytes:
    return f"---\nname: {name}\ndescription: {description}\n---\n{body}\n".encode()


def part(path: str, content: bytes, filename: str = "x") -> Any:
    return ("files", (filename, content, "application/octet-stream", {"X-Relative-Path": path}))


def push(stack: Stack, *parts: Any, **options: Any) -> httpx.Response:
    return stack.call("POST", "/api/skills", files=parts, admin=True, **options)


def pushed(stack: Stack, *parts: Any) -> Any:
    response = push(stack, *parts)
    assert response.status_code == 200, response.text
    return response.json()["data"]


def test_a_pushed_folder_is_listed_and_shown(stack: Stack) -> None:
    told = pushed(stack, part("SKILL.md", skill_text()), part("forms/a 表.md", b"form"))
    assert set(told) == {"name", "version", "description", "pushedAt"}
    assert (told["name"], told["version"], told["description"]) == ("write-report", 1, "how to")
    assert stack.data("GET", "/api/skills", admin=True) == {"total": 1, "items": [told]}
    shown = stack.data("GET", "/api/skills/write-report", admin=True)
    assert shown == told | {"instructions": "Write it.", "files": [{"path": "forms/a 表.md", "size": 4}]}


def test_a_part_without_a_path_goes_by_its_filename(stack: Stack) -> None:
    parts = [("files", ("SKILL.md", skill_text())), ("files", ("b.txt", b"b"))]
    assert pushed(stack, *parts)["version"] == 1
    assert stack.data("GET", "/api/skills/write-report", admin=True)["files"] == [{"path": "b.txt", "size": 1}]


def test_each_change_makes_a_version_and_the_same_again_makes_none(stack: Stack) -> None:
    assert pushed(stack, part("SKILL.md", skill_text(body="One.")))["version"] == 1
    assert pushed(stack, part("SKILL.md", skill_text(body="Two.")))["version"] == 2
    assert pushed(stack, part("SKILL.md", skill_text(body="Two.")))["version"] == 2
    shown = [
        stack.data("GET", f"/api/skills/write-report{query}", admin=True)["instructions"]
        for query in ("", "?version=1", "?version=2")
    ]
    assert shown == ["Two.", "One.", "Two."]


def test_skills_come_by_name_and_in_pages(stack: Stack) -> None:
    for name in ("b", "c", "a"):
        pushed(stack, part("SKILL.md", skill_text(name)))
    page = stack.data("GET", "/api/skills?page=2&size=2", admin=True)
    assert (page["total"], [item["name"] for item in page["items"]]) == (3, ["c"])


@pytest.mark.parametrize("path", ["none", "write-report?version=2", "Not%20a%20name", "%23keys"])
def test_what_is_not_there_is_not_found(stack: Stack, path: str) -> None:
    pushed(stack, part("SKILL.md", skill_text()))
    refused(stack.call("GET", f"/api/skills/{path}", admin=True), 404, "NOT_FOUND")


def test_skills_are_for_administrators(stack: Stack) -> None:
    parts = [part("SKILL.md", skill_text())]
    refused(stack.call("POST", "/api/skills", files=parts), 401, "UNAUTHORIZED")
    refused(stack.call("GET", "/api/skills"), 401, "UNAUTHORIZED")
    refused(stack.call("GET", "/api/skills/write-report"), 401, "UNAUTHORIZED")
    assert stack.data("GET", "/api/skills", admin=True)["total"] == 0


@pytest.mark.parametrize(
    ("parts", "named"),
    [
        ([part("folder/SKILL.md", skill_text())], "SKILL.md is missing"),
        ([part("SKILL.md", b"no front matter")], "name must be"),
        ([part("SKILL.md", skill_text(name="Not Kebab"))], "name must be"),
        ([part("SKILL.md", skill_text()), part("../a", b"")], '"../a"'),
        ([part("SKILL.md", skill_text()), part("a", b""), part("./a", b"")], "two files"),
        ([part("SKILL.md", skill_text()), ("payload", (None, b"{}"))], "payload"),
    ],
)
def test_a_folder_that_is_no_skill_is_refused_with_the_reason(stack: Stack, parts: list[Any], named: str) -> None:
    assert named in refused(push(stack, *parts), 400, "VALIDATION_FAILED")
    assert stack.data("GET", "/api/skills", admin=True)["total"] == 0


def test_a_skill_is_sent_as_a_form(stack: Stack) -> None:
    refused(stack.call("POST", "/api/skills", {"files": []}, admin=True), 415, "UNSUPPORTED_MEDIA_TYPE")


def test_as_many_files_as_a_skill_may_have_are_taken_and_one_more_is_refused(stack: Stack) -> None:
    parts = [part("SKILL.md", skill_text()), *(part(f"f{number}", b"") for number in range(MOST_FILES))]
    assert str(MOST_FILES) in refused(push(stack, *parts), 413, "PAYLOAD_TOO_LARGE")
    assert pushed(stack, *parts[:-1])["version"] == 1


def test_a_skill_that_is_too_large_is_refused_with_what_to_do(stack: Stack) -> None:
    parts = [part("SKILL.md", skill_text()), part("big.bin", bytes(MOST_BYTES + 1))]
    assert "leave out the files" in refused(push(stack, *parts), 413, "PAYLOAD_TOO_LARGE")


def test_a_skill_that_says_it_is_too_large_is_refused_unread(stack: Stack) -> None:
    async def unread() -> AsyncIterator[bytes]:
        pytest.fail("the body was read")
        yield b""

    announced = {"Content-Type": "multipart/form-data; boundary=B", "Content-Length": str(30 * MB)}
    response = stack.call("POST", "/api/skills", content=unread(), headers=announced, admin=True)
    assert "leave out the files" in refused(response, 413, "PAYLOAD_TOO_LARGE")


def test_behind_a_gateway_less_goes_through_and_the_answer_says_what_to_do(stack: Stack, gateway: Stack) -> None:
    most = routes_skills.SKILL_FORM_BEHIND_GATEWAY.request_bytes
    parts = [part("SKILL.md", skill_text()), part("big.bin", bytes(most))]
    message = refused(push(gateway, *parts), 413, "PAYLOAD_TOO_LARGE")
    assert "gateway" in message
    assert ".agentignore" in message
    assert pushed(gateway, part("SKILL.md", skill_text()), part("big.bin", bytes(most - 10_000)))["version"] == 1
    assert pushed(stack, *parts)["version"] == 1


def test_an_agent_follows_a_pushed_skill_and_a_run_keeps_its_version(stack: Stack) -> None:
    reads = {"tool": {"name": "read_file", "args": {"path": "skills/write-report/form.md"}}}
    stack.save(one_agent([reads], [{"text": "$system"}, {"text": "$tool"}], skillName="write-report", instructions=""))
    pushed(stack, part("SKILL.md", skill_text(body="Do it so.")), part("form.md", b"the form"))
    run_id = stack.start_run("one-agent")
    stack.clock.ahead += timedelta(seconds=1)
    pushed(stack, part("SKILL.md", skill_text(body="Do it otherwise.")))
    stack.drive()
    told = result(stack, "one-agent", run_id)["outputs"]["data"]["result"]
    assert told.startswith("Do it so.")
    assert "the form" in told


def test_the_openapi_page_tells_of_skills(stack: Stack) -> None:
    paths = stack.call("GET", "/api/openapi.json").json()["paths"]
    form = paths["/api/skills"]["post"]["requestBody"]["content"]["multipart/form-data"]["schema"]
    assert form["required"] == ["files"]
    assert set(paths["/api/skills"]) == {"get", "post"}
    assert set(paths["/api/skills/{name}"]) == {"get"}
