"""The description of the API (OpenAPI), completed with what the routes do not say themselves: who may call, what refusals
look like, and an example of each answer.

Which refusals a call has follows from its path, its parameters and its body; those of its own meaning are in `_OWN`.
"""

import json
from collections.abc import Iterator
from importlib.resources import files
from typing import Any

from fastapi import FastAPI

from stepweave.api.errors import STATUSES

REFUSAL = {
    "type": "object",
    "required": ["code", "message", "data"],
    "properties": {
        "code": {"type": "string"},
        "message": {"type": "string", "description": "For people: what, where, what to do."},
        "data": {"type": ["object", "null"], "description": "null, but `{problems}` with GRAPH_INVALID."},
    },
}

_MESSAGES = {
    "UNAUTHORIZED": "API Key 缺失或无效",
    "VALIDATION_FAILED": "ttlHours 必须大于 0",
    "WORKFLOW_NOT_FOUND": '工作流 "research-report" 不存在',
    "RUN_NOT_FOUND": "运行 a3f9b2c1 不存在或已过期",
    "NODE_NOT_FOUND": "工作流 research-report 没有节点 node-9",
    "CLARIFY_NOT_FOUND": "问题 clar-0123456789ab 不存在",
    "NOT_FOUND": "没有这个接口",
    "GRAPH_INVALID": "工作流图未通过校验",
    "NAME_TAKEN": "工作流 research-report 已存在；要保存新版本请用 PUT /api/workflows/research-report",
    "RUN_ALREADY_STARTED": "运行 a3f9b2c1 已启动，不可重复启动",
    "IDEMPOTENCY_CONFLICT": "Idempotency-Key 已用于另一个请求，请换一个值",
    "CLARIFY_ALREADY_ANSWERED": "问题 clar-0123456789ab 已被回答",
    "CLARIFY_ANSWER_INVALID": "answer 必须是选项之一：v1.0、v2.0",
    "RUN_ALREADY_FINISHED": "运行 a3f9b2c1 已结束",
    "PAYLOAD_TOO_LARGE": "请求体超过 6 MB，请缩小请求",
    "UNSUPPORTED_MEDIA_TYPE": "不支持的 Content-Type text/plain，请使用 application/json",
    "RATE_LIMITED": "请求过于频繁（每分钟最多 12000 次），请在 30 秒后重试",
    "INTERNAL_ERROR": "服务器内部错误，请求编号 0123456789abcdef",
}

_OF_PATHS = {
    "{workflow}": "WORKFLOW_NOT_FOUND",
    "{runId}": "RUN_NOT_FOUND",
    "{id}": "RUN_NOT_FOUND",
    "{nodeId}": "NODE_NOT_FOUND",
    "{keyId}": "NOT_FOUND",
    "{name}": "NOT_FOUND",
    "{sid}": "NOT_FOUND",
}

_OWN = {
    "/start": ("RUN_ALREADY_STARTED", "GRAPH_INVALID"),
    "/uploads": ("RUN_ALREADY_STARTED",),
    "/resume": (
        "CLARIFY_NOT_FOUND",
        "CLARIFY_ALREADY_ANSWERED",
        "CLARIFY_ANSWER_INVALID",
        "RUN_ALREADY_FINISHED",
    ),
    "/cancel": ("RUN_ALREADY_FINISHED",),
}
"""By the end of the path."""

_KEY = {
    "type": "apiKey",
    "in": "header",
    "name": "X-API-Key",
    "description": "Of scope `run`, or `admin` for `/api/…`.",
}
_SCHEMES = {
    "apiKey": _KEY,
    "viewToken": {"type": "apiKey", "in": "header", "name": "X-View-Token", "description": "Of this one run."},
    "viewTokenInQuery": {"type": "apiKey", "in": "query", "name": "viewToken", "description": "For an EventSource."},
    "contextToken": {"type": "apiKey", "in": "header", "name": "X-Context-Token", "description": "Of a visit."},
}
_SHOWN_BY = {"X-API-Key": "apiKey", "X-View-Token": "viewToken", "viewToken": "viewTokenInQuery"}

_STREAM = "text/event-stream"
_EVENT = {
    "type": "object",
    "description": "One server-sent event; a stream has many.",
    "properties": {"event": {"type": "string"}, "id": {"type": "string"}, "data": {"type": "string"}},
    "required": ["event", "data"],
}
_EVENTS = {
    "schema": _EVENT,
    "example": 'event: node_status\nid: 1\ndata: {"runId": "a3f9b2c1", "type": "node_status", "nodeId": "node-1", …}\n\n',
}
_CONTEXT_ANSWER = {
    "type": "object",
    "required": ["code", "message", "data"],
    "properties": {"code": {"type": "integer"}, "message": {"type": "string"}, "data": {}},
}


def describe(app: FastAPI) -> None:
    """From now on `app.openapi()` gives the whole description."""
    plain = app.openapi

    def whole() -> dict[str, Any]:
        if app.openapi_schema is None:
            app.openapi_schema = _completed(plain())
        return app.openapi_schema

    app.openapi = whole  # type: ignore[method-assign]  # FastAPI's own way to extend it


def _completed(schema: dict[str, Any]) -> dict[str, Any]:
    examples = json.loads(files(__package__).joinpath("examples.json").read_text("utf-8"))
    components = schema.setdefault("components", {})
    components["securitySchemes"] = _SCHEMES
    components.setdefault("schemas", {})["Refusal"] = REFUSAL
    for path, methods in schema["paths"].items():
        for method, call in methods.items():
            _secure(call)
            _answer(method, path, call, examples.get(f"{method.upper()} {path}"))
            _refuse(method, path, call)
    return schema


def _secure(call: dict[str, Any]) -> None:
    """Keys and tokens are ways to be let in, not parameters."""
    names = {each["name"] for each in call.get("parameters", [])}
    shown = [scheme for name, scheme in _SHOWN_BY.items() if name in names]
    call["parameters"] = [each for each in call.get("parameters", []) if each["name"] not in _SHOWN_BY]
    call["security"] = [{name: []} for name in shown] or [{"contextToken": []}]


def _answer(method: str, path: str, call: dict[str, Any], data: Any) -> None:
    """What a call answers with, where it is not `{code, message, data}`, and an example where it is."""
    answers = call["responses"]
    answers["200"]["description"] = "Done."
    content = answers["200"]["content"]
    if path.startswith("/internal/"):
        content["application/json"] = {
            "schema": _CONTEXT_ANSWER,
            "example": {"code": 200, "message": "success", "data": data},
        }
        answers["default"] = {
            "description": "An error: `code` is the HTTP status.",
            "content": {"application/json": {"schema": _CONTEXT_ANSWER}},
        }
        return
    if data is not None:
        content["application/json"]["example"] = {"code": "OK", "message": "", "data": data}
    if _streams(method, path):
        answers["200"]["content"] = {_STREAM: _EVENTS}
    elif method == "post" and path.endswith("/runs"):
        content[_STREAM] = _EVENTS | {"description": "With `async: false`."}
    if method == "get" and path.endswith("/stream"):
        answers["204"] = {"description": "The reader is at the terminal event: nothing follows."}
    if path.endswith(("/workspace", "/download")):
        content["application/zip"] = {"schema": {"type": "string", "format": "binary"}}
    if path.endswith(("/workspace", "/download", "/output")):
        answers["302"] = {"description": "Too large for the gateway: the same from object storage, at `Location`."}


def _streams(method: str, path: str) -> bool:
    return (method == "get" and path.endswith("/stream")) or path == "/api/workflows/{workflow}/run"


def _refuse(method: str, path: str, call: dict[str, Any]) -> None:
    if path.startswith("/internal/"):
        return
    del call["responses"]["default"]
    kind = _STREAM if method == "get" and _streams(method, path) else "application/json"
    by_status: dict[int, list[str]] = {}
    for code in _codes(method, path, call):
        by_status.setdefault(STATUSES[code], []).append(code)
    for status, codes in sorted(by_status.items()):
        call["responses"][str(status)] = {
            "description": ", ".join(f"`{code}`" for code in codes),
            "content": {kind: _told(codes, kind)},
        }


def _codes(method: str, path: str, call: dict[str, Any]) -> Iterator[str]:
    yield from ("UNAUTHORIZED", "RATE_LIMITED", "INTERNAL_ERROR")
    yield from (code for part, code in _OF_PATHS.items() if part in path)
    if call["parameters"] or "requestBody" in call:
        yield "VALIDATION_FAILED"
    if "requestBody" in call:
        yield from ("PAYLOAD_TOO_LARGE", "UNSUPPORTED_MEDIA_TYPE")
    if any(each["name"] == "Idempotency-Key" for each in call["parameters"]):
        yield from ("IDEMPOTENCY_CONFLICT", "GRAPH_INVALID")
    yield from (code for end, codes in _OWN.items() if path.endswith(end) for code in codes)
    if method in ("post", "put") and path in ("/api/workflows", "/api/workflows/{workflow}"):
        yield from ("GRAPH_INVALID", "NAME_TAKEN")


def _told(codes: list[str], kind: str) -> dict[str, Any]:
    if kind == _STREAM:
        return {"schema": _EVENT, "examples": {code: {"value": _event(code)} for code in codes}}
    examples = {code: {"value": {"code": code, "message": _MESSAGES[code], "data": _data(code)}} for code in codes}
    return {"schema": {"$ref": "#/components/schemas/Refusal"}, "examples": examples}


def _data(code: str) -> Any:
    if code != "GRAPH_INVALID":
        return None
    return {"problems": [{"code": "NO_OUTPUT", "message": "工作流没有 output 节点"}]}


def _event(code: str) -> str:
    data = {"runId": "a3f9b2c1", "type": "workflow_error", "success": False, "error": _MESSAGES[code], "code": code}
    return f"event: workflow_error\ndata: {json.dumps(data, ensure_ascii=False)}\n\n"
