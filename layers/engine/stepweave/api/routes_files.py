"""The files of a run: addresses to upload to, and the zip (contract §4). External API, and the platform's download."""

from collections.abc import Iterator
from typing import Annotated

from fastapi import APIRouter, Query, Response
from fastapi.responses import StreamingResponse

from stepweave.api.access import Admin, SeenWorkflowRun, WorkflowRun
from stepweave.api.answers import answer
from stepweave.api.bodies import UploadsBody
from stepweave.api.body import JsonObject, documented, read
from stepweave.api.context import Api, ApiContext
from stepweave.execution.run import Run
from stepweave.services.files import zip_disposition

router = APIRouter(tags=["files"])
platform = APIRouter(tags=["platform"])

_GATEWAY_BYTES = 4_000_000
"""A zip passes the gateway as text, a third longer, and Lambda answers with 6 MB at most."""

_ZIP = "application/zip"
_NO_STORE = {"Cache-Control": "no-store"}

Redirect = Annotated[bool, Query(description="false: the answer is JSON with the zip's `url`.")]


@router.post(
    "/workflows/{workflow}/runs/{runId}/uploads",
    summary="Addresses to upload files to",
    openapi_extra=documented(UploadsBody),
)
def uploads(run: WorkflowRun, raw: JsonObject, api: ApiContext) -> Response:
    """Before the start. Each file is PUT to its `url` with its `headers`, in exactly the size that was announced."""
    wanted = [(file.path, file.size) for file in read(UploadsBody, raw).files]
    return answer({"uploads": api.files.uploads(run, wanted)})


@router.get("/workflows/{workflow}/runs/{runId}/workspace", summary="The run's files as a zip")
def workspace(run: SeenWorkflowRun, api: ApiContext, redirect: Redirect = True) -> Response:
    """Without the files that `.agentignore` names. Where it is too large for the gateway, a 302 to the same zip."""
    return _zip(run, api, redirect)


@platform.get("/workflows/{workflow}/runs/{runId}/download", summary="The run's files as a zip")
def download(_: Admin, run: WorkflowRun, api: ApiContext, redirect: Redirect = True) -> Response:
    """As the workspace in the external API."""
    return _zip(run, api, redirect)


def _zip(run: Run, api: Api, redirect: bool) -> Response:
    if not redirect:
        return answer({"url": api.files.zip_address(run)})
    headers = {"Content-Disposition": zip_disposition(run)} | _NO_STORE
    if api.live:
        return StreamingResponse(api.files.zip(run), 200, headers, _ZIP)
    content = _whole(api.files.zip(run))
    if content is not None:
        return Response(content, 200, headers, _ZIP)
    return Response(None, 302, {"Location": api.files.zip_address(run)} | _NO_STORE)


def _whole(pieces: Iterator[bytes]) -> bytes | None:
    """None when it is more than the gateway takes; the rest is then not even made."""
    content = bytearray()
    for piece in pieces:
        content += piece
        if len(content) > _GATEWAY_BYTES:
            return None
    return bytes(content)
