"""`/internal/context` in the API (contract §6): for bridges and agents outside the functions, where it is switched on."""

from typing import Annotated

from fastapi import APIRouter, Path, Request, Response
from fastapi.concurrency import run_in_threadpool

from stepweave.api.answers import JSON
from stepweave.api.context import ApiContext
from stepweave.api.errors import language_of
from stepweave.services import context_desk
from stepweave.services.context_desk import MOST_BODY_BYTES, PREFIX, TOKEN_HEADER
from stepweave.services.wire import encode

router = APIRouter(prefix=PREFIX.rstrip("/"), tags=["context"])

Route = Annotated[str, Path(description="`path`, `output` or `meta`.", examples=["path"])]


@router.post("/{route}", summary="What came before, for a model inside a visit")
async def ask(route: Route, request: Request, api: ApiContext) -> Response:
    """Answers `{code, message, data}` with a numeric `code` that equals the HTTP status, by `X-Context-Token`."""
    language = language_of(request)
    asked = context_desk.Request(
        route=route,
        tokens=request.headers.getlist(TOKEN_HEADER),
        content_type=request.headers.get("content-type", ""),
        body=await _beginning(request),
        language=language,
    )
    answer = await run_in_threadpool(lambda: api.context.answer(asked, limit=api.queries))
    headers = {"Retry-After": str(answer.retry_after)} if answer.retry_after is not None else None
    return Response(encode(answer.body(language)), answer.status, headers, JSON)


async def _beginning(request: Request) -> bytes:
    """The body as far as it may go, and a little more where it goes on."""
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > MOST_BODY_BYTES:
            break
    return body[: MOST_BODY_BYTES + 1]
