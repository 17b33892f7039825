"""Request bodies (contract §4): JSON objects up to 6 MB, read here so that every fault is told in our own way."""

import json
import re
from typing import Annotated, Any

from fastapi import Depends, Request
from fastapi.concurrency import run_in_threadpool
from pydantic import BaseModel

from stepweave.errors import PayloadTooLarge, UnsupportedMediaType, ValidationFailed
from stepweave.graph import shape
from stepweave.graph.json_value import copy_json
from stepweave.texts import Text

MOST_BYTES = 6_000_000

_JSON = re.compile(r"application/([a-z0-9.+-]+\+)?json", re.IGNORECASE)

TOO_LARGE = Text(
    "请求体超过 6 MB，请缩小请求",
    "the request's body is larger than 6 MB: send less",
)


async def json_object(request: Request) -> dict[str, Any]:
    """The body as a JSON object; no body is an empty one."""
    _check_type(request)
    raw = await _whole(request)
    return await run_in_threadpool(parse_object, raw) if raw.strip() else {}


JsonObject = Annotated[dict[str, Any], Depends(json_object)]


def read[M: BaseModel](model: type[M], raw: dict[str, Any]) -> M:
    """The model, or `ValidationFailed` naming every field that is wrong."""
    value, faults = copy_json(raw)
    if not faults:
        body, faults = shape.read(model, value)
        unknown = [name for name in raw if name not in _names(model)]
        if body is not None and not faults and not unknown:
            return body
        faults += [shape.Fault((name,), _unknown(model)) for name in unknown]
    raise ValidationFailed(Text.join([_sentence(fault) for fault in faults]))


def documented(model: type[BaseModel], required: bool = True) -> dict[str, Any]:
    """The body's part of a route's OpenAPI description."""
    schema = model.model_json_schema(by_alias=True)
    return {"requestBody": {"required": required, "content": {"application/json": {"schema": schema}}}}


def _check_type(request: Request) -> None:
    given = request.headers.get("content-type", "").partition(";")[0].strip()
    if given and not _JSON.fullmatch(given):
        raise UnsupportedMediaType(
            Text(
                f"不支持的 Content-Type {given}，请使用 application/json",
                f"content type {given} is not supported: use application/json",
            )
        )


async def _whole(request: Request) -> bytes:
    chunks: list[bytes] = []
    room = MOST_BYTES
    async for chunk in request.stream():
        room -= len(chunk)
        if room < 0:
            raise PayloadTooLarge(TOO_LARGE)
        chunks.append(chunk)
    return b"".join(chunks)


def parse_object(raw: bytes) -> dict[str, Any]:
    """A JSON object. Raises `ValidationFailed`, naming the place of the fault."""
    try:
        value = json.loads(raw.decode("utf-8-sig"), parse_constant=_refuse_constant)
    except RecursionError:
        raise ValidationFailed(Text("请求体嵌套过深，请简化", "the body is nested too deeply: simplify it")) from None
    except ValueError as error:
        place = (
            f"{error.msg} (line {error.lineno}, column {error.colno})"
            if isinstance(error, json.JSONDecodeError)
            else ""
        )
        raise ValidationFailed(
            Text(f"请求体不是有效的 JSON：{place}".rstrip("："), f"the body is not valid JSON: {place}".rstrip(": "))
        ) from error
    if not isinstance(value, dict):
        raise ValidationFailed(Text("请求体必须是 JSON 对象", "the body must be a JSON object"))
    return value


def _refuse_constant(name: str) -> Any:
    raise ValueError(name)


def _names(model: type[BaseModel]) -> list[str]:
    return [field.alias or name for name, field in model.model_fields.items()]


def _unknown(model: type[BaseModel]) -> Text:
    names = ", ".join(_names(model))
    return Text(f"不是已知字段，可用的有：{names}", f"is not a known field, there are: {names}")


def _sentence(fault: shape.Fault) -> Text:
    place = shape.spell(fault.path)
    return Text(f"{place or '请求体'} {fault.text.zh}", f"{place or 'the body'} {fault.text.en}")
