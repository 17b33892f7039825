"""Errors as HTTP (contract §4): one table of statuses, one shape, the caller's language, and nothing from inside."""

import logging
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from stepweave.api.answers import refusal
from stepweave.api.sse import error_event
from stepweave.errors import GraphInvalid, RateLimited, StepweaveError, Unavailable
from stepweave.graph.shape import describe, spell
from stepweave.ids import RUN_ID
from stepweave.texts import Language, Text, choose_language

STATUSES = {
    "UNAUTHORIZED": 401,
    "VALIDATION_FAILED": 400,
    "WORKFLOW_NOT_FOUND": 404,
    "RUN_NOT_FOUND": 404,
    "CLARIFY_NOT_FOUND": 404,
    "NODE_NOT_FOUND": 404,
    "GRAPH_INVALID": 422,
    "RUN_ALREADY_STARTED": 409,
    "IDEMPOTENCY_CONFLICT": 409,
    "NAME_TAKEN": 409,
    "CLARIFY_ALREADY_ANSWERED": 409,
    "RUN_ALREADY_FINISHED": 410,
    "CLARIFY_ANSWER_INVALID": 400,
    "PAYLOAD_TOO_LARGE": 413,
    "NOT_FOUND": 404,
    "METHOD_NOT_ALLOWED": 405,
    "UNSUPPORTED_MEDIA_TYPE": 415,
    "RATE_LIMITED": 429,
    "INTERNAL_ERROR": 500,
}

_BUSY = Text("服务繁忙，请稍后重试", "the service is busy: try again in a moment")
_NO_ROUTE = Text("没有这个接口", "there is no such path in this API")
_NO_METHOD = Text("该接口不支持这个 HTTP 方法", "this path does not take that HTTP method")

logger = logging.getLogger(__name__)


def handle_errors(app: FastAPI) -> None:
    """Every error that a route raises on purpose, and those of the framework, become answers of ours."""
    app.add_exception_handler(StepweaveError, _ours)
    app.add_exception_handler(RequestValidationError, _misshapen)
    app.add_exception_handler(HTTPException, _framework)


def language_of(request: Request) -> Language:
    return choose_language(request.headers.get("accept-language"))


def refuse(
    request: Request, code: str, text: Text, data: Any = None, headers: dict[str, str] | None = None
) -> Response:
    """An error for this caller; on a streaming endpoint as one event, with the same status (contract §5)."""
    message = text.to(language_of(request))
    if getattr(request.state, "streams", False):
        return error_event(STATUSES[code], code, message, _run_id(request), headers)
    return refusal(STATUSES[code], code, message, data, headers)


def internal_error(request: Request) -> Response:
    """What a caller learns of a fault of ours: the id under which the log tells more."""
    request_id = getattr(request.state, "request_id", "")
    text = Text(
        f"服务器内部错误，请求编号 {request_id}", f"internal error; the server's log has it under request {request_id}"
    )
    return refuse(request, "INTERNAL_ERROR", text)


async def _ours(request: Request, error: Exception) -> Response:
    assert isinstance(error, StepweaveError)
    if isinstance(error, Unavailable):
        logger.warning("unavailable: %s", error)
        return refuse(request, "RATE_LIMITED", _BUSY, headers={"Retry-After": "1"})
    if STATUSES.get(error.code, 500) >= 500:
        logger.error("a request failed", exc_info=error)
        return internal_error(request)
    if isinstance(error, RateLimited):
        return refuse(request, error.code, error.text, headers={"Retry-After": str(error.retry_after)})
    if isinstance(error, GraphInvalid):
        problems = [problem.to_json(language_of(request)) for problem in error.problems]
        return refuse(request, error.code, error.text, {"problems": problems})
    return refuse(request, error.code, error.text, error.data)


async def _misshapen(request: Request, error: Exception) -> Response:
    """A query parameter of a wrong form; bodies are read by ourselves."""
    assert isinstance(error, RequestValidationError)
    texts = []
    for detail in error.errors():
        name, text = spell(tuple(detail["loc"][1:])), describe(detail)
        texts.append(Text(f"{name} {text.zh}", f"{name} {text.en}"))
    return refuse(request, "VALIDATION_FAILED", Text.join(texts))


async def _framework(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    if error.status_code == 404:
        return refuse(request, "NOT_FOUND", _NO_ROUTE)
    if error.status_code == 405:
        return refuse(request, "METHOD_NOT_ALLOWED", _NO_METHOD, headers=dict(error.headers or {}))
    logger.error("unexpected %s of the framework: %s", error.status_code, error.detail)
    return internal_error(request)


def _run_id(request: Request) -> str | None:
    run_id = request.path_params.get("runId")
    return run_id if isinstance(run_id, str) and RUN_ID.fullmatch(run_id) else None
