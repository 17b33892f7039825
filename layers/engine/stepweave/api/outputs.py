"""Answers that may be larger than a gateway takes (contract §4): sent whole where that is possible, else by way of
object storage."""

from typing import Any

from fastapi import Response

from stepweave.api.answers import JSON, answer
from stepweave.api.context import Api
from stepweave.services.wire import ANSWER_BYTES

_ADDRESS_SECONDS = 600


def large_answer(api: Api, name: str, data: Any) -> Response:
    """`data` as an answer. Behind a gateway, one that is too large becomes an object of this name and a 302 to it."""
    whole = answer(data)
    if api.live or len(whole.body) <= ANSWER_BYTES:
        return whole
    api.blobs.put(name, bytes(whole.body), JSON)
    return Response(
        None, 302, {"Location": api.blobs.download_url(name, _ADDRESS_SECONDS), "Cache-Control": "no-store"}
    )
