"""The shape of every answer (contract §4): `{code, message, data}`, in UTF-8 JSON."""

from typing import Any

from fastapi import Response

from stepweave.services.wire import encode

JSON = "application/json"


def answer(data: Any, headers: dict[str, str] | None = None) -> Response:
    return _wrapped(200, "OK", "", data, headers)


def answer_of_bytes(data: bytes) -> Response:
    """The same, where `data` is JSON already."""
    return Response(b'{"code":"OK","message":"","data":%b}' % data, media_type=JSON)


def refusal(status: int, code: str, message: str, data: Any = None, headers: dict[str, str] | None = None) -> Response:
    return _wrapped(status, code, message, data, headers)


def _wrapped(status: int, code: str, message: str, data: Any, headers: dict[str, str] | None) -> Response:
    content = encode({"code": code, "message": message, "data": data})
    return Response(content, status, headers, JSON)
