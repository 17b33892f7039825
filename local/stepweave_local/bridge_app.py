"""The bundled Hermes Bridge over HTTP (docs/hermes-bridge.md): it keeps nothing between two requests."""

import asyncio
import hmac
import logging
from collections.abc import AsyncIterator
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.responses import JSONResponse, StreamingResponse

from stepweave.agents.bridge.client import EVENT_STREAM
from stepweave.agents.bridge.serving import serve
from stepweave.agents.bridge.wire import (
    MOST_BYTES,
    Event,
    Failure,
    RunBody,
    Terminal,
    Unreadable,
    read_body,
    write_event,
)
from stepweave.execution.work import Models
from stepweave.texts import Text

KEEP_ALIVE_SECONDS = 15.0
_KEEP_ALIVE = b":keep-alive\n\n"
_HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
_FAULT = Text("Bridge 内部错误，详情见其日志", "an internal error of the bridge; its log tells more")

logger = logging.getLogger("stepweave.bridge")


class _Refused(Exception):
    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


def create_bridge(models: Models, token: str | None, *, keep_alive: float = KEEP_ALIVE_SECONDS) -> FastAPI:
    """With a `token`, whoever does not show it is refused. `keep_alive` is in seconds."""
    app = FastAPI(openapi_url=None)

    @app.post("/run")
    async def run(request: Request) -> Response:
        _check_token(request, token)
        body = await _body(request)
        return StreamingResponse(_events(body, models, keep_alive), 200, _HEADERS, EVENT_STREAM)

    @app.exception_handler(_Refused)
    async def refused(_: Request, error: _Refused) -> Response:
        return JSONResponse({"error": str(error)}, error.status)

    return app


def _check_token(request: Request, token: str | None) -> None:
    shown = request.headers.get("Authorization", "")
    if token is not None and not hmac.compare_digest(shown.encode(), f"Bearer {token}".encode()):
        raise _Refused(401, "the token is missing or wrong")


async def _body(request: Request) -> RunBody:
    if request.headers.get("Content-Type", "").partition(";")[0].strip().lower() != "application/json":
        raise _Refused(415, "the body must be application/json")  # so no page in a browser can send it unasked
    content = bytearray()
    async for chunk in request.stream():
        content += chunk
        if len(content) > MOST_BYTES:
            raise _Refused(413, f"the body has more than {MOST_BYTES} bytes")
    try:
        return read_body(bytes(content))
    except Unreadable as error:
        raise _Refused(400, str(error)) from error


async def _events(body: RunBody, models: Models, keep_alive: float) -> AsyncIterator[bytes]:
    """Ends with the terminal event. When the client leaves, the server cancels this, and with it the model's call."""
    told: asyncio.Queue[Event] = asyncio.Queue()
    serving = asyncio.create_task(_serve(body, models, told))
    try:
        while True:
            try:
                event = await asyncio.wait_for(told.get(), keep_alive)
            except TimeoutError:
                yield _KEEP_ALIVE
                continue
            yield write_event(event)
            if isinstance(event, Terminal):
                return
    finally:
        serving.cancel()
        await asyncio.wait({serving})


async def _serve(body: RunBody, models: Models, told: "asyncio.Queue[Any]") -> None:
    try:
        await serve(body, models, told.put_nowait)
    except Exception:
        logger.exception("a request failed")
        told.put_nowait(Failure(message=_FAULT.to(body.language), retryable=True))
