"""Answers that may be larger than a gateway takes (contract §4): sent whole where that is possible, else by way of
object storage."""

from typing import Any

from fastapi import Response

from stepweave.api.answers import answer
from stepweave.api.context import Api
from stepweave.errors import PayloadTooLarge
from stepweave.services.wire import ANSWER_BYTES
from stepweave.texts import Text


def large_answer(api: Api, name: str, data: Any) -> Response:
    """`data` as an answer. Behind a gateway, one that is too large becomes an object of this name and a 302 to it."""
    whole = answer(data)
    if api.live or len(whole.body) <= ANSWER_BYTES:
        return whole
    if api.share is None:
        raise PayloadTooLarge(
            Text(
                "输出超过网关允许的 5 MB，请通过不经网关的服务读取",
                "the output is larger than the 5 MB that the gateway passes on: read it from a server without one",
            )
        )
    return Response(None, 302, {"Location": api.share(name, bytes(whole.body)), "Cache-Control": "no-store"})
