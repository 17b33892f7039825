"""Chats (contract §4, platform): what was said before reaches the run, and what runs answered is read from them."""

import json
from datetime import timedelta
from typing import Any

import pytest

from tests.functional.api.definitions import definition, echo, failing
from tests.functional.api.stack import Stack, parse


def talking(name: str = "talking", prompt: str = "{{chat.history}}|{{chat.message}}") -> dict[str, Any]:
    """Answers with its prompt."""
    say = {"type": "llm", "model": "scripted:inline", "userPrompt": prompt, "script": [[{"text": "$prompt"}]]}
    out = {"type": "output", "outputs": [{"name": "result", "type": "string"}]}
    return definition(name, {"in": {"type": "userInput"}, "say": say, "out": out}, [("in", "say"), ("say", "out")])


def open_session(stack: Stack, workflow: str) -> str:
    return str(stack.data("POST", "/api/chat/sessions", {"workflow": workflow}, admin=True)["sessionId"])


def say(stack: Stack, sid: str, message: str, *, drive: bool = True, **body: Any) -> str:
    told = stack.data("POST", f"/api/chat/sessions/{sid}/runs", {"message": message, **body}, admin=True)
    if drive:
        stack.drive()
    return str(told["runId"])


def messages(stack: Stack, sid: str, query: str = "") -> list[dict[str, Any]]:
    return list(stack.data("GET", f"/api/chat/sessions/{sid}{query}", admin=True)["messages"])


def test_a_session_tells_its_workflow_and_begins_empty(stack: Stack) -> None:
    told = stack.data("POST", "/api/chat/sessions", {"workflow": "1", "title": "Tea"}, admin=True)
    assert set(told) == {"sessionId", "workflow", "title", "createdAt"}
    assert (told["workflow"], told["title"]) == ("echo", "Tea")
    shown = stack.data("GET", f"/api/chat/sessions/{told['sessionId']}", admin=True)
    assert shown == told | {"messages": [], "hasMore": False}


def test_a_run_gets_the_message_and_what_was_said_before(stack: Stack) -> None:
    sid = open_session(stack, stack.save(talking()))
    say(stack, sid, "one")
    say(stack, sid, "two")
    first = "[]|one"
    expected = json.dumps(
        [{"role": "user", "content": "one"}, {"role": "assistant", "content": first}], ensure_ascii=False
    )
    told = messages(stack, sid)
    assert [(each["role"], each["content"]) for each in told] == [
        ("user", "one"),
        ("assistant", first),
        ("user", "two"),
        ("assistant", f"{expected}|two"),
    ]
    assert {each["status"] for each in told if each["role"] == "assistant"} == {"SUCCESS"}


def test_a_place_in_the_history_can_be_named(stack: Stack) -> None:
    sid = open_session(stack, stack.save(talking(prompt="{{chat.history[0].content}}/{{chat.message}}")))
    say(stack, sid, "one")
    say(stack, sid, "two")
    assert messages(stack, sid)[-1]["content"] == "one/two"


def test_a_run_of_a_chat_is_created_and_started_and_followed_on_its_paths(stack: Stack) -> None:
    sid = open_session(stack, stack.save(talking()))
    told = stack.data("POST", f"/api/chat/sessions/{sid}/runs", {"message": "hi"}, admin=True)
    assert (told["status"], told["sessionId"]) == ("RUNNING", sid)
    stack.drive()
    here = f"/api/chat/runs/{told['runId']}"
    assert told["streamUrl"] == f"{here}/stream"
    streamed = stack.call("GET", told["streamUrl"], admin=True).text
    assert streamed == stack.call("GET", f"/api/v1/runs/{told['runId']}/stream").text
    assert stack.data("GET", f"{here}/state", admin=True)["status"] == "SUCCESS"
    body = {"clarifyId": "clar-000000000000", "answer": "x"}
    assert stack.call("POST", f"{here}/resume", body, admin=True).json()["code"] == "RUN_ALREADY_FINISHED"


def test_a_message_can_be_answered_with_the_stream_itself(stack: Stack) -> None:
    sid = open_session(stack, stack.save(talking()))
    with stack.driven():
        answer = stack.call("POST", f"/api/chat/sessions/{sid}/runs", {"message": "hi", "async": False}, admin=True)
    assert parse(answer.text)[-1][1] == "workflow_complete"
    assert messages(stack, sid)[-1]["runId"] == answer.headers["X-Run-Id"]


def test_turns_may_overlap_and_a_run_gets_those_that_had_ended(stack: Stack) -> None:
    sid = open_session(stack, stack.save(talking()))
    say(stack, sid, "one", drive=False)
    say(stack, sid, "two", drive=False)
    assert [each["content"] for each in messages(stack, sid)] == ["one", None, "two", None]
    stack.drive()
    assert [each["content"] for each in messages(stack, sid)] == ["one", "[]|one", "two", "[]|two"]


def test_a_turn_that_failed_is_shown_with_its_reason_and_not_fed_to_the_next(stack: Stack) -> None:
    broken = failing("broken")
    sid = open_session(stack, stack.save(broken))
    say(stack, sid, "one")
    say(stack, sid, "two")
    told = messages(stack, sid)
    assert [each.get("status") for each in told] == [None, "FAILED", None, "FAILED"]
    assert "no luck" in told[1]["content"]
    run_id = told[-1]["runId"]
    nodes = stack.data("GET", f"/api/runs/{run_id}/nodes", admin=True)
    assert nodes[0]["contextSnapshot"] == {"chat.history": [], "chat.message": "two"}


def test_what_the_chat_put_in_is_no_answer(stack: Stack) -> None:
    """An `output` that declares nothing gives the initial inputs too: a history within a history would grow for ever."""
    loose = talking("loose", "{{chat.message}}!")
    loose["graphData"]["nodes"][-1]["data"] = {}
    sid = open_session(stack, stack.save(loose))
    for message in ("a", "b", "c"):
        say(stack, sid, message)
    assert [each["content"] for each in messages(stack, sid) if each["role"] == "assistant"] == ["a!", "b!", "c!"]


def test_the_history_is_bounded_by_turns_and_by_bytes() -> None:
    stack = Stack(chat_history_turns=2, chat_history_bytes=1024)
    sid = open_session(stack, stack.save(talking(prompt="{{chat.history}}")))
    for message in ("a", "b", "c", "x" * 40_000, "last"):
        say(stack, sid, message)
    asked = [json.loads(each["content"]) for each in messages(stack, sid) if each["role"] == "assistant"]
    said = [[each["content"] for each in history if each["role"] == "user"] for history in asked]
    assert said[:4] == [[], ["a"], ["a", "b"], ["b", "c"]]
    assert said[4][-1] == "x" * 127 + "…"
    assert all(len(json.dumps(history)) <= 1100 for history in asked)


def test_a_session_shows_its_last_turns(stack: Stack) -> None:
    sid = open_session(stack, stack.save(talking(prompt="{{chat.message}}")))
    for message in ("a", "b", "c"):
        say(stack, sid, message)
    shown = stack.data("GET", f"/api/chat/sessions/{sid}?limit=2", admin=True)
    assert ([each["content"] for each in shown["messages"]], shown["hasMore"]) == (["b", "b", "c", "c"], True)


def test_variables_files_and_other_fields_of_a_run_go_along(stack: Stack) -> None:
    sid = open_session(stack, "echo")
    run_id = say(stack, sid, "hi", variables={"topic": "tea", "chat.message": "mine"}, failStrategy="skip")
    nodes = stack.data("GET", f"/api/runs/{run_id}/nodes", admin=True)
    given = nodes[0]["contextSnapshot"]
    assert (given["topic"], given["chat.message"]) == ("tea", "hi")
    files = [("payload", (None, b'{"message": "hi", "variables": {"topic": "x"}}')), ("files", ("a.txt", b"content"))]
    sent = stack.call("POST", f"/api/chat/sessions/{sid}/runs", admin=True, files=files)
    result = stack.data("GET", f"/api/v1/workflows/echo/runs/{sent.json()['data']['runId']}")
    assert result["workspace"]["fileCount"] == 1


def test_a_message_that_cannot_be_started_was_not_said(stack: Stack) -> None:
    sid = open_session(stack, "echo")
    refused = stack.call("POST", f"/api/chat/sessions/{sid}/runs", {"message": "hi"}, admin=True)
    assert (refused.status_code, refused.json()["code"]) == (400, "VALIDATION_FAILED")
    assert "topic" in refused.json()["message"]
    assert messages(stack, sid) == []


def test_the_same_request_under_one_key_is_said_once_in_each_session(stack: Stack) -> None:
    stack.save(talking())
    one, two = open_session(stack, "talking"), open_session(stack, "talking")

    def send(sid: str, message: str) -> Any:
        headers = {"Idempotency-Key": "k"}
        return stack.call("POST", f"/api/chat/sessions/{sid}/runs", {"message": message}, admin=True, headers=headers)

    first = send(one, "hi").json()["data"]["runId"]
    stack.drive()
    assert send(one, "hi").json()["data"]["runId"] == first
    assert len(messages(stack, one)) == 2
    assert send(one, "other").json()["code"] == "IDEMPOTENCY_CONFLICT"
    assert send(two, "hi").json()["code"] == "IDEMPOTENCY_CONFLICT"


@pytest.mark.parametrize(
    ("sid", "status", "code"),
    [("chat-000000000000", 404, "NOT_FOUND"), ("x", 400, "VALIDATION_FAILED")],
)
def test_a_session_that_does_not_exist(stack: Stack, sid: str, status: int, code: str) -> None:
    for method, rest in (("GET", ""), ("POST", "/runs")):
        body = {"message": "hi"} if method == "POST" else None
        response = stack.call(method, f"/api/chat/sessions/{sid}{rest}", body, admin=True)
        assert (response.status_code, response.json()["code"]) == (status, code)


@pytest.mark.parametrize(
    ("body", "named"),
    [({}, "message"), ({"message": ""}, "message"), ({"message": 1}, "message"), ({"message": "x", "typo": 1}, "typo")],
)
def test_a_wrong_field_of_a_message_is_refused_by_name(stack: Stack, body: Any, named: str) -> None:
    response = stack.call("POST", f"/api/chat/sessions/{open_session(stack, 'echo')}/runs", body, admin=True)
    assert (response.status_code, response.json()["code"]) == (400, "VALIDATION_FAILED")
    assert named in response.json()["message"]


def test_a_session_needs_a_workflow_that_is_there(stack: Stack) -> None:
    unknown = stack.call("POST", "/api/chat/sessions", {"workflow": "none"}, admin=True)
    assert (unknown.status_code, unknown.json()["code"]) == (404, "WORKFLOW_NOT_FOUND")
    sid = open_session(stack, stack.save(echo("gone")))
    stack.data("DELETE", "/api/workflows/gone", admin=True)
    gone = stack.call("POST", f"/api/chat/sessions/{sid}/runs", {"message": "hi"}, admin=True)
    assert (gone.status_code, gone.json()["code"]) == (404, "WORKFLOW_NOT_FOUND")


def test_chats_are_for_administrators_and_nobody_else_learns_of_them(stack: Stack) -> None:
    sid = open_session(stack, "echo")
    for method, path in [
        ("POST", "/api/chat/sessions"),
        ("GET", f"/api/chat/sessions/{sid}"),
        ("GET", "/api/chat/sessions/chat-000000000000"),
        ("POST", f"/api/chat/sessions/{sid}/runs"),
    ]:
        assert stack.call(method, path, {} if method == "POST" else None).status_code == 401


def test_a_session_is_kept_from_its_last_use(stack: Stack) -> None:
    sid = open_session(stack, stack.save(talking()))
    stack.clock.ahead += timedelta(days=100)
    say(stack, sid, "hi")
    expiries = {item["expiresAt"] for key, item in stack.items._items.items() if key.table == "chats"}
    assert min(expiries) > (stack.clock.now() + timedelta(days=364)).timestamp()
