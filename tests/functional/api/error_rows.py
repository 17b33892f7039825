"""Every error row of contract §4 and of the seed's §14.6 that a client can bring about, as a table: who sends what, and what
must come. The same rows are sent in process, through Mangum, and through the emulator's API Gateway.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from tests.functional.api.definitions import definition

Who = Literal["run", "admin", "bound", "nobody"]
RUNS = "/api/v1/workflows/error-rows/runs"
RESUME = {"clarifyId": "{asked}", "answer": "1"}


@dataclass(frozen=True)
class Row:
    """`{…}` in path and body stands for what `prepare` has made. `bound` is a key of another workflow."""

    code: str
    status: int
    method: str
    path: str
    body: Any = None
    who: Who = "run"
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Answer:
    status: int
    headers: Mapping[str, str]
    text: str
    json: Any


class Send(Protocol):
    def __call__(self, method: str, path: str, body: Any, who: Who, headers: Mapping[str, str]) -> Answer: ...


ROWS = [
    Row("UNAUTHORIZED", 401, "GET", "/api/v1/workflows", who="nobody"),
    Row("UNAUTHORIZED", 401, "GET", RUNS, who="bound"),
    Row("UNAUTHORIZED", 401, "POST", f"{RUNS}/{{created}}/start", who="bound"),
    Row("UNAUTHORIZED", 401, "GET", "/api/keys"),
    Row("UNAUTHORIZED", 401, "GET", "/api/v1/runs/{created}/stream", who="nobody"),
    Row("VALIDATION_FAILED", 400, "POST", RUNS, {"ttlHours": -1}),
    Row("VALIDATION_FAILED", 400, "POST", RUNS, ["no", "object"]),
    Row("VALIDATION_FAILED", 400, "GET", "/api/v1/runs/XYZ/state"),
    Row("VALIDATION_FAILED", 400, "GET", "/api/v1/runs/XYZ/stream"),
    Row("VALIDATION_FAILED", 400, "GET", "/api/v1/runs/{created}/events?limit=0"),
    Row("VALIDATION_FAILED", 400, "POST", f"{RUNS}/{{created}}/start"),
    Row("VALIDATION_FAILED", 400, "POST", "/api/v1/runs/XYZ/resume", RESUME),
    Row("VALIDATION_FAILED", 400, "POST", "/api/v1/runs/{asking}/resume"),
    Row("VALIDATION_FAILED", 400, "POST", "/api/v1/runs/{asking}/resume", {"answer": "1"}),
    Row("VALIDATION_FAILED", 400, "POST", "/api/v1/runs/{asking}/resume", {"clarifyId": "x", "answer": "1"}),
    Row("WORKFLOW_NOT_FOUND", 404, "GET", "/api/v1/workflows/no-such-thing/runs"),
    Row("WORKFLOW_NOT_FOUND", 404, "GET", "/api/v1/workflows/no-such-thing/runs/{created}/stream"),
    Row("RUN_NOT_FOUND", 404, "GET", "/api/v1/runs/00000000/state"),
    Row("RUN_NOT_FOUND", 404, "GET", "/api/v1/runs/00000000/stream"),
    Row("RUN_NOT_FOUND", 404, "GET", "/api/v1/workflows/error-rows-other/runs/{created}"),
    Row("RUN_NOT_FOUND", 404, "GET", "/api/v1/runs/{asking}/state", who="bound"),
    Row("RUN_NOT_FOUND", 404, "POST", "/api/v1/runs/00000000/resume", RESUME),
    Row("RUN_NOT_FOUND", 404, "POST", "/api/v1/runs/{asking}/resume", RESUME, who="bound"),
    Row("CLARIFY_NOT_FOUND", 404, "POST", "/api/v1/runs/{created}/resume", RESUME),
    Row(
        "CLARIFY_NOT_FOUND",
        404,
        "POST",
        "/api/v1/runs/{asking}/resume",
        {"clarifyId": "clar-000000000000", "answer": "1"},
    ),
    Row("NODE_NOT_FOUND", 404, "GET", f"{RUNS}/{{asking}}/nodes/ghost/logs"),
    Row("GRAPH_INVALID", 422, "POST", "/api/workflows", {"name": "no-graph", "graphData": {}}, who="admin"),
    Row("RUN_ALREADY_STARTED", 409, "POST", f"{RUNS}/{{asking}}/start"),
    Row("RUN_ALREADY_STARTED", 409, "POST", f"{RUNS}/{{asking}}/uploads", {"files": [{"path": "a", "size": 1}]}),
    Row("IDEMPOTENCY_CONFLICT", 409, "POST", RUNS, {"variables": {"x": 2}}, headers={"Idempotency-Key": "{created}"}),
    Row("NAME_TAKEN", 409, "POST", "/api/workflows", "{definition}", who="admin"),
    Row(
        "CLARIFY_ALREADY_ANSWERED",
        409,
        "POST",
        "/api/v1/runs/{asking}/resume",
        {"clarifyId": "{answered}", "answer": "1"},
    ),
    Row("CLARIFY_ANSWER_INVALID", 400, "POST", "/api/v1/runs/{asking}/resume", {"clarifyId": "{asked}", "answer": 1}),
    Row(
        "CLARIFY_ANSWER_INVALID",
        400,
        "POST",
        "/api/v1/runs/{asking}/resume",
        {"clarifyId": "{asked}", "answer": "other"},
    ),
    Row("RUN_ALREADY_FINISHED", 410, "POST", "/api/v1/runs/{done}/resume", RESUME),
    Row("RUN_ALREADY_FINISHED", 410, "POST", "/api/v1/runs/{ended}/cancel"),
    Row("PAYLOAD_TOO_LARGE", 413, "POST", f"{RUNS}/{{created}}/uploads", {"files": [{"path": "a", "size": 6 * 10**9}]}),
    Row("NOT_FOUND", 404, "GET", "/api/v1/nowhere"),
    Row("NOT_FOUND", 404, "DELETE", "/api/keys/key-000000000000", who="admin"),
    Row("METHOD_NOT_ALLOWED", 405, "PATCH", "/api/v1/workflows"),
    Row("UNSUPPORTED_MEDIA_TYPE", 415, "POST", RUNS, {}, headers={"Content-Type": "text/plain"}),
]


def workflow(name: str) -> dict[str, Any]:
    """Asks twice, for one of two options."""
    question = {"question": "Which?", "options": [{"label": "One", "value": "1"}, {"label": "Two", "value": "2"}]}
    asker = {
        "type": "agent",
        "model": "scripted:inline",
        "instructions": "ask",
        "prompt": "go",
        "script": [[{"ask": question}], [{"ask": question}], [{"text": "done"}]],
    }
    begin = {"type": "userInput", "variables": [{"name": "x", "type": "number", "required": True}]}
    nodes = {"in": begin, "ask": asker, "out": {"type": "output"}}
    return definition(name, nodes, [("in", "ask"), ("ask", "out")])


def prepare(send: Send, goes_on: Callable[[], None]) -> dict[str, Any]:
    """What the rows name; `goes_on` is called while the engine has something to do."""

    def data(method: str, path: str, body: Any = None, who: Who = "run", **headers: str) -> Any:
        answer = send(method, path, body, who, {name.replace("_", "-"): value for name, value in headers.items()})
        assert answer.status == 200, answer.text
        return answer.json["data"]

    def question(run_id: str, but: str | None = None) -> str:
        while True:
            goes_on()
            pause = data("GET", f"/api/v1/runs/{run_id}/state")["currentPause"]
            if pause is not None and pause["clarifyId"] != but:
                return str(pause["clarifyId"])

    for name in ("error-rows", "error-rows-other"):
        data("POST", "/api/workflows", workflow(name), "admin")
    asking = data("POST", RUNS, {"variables": {"x": 1}})["runId"]
    data("POST", f"{RUNS}/{asking}/start")
    answered = question(asking)
    data("POST", f"/api/v1/runs/{asking}/resume", {"clarifyId": answered, "answer": "1"})
    done, ended = (data("POST", RUNS, {"variables": {"x": 1}})["runId"] for _ in range(2))
    data("POST", f"/api/v1/runs/{done}/cancel")
    data("POST", f"{RUNS}/{ended}/start")
    asked = None
    for _ in range(2):
        asked = question(ended, asked)
        data("POST", f"/api/v1/runs/{ended}/resume", {"clarifyId": asked, "answer": "2"})
    while data("GET", f"/api/v1/runs/{ended}/state")["status"] == "RUNNING":
        goes_on()
    created = data("POST", RUNS, {})["runId"]
    data("POST", RUNS, {"variables": {"x": 1}}, Idempotency_Key=created)
    names = {"asking": asking, "answered": answered, "asked": question(asking, answered)}
    return names | {"done": done, "ended": ended, "created": created, "definition": workflow("error-rows")}


def check(row: Row, send: Send, names: Mapping[str, Any]) -> None:
    """Sends a row and holds what comes against it."""
    headers = {name: _filled(value, names) for name, value in row.headers.items()}
    answer = send(row.method, _filled(row.path, names), _filled(row.body, names), row.who, headers)
    assert answer.status == row.status, answer.text
    assert answer.headers["x-request-id"]
    if row.path.endswith("/stream"):
        (told,) = _events(answer.text)
        assert (told["type"], told["success"], told["code"]) == ("workflow_error", False, row.code)
        assert told["error"]
        return
    assert set(answer.json) == {"code", "message", "data"}
    assert answer.json["code"] == row.code
    assert answer.json["message"]
    assert (answer.json["data"] is None) == (row.code != "GRAPH_INVALID")


def _events(text: str) -> Iterator[Any]:
    for line in text.splitlines():
        if line.startswith("data: "):
            yield json.loads(line.removeprefix("data: "))


def _filled(value: Any, names: Mapping[str, Any]) -> Any:
    if isinstance(value, dict):
        return {name: _filled(item, names) for name, item in value.items()}
    if not isinstance(value, str):
        return value
    if value == "{definition}":
        return names["definition"]
    for name, given in names.items():
        value = value.replace(f"{{{name}}}", str(given))
    return value
