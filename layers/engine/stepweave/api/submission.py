"""What a client sends to make a run: JSON, or JSON and files (contract §4)."""

from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import dataclass
from tempfile import TemporaryFile
from typing import Annotated, Any

from fastapi import Depends, Request
from fastapi.concurrency import run_in_threadpool
from pydantic import BaseModel

from stepweave.api.body import json_object, parse_object
from stepweave.api.form_limits import RUN_FORM
from stepweave.api.multipart import SentFile, is_multipart, read_form
from stepweave.errors import ValidationFailed
from stepweave.services.files import check_paths
from stepweave.texts import Text


@dataclass(frozen=True, slots=True)
class NamedFile:
    """A sent file with its place in the workspace: `NewFile` (services)."""

    path: str
    sent: SentFile

    def pieces(self) -> Iterator[bytes]:
        return self.sent.pieces()


@dataclass(frozen=True, slots=True)
class Submission:
    """`files` can be read until `close`, which is called when they are stored, and at the latest after the answer."""

    body: dict[str, Any]
    files: Sequence[SentFile]
    close: Callable[[], None]


async def _submission(request: Request) -> AsyncIterator[Submission]:
    if not is_multipart(request):
        yield Submission(await json_object(request), (), lambda: None)
        return
    with TemporaryFile() as disk:
        form = await read_form(request, disk, RUN_FORM)
        payload = bytes(form.payload)
        body = await run_in_threadpool(parse_object, payload) if payload.strip() else {}
        yield Submission(body, form.files, disk.close)


Submitted = Annotated[Submission, Depends(_submission)]


def named(files: Sequence[SentFile], paths: Sequence[str | None]) -> tuple[NamedFile, ...]:
    """Each file at its place: by its own header, else by the path that the payload gives in the same position, else
    by its name. Raises `ValidationFailed`."""
    given: list[str] = []
    for index, file in enumerate(files):
        listed = paths[index] if index < len(paths) else None
        path = file.relative_path or listed or file.filename
        if not path:
            raise ValidationFailed(
                Text(
                    f"files[{index}] 没有文件名，请提供 filename 或 X-Relative-Path",
                    f"files[{index}] has no name: give a filename or an X-Relative-Path",
                )
            )
        given.append(path)
    return tuple(NamedFile(path, file) for path, file in zip(check_paths(given), files, strict=True))


def documented_with_files(model: type[BaseModel]) -> dict[str, Any]:
    """The body's part of a route's OpenAPI description, in both forms."""
    schema = model.model_json_schema(by_alias=True)
    files = {"type": "array", "items": {"type": "string", "format": "binary"}}
    form = {"type": "object", "properties": {"payload": schema, "files": files}}
    return {
        "requestBody": {
            "required": False,
            "content": {"application/json": {"schema": schema}, "multipart/form-data": {"schema": form}},
        }
    }
