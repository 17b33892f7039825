"""The client of the context router (contract §6; seed §9): trusts nothing that comes back, and tells nobody its token."""

import asyncio
import json
import logging
from collections.abc import Mapping
from typing import Any

import httpx2

from stepweave.agents.tools.toolbox import ToolFailed
from stepweave.execution.context_query import ContextQuery
from stepweave.texts import Language, Text
from stepweave.web.addresses import is_loopback
from stepweave.web.transport import direct_transport

SECONDS = 5.0
PAUSE_SECONDS = 0.2
"""Before the one retry."""

MOST_BYTES = 8_000_000
_TOLD_CHARACTERS = 3_000

Known = Mapping[str, "Known | None"]
"""The fields that are read of an object, or of each object of a list; None: whatever is there."""

_PATH: Known = {
    "visitUuids": None,
    "nodeIds": None,
    "paths": {"sequence": None, "visitUuids": None, "hasBacktrack": None},
    "backtrackEdgeKeys": None,
    "truncated": None,
}
_VISIT: Known = {"nodeId": None, "iterSeq": None, "visitUuid": None, "truncated": None}
_NAMES: Known = dict.fromkeys(("nodeId", "label", "iterSeq", "visitUuid", "status", "data", "trace", "metadata"))
KNOWN: Mapping[str, Known] = {
    "path": _PATH,
    "output": {**_VISIT, **dict.fromkeys(("status", "message", "data", "requestedField"))},
    "meta": {
        **_VISIT,
        "thinking": None,
        "toolCalls": {"tool": None, "args": None, "result": None},
        "todoList": {"text": None, "status": None},
        "logs": {"type": None, "timestamp": None, "message": None, "detail": None},
        "nodes": _NAMES,
        "value": None,
    },
}

logger = logging.getLogger(__name__)


class ContextClient:
    """`transport` is for tests; by default the machine's own loopback, never a proxy."""

    def __init__(
        self, query: ContextQuery, language: Language, transport: httpx2.AsyncBaseTransport | None = None
    ) -> None:
        """Raises `ToolFailed` when the router is not on this machine: then nothing is ever sent."""
        if not _is_ours(query.base_url):
            logger.warning("context: the router is not on loopback, no query is made")
            raise ToolFailed(_FOREIGN)
        self._query = query
        self._http = httpx2.AsyncClient(
            transport=transport or direct_transport(),
            trust_env=False,
            follow_redirects=False,
            timeout=SECONDS,
            headers={
                "X-Context-Token": query.token,
                "Accept-Language": language,
                "Accept": "application/json",
                "Accept-Encoding": "identity",
                "User-Agent": "stepweave",
            },
        )

    async def ask(self, route: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """The known fields of an answer's data. Raises `ToolFailed`."""
        content = json.dumps({"runId": self._query.run_id, **body}).encode()
        for attempt in (1, 2):
            try:
                async with asyncio.timeout(SECONDS):
                    status, text = await self._post(route, content)
            except (TimeoutError, httpx2.HTTPError):
                status, text = 0, b""  # the cause may quote the request: it is told to nobody
            if attempt == 1 and (status == 0 or (status >= 500 and status != 503)):
                await asyncio.sleep(PAUSE_SECONDS)
                continue
            return self._read(route, status, text)
        raise AssertionError("the second attempt gives an answer or raises")

    async def close(self) -> None:
        await self._http.aclose()

    async def _post(self, route: str, content: bytes) -> tuple[int, bytes]:
        address = f"{self._query.base_url.rstrip('/')}/internal/context/{route}"
        request = self._http.build_request(
            "POST", address, content=content, headers={"Content-Type": "application/json"}
        )
        response = await self._http.send(request, stream=True)
        try:
            if "set-cookie" in response.headers or "location" in response.headers:
                raise ToolFailed(_SUSPECT)
            text = bytearray()
            async for chunk in response.aiter_bytes():
                text += chunk
                if len(text) > MOST_BYTES:
                    raise ToolFailed(_SUSPECT)
            return response.status_code, bytes(text)
        finally:
            await response.aclose()

    def _read(self, route: str, status: int, text: bytes) -> dict[str, Any]:
        if status == 0:
            raise ToolFailed(_SILENT)
        told = self._query.masked(text.decode(errors="replace"))
        try:
            answer = json.loads(told)
        except (ValueError, RecursionError):
            answer = None
        if not isinstance(answer, dict):
            raise ToolFailed(_SUSPECT)
        if status != 200 or answer.get("code") != 200:
            message = answer.get("message")
            words = message[:_TOLD_CHARACTERS] if isinstance(message, str) else str(status)
            raise ToolFailed(Text(f"查询失败（{status}）：{words}", f"the query failed ({status}): {words}"))
        data = _pick(answer.get("data"), KNOWN[route])
        if not isinstance(data, dict):
            raise ToolFailed(_SUSPECT)
        return data


def _is_ours(base_url: str) -> bool:
    try:
        url = httpx2.URL(base_url)
    except (httpx2.InvalidURL, ValueError):
        return False
    return url.scheme == "http" and not url.userinfo and is_loopback(url.host) and url.path in {"", "/"}


def _pick(value: Any, known: "Known | None") -> Any:
    if known is None:
        return value
    match value:
        case dict():
            return {name: _pick(value[name], below) for name, below in known.items() if name in value}
        case list():
            return [_pick(each, known) for each in value]
        case _:
            return None


_FOREIGN = Text(
    "上下文查询不可用：查询地址不在本机", "context queries cannot be made: their address is not this machine's"
)
_SUSPECT = Text("查询的应答不可信，已丢弃", "the answer to the query cannot be trusted and was dropped")
_SILENT = Text(f"查询在 {SECONDS:g} 秒内没有应答", f"the query was not answered within {SECONDS:g} seconds")
