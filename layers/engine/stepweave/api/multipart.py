"""Files sent in a form, along with a JSON payload (contract §4): read as they come, on disk until they are stored.

Nothing of a request goes anywhere before all of it has been read and found right, and it takes a bounded part of
memory, whatever its size.
"""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from email.message import Message
from email.utils import collapse_rfc2231_value
from typing import BinaryIO

from fastapi import Request
from fastapi.concurrency import run_in_threadpool
from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser

from stepweave.api.body import MOST_BYTES
from stepweave.api.form_limits import FormLimits
from stepweave.errors import StepweaveError, ValidationFailed
from stepweave.texts import Text

_PIECE = 1024 * 1024
_FILES = "files"
_PAYLOAD = "payload"


@dataclass(slots=True)
class SentFile:
    """One `files` part. `relative_path` is its `X-Relative-Path`, `filename` what its Content-Disposition names;
    the content lies in `disk` from `start` on."""

    disk: BinaryIO
    start: int
    relative_path: str | None
    filename: str | None
    size: int = 0
    sha256: "hashlib._Hash" = field(default_factory=hashlib.sha256)

    def pieces(self) -> Iterator[bytes]:
        for position in range(0, self.size, _PIECE):
            self.disk.seek(self.start + position)
            yield self.disk.read(min(_PIECE, self.size - position))


@dataclass(slots=True)
class Form:
    payload: bytearray = field(default_factory=bytearray)
    files: list[SentFile] = field(default_factory=list)


def is_multipart(request: Request) -> bool:
    return _content_type(request).get_content_type() == "multipart/form-data"


async def read_form(request: Request, disk: BinaryIO, limits: FormLimits) -> Form:
    """Reads the whole body. Raises `ValidationFailed`, `PayloadTooLarge`.

    A body with a fault is read to its end all the same, up to the limit: a client that is still sending would not
    see the answer.
    """
    reader = _Reader(_content_type(request).get_boundary(), disk, limits)
    fault: StepweaveError | None = None
    received = 0
    async for chunk in request.stream():
        received += len(chunk)
        if received > limits.request_bytes:
            raise fault or limits.request_too_large()
        if fault is None:
            try:
                reader.take(chunk)
            except StepweaveError as error:
                fault = error
            if reader.waits_for_disk:
                await run_in_threadpool(reader.flush)
    if fault is not None:
        raise fault
    await run_in_threadpool(reader.flush)
    return reader.form()


class _Reader:
    """Takes the body chunk by chunk. `take` is quick; what it leaves to be written is written by `flush`."""

    def __init__(self, boundary: str | None, disk: BinaryIO, limits: FormLimits) -> None:
        self._limits = limits
        self._form = Form()
        self._disk = disk
        self._end = 0
        self._waiting: list[tuple[SentFile, bytes]] = []
        self._waiting_bytes = 0
        self._header = ("", b"")
        self._headers: dict[str, bytes] = {}
        self._file: SentFile | None = None
        self._names: set[str] = set()
        self._is_whole = False
        try:
            self._parser = MultipartParser(
                boundary or "",
                {
                    "on_part_begin": self._begin,
                    "on_header_field": self._header_name,
                    "on_header_value": self._header_value,
                    "on_header_end": self._header_end,
                    "on_headers_finished": self._open,
                    "on_part_data": self._data,
                    "on_end": self._finish,
                },
            )
        except FormParserError as error:
            raise _malformed("boundary") from error
        if not boundary:
            raise _malformed("boundary")

    @property
    def waits_for_disk(self) -> bool:
        return self._waiting_bytes >= _PIECE

    def take(self, chunk: bytes) -> None:
        try:
            self._parser.write(chunk)
        except FormParserError as error:
            raise _malformed(str(error)) from error

    def flush(self) -> None:
        for file, content in self._waiting:
            file.sha256.update(content)
            self._disk.write(content)
        self._waiting.clear()
        self._waiting_bytes = 0

    def form(self) -> Form:
        """All that was sent, once it is read and written."""
        if not self._is_whole:
            raise ValidationFailed(
                Text("multipart 请求体不完整，请重新发送", "the multipart body is incomplete: send it again")
            )
        return self._form

    def _begin(self) -> None:
        self._headers = {}
        self._file = None

    def _header_name(self, data: bytes, start: int, end: int) -> None:
        name, value = self._header
        self._header = (name + data[start:end].decode("latin-1"), value)

    def _header_value(self, data: bytes, start: int, end: int) -> None:
        name, value = self._header
        self._header = (name, value + data[start:end])

    def _header_end(self) -> None:
        name, value = self._header
        self._headers[name.lower()] = value.strip()
        self._header = ("", b"")

    def _open(self) -> None:
        """A part's headers are known: is it one that we take?"""
        disposition = Message()
        disposition["Content-Disposition"] = self._text("content-disposition") or ""
        name = _parameter(disposition, "name")
        if name is None or name not in self._limits.fields:
            raise self._limits.unknown_field(name or "")
        if name == _FILES:
            self._open_file(_parameter(disposition, "filename"))
        elif _PAYLOAD in self._names:
            raise ValidationFailed(Text("payload 只能出现一次", "payload may be sent once only"))
        self._names.add(name)

    def _open_file(self, filename: str | None) -> None:
        if len(self._form.files) == self._limits.files:
            raise self._limits.too_many_files()
        self._file = SentFile(self._disk, self._end, self._text("x-relative-path"), filename)
        self._form.files.append(self._file)

    def _data(self, data: bytes, start: int, end: int) -> None:
        if self._file is None:
            self._form.payload += data[start:end]
            if len(self._form.payload) > MOST_BYTES:
                raise self._limits.payload_too_large()
            return
        self._file.size += end - start
        self._end += end - start
        if self._file.size > self._limits.file_bytes:
            raise self._limits.file_too_large(len(self._form.files) - 1)
        self._waiting.append((self._file, data[start:end]))
        self._waiting_bytes += end - start

    def _finish(self) -> None:
        self._is_whole = True

    def _text(self, header: str) -> str | None:
        """A header of the part, in UTF-8; an empty one is none."""
        try:
            return self._headers.get(header, b"").decode() or None
        except UnicodeDecodeError:
            raise ValidationFailed(
                Text(
                    f"files[{len(self._form.files)}] 的文件名不是 UTF-8 编码",
                    f"the name of files[{len(self._form.files)}] is not in UTF-8",
                )
            ) from None


def _malformed(reason: str) -> ValidationFailed:
    return ValidationFailed(Text(f"multipart 请求体格式错误：{reason}", f"the multipart body is malformed: {reason}"))


def _content_type(request: Request) -> Message:
    message = Message()
    message["Content-Type"] = request.headers.get("content-type", "")
    return message


def _parameter(header: Message, name: str) -> str | None:
    value = header.get_param(name, header="content-disposition")
    return collapse_rfc2231_value(value) if value else None
