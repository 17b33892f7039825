"""Around every request: an id, a log line, a limit of size, and an answer even to a fault of ours."""

import logging
import re
from collections.abc import Sequence
from typing import Any

from starlette.datastructures import Headers, MutableHeaders
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from stepweave import ids
from stepweave.api.body import MOST_BYTES, TOO_LARGE
from stepweave.api.errors import internal_error, refuse
from stepweave.api.form_limits import limits_of
from stepweave.api.multipart import is_multipart
from stepweave.clock import Clock
from stepweave.services.rate_limits import Allowance

ALLOWED_HEADERS = (
    "X-API-Key",
    "Content-Type",
    "Last-Event-ID",
    "Idempotency-Key",
    "Accept-Language",
    "X-View-Token",
)
EXPOSED_HEADERS = (
    "X-Request-Id",
    "X-Run-Id",
    "Retry-After",
    "RateLimit-Limit",
    "RateLimit-Remaining",
    "RateLimit-Reset",
    "Content-Disposition",
)
_PREFLIGHT_SECONDS = 600
_DIGITS = re.compile(r"[0-9]{1,18}")

logger = logging.getLogger(__name__)


class RequestLog:
    """Outermost: gives each request an id and each answer its `X-Request-Id`, and writes one line about both.

    In Lambda the id is the invocation's, so that one search finds the platform's lines too. No query is logged: a view
    token may stand in it.
    """

    def __init__(self, app: ASGIApp, clock: Clock) -> None:
        self._app = app
        self._clock = clock

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        invocation = getattr(scope.get("aws.context"), "aws_request_id", None)
        request_id = str(invocation or ids.new_request_id())
        state: dict[str, Any] = scope.setdefault("state", {})
        state["request_id"] = request_id
        began = self._clock.monotonic()
        status = 0

        async def answered(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(scope=message)
                headers["X-Request-Id"] = request_id
                headers.update(_rate_limit(state.get("allowance")))
            await send(message)

        try:
            await self._app(scope, receive, answered)
        finally:
            told = {
                "request_id": request_id,
                "method": scope["method"],
                "path": scope["path"],
                "status": status,
                "ms": round((self._clock.monotonic() - began) * 1000),
                "key_id": state.get("key_id"),
            }
            logger.info("%(method)s %(path)s %(status)s", told, extra=told)


class Cors(CORSMiddleware):
    """Browsers may call `/api/*` from the configured origins, never with credentials (contract §4)."""

    def __init__(self, app: ASGIApp, origins: Sequence[str]) -> None:
        super().__init__(
            app,
            allow_origins=origins,
            allow_methods=("GET", "POST", "PUT", "DELETE"),
            allow_headers=ALLOWED_HEADERS,
            expose_headers=EXPOSED_HEADERS,
            allow_credentials=False,
            max_age=_PREFLIGHT_SECONDS,
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"].startswith("/api/"):
            await super().__call__(scope, receive, send)
        else:
            await self.app(scope, receive, send)


class Guard:
    """Innermost: a body that says it is too large is refused unread; a fault of ours is logged and answered."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request = Request(scope)
        form = limits_of(scope["path"])
        most, text = (
            (form.request_bytes, form.request_too_large().text) if is_multipart(request) else (MOST_BYTES, TOO_LARGE)
        )
        if _announced(scope) > most:
            await refuse(request, "PAYLOAD_TOO_LARGE", text)(scope, receive, send)
            return
        has_begun = False

        async def sending(message: Message) -> None:
            nonlocal has_begun
            has_begun = True
            await send(message)

        try:
            await self._app(scope, receive, sending)
        except ClientDisconnect:
            return
        except Exception:
            logger.exception("request %s failed", request.state.request_id)
            if has_begun:
                raise  # the answer is broken off: the server must close the connection
            await internal_error(request)(scope, receive, send)


def _rate_limit(allowance: Allowance | None) -> dict[str, str]:
    if allowance is None:
        return {}
    return {
        "RateLimit-Limit": str(allowance.limit),
        "RateLimit-Remaining": str(allowance.remaining),
        "RateLimit-Reset": str(allowance.reset),
    }


def _announced(scope: Scope) -> int:
    length = Headers(scope=scope).get("content-length", "")
    return int(length) if _DIGITS.fullmatch(length) else 0
