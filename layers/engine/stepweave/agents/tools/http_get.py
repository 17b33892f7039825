"""`http_get`: reads a page of the public internet."""

import zlib
from collections.abc import Mapping
from typing import Any

import httpx2
from pydantic import BaseModel, Field

from stepweave.agents.tools.lent import Lent
from stepweave.agents.tools.toolbox import Tool, ToolFailed, schema_of, take
from stepweave.graph.problem import cut
from stepweave.texts import Text
from stepweave.web.transport import check_url

SECONDS = 10.0
MOST_BYTES = 1_000_000
MOST_REDIRECTS = 5
_MOST_CHARACTERS = 80_000
_GZIP_OR_ZLIB = 32 + zlib.MAX_WBITS


class _Where(BaseModel):
    url: str = Field(min_length=1, max_length=2000, description="An http or https address.")


def http_get_tool(lent: Lent) -> Tool:
    async def run(arguments: Mapping[str, Any]) -> Any:
        url = _parse(take(_Where, arguments).url)
        client = httpx2.AsyncClient(
            transport=lent.transport,
            trust_env=False,
            follow_redirects=True,
            max_redirects=MOST_REDIRECTS,
            headers={"User-Agent": "stepweave", "Accept": "*/*", "Accept-Encoding": "identity"},
            timeout=SECONDS,
        )
        try:
            async with client.stream("GET", url) as response:
                return _told(response, *await _read(response))
        except httpx2.TooManyRedirects as error:
            raise _failed(f"超过 {MOST_REDIRECTS} 次重定向", f"more than {MOST_REDIRECTS} redirects") from error
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            why = cut(f"{type(error).__name__}: {error}")
            raise _failed(why, why) from error

    return Tool(
        name="http_get",
        description="Reads a page or file of the public internet by GET, as text, up to 1 MB.",
        schema=schema_of(_Where),
        run=run,
        seconds=SECONDS,
    )


def _parse(address: str) -> httpx2.URL:
    try:
        url = httpx2.URL(address.strip())
    except httpx2.InvalidURL as error:
        raise _failed(f"{cut(address)} 不是有效的地址", f"{cut(address)} is no valid address") from error
    check_url(url)
    return url


async def _read(response: httpx2.Response) -> tuple[bytes, bool]:
    """The body and whether it was longer than what is read."""
    body = bytearray()
    async for chunk in response.aiter_raw():
        body += chunk
        if len(body) > MOST_BYTES:
            break
    return bytes(body[:MOST_BYTES]), len(body) > MOST_BYTES


def _told(response: httpx2.Response, body: bytes, is_cut: bool) -> dict[str, Any]:
    body, is_cut = _unpacked(response.headers.get("content-encoding", "identity"), body, is_cut)
    told: dict[str, Any] = {
        "url": str(response.url),
        "status": response.status_code,
        "contentType": response.headers.get("content-type", ""),
    }
    text = _text(response, body)
    if text is None:
        return told | {"bytes": len(body), "binary": True}
    is_cut = is_cut or len(text) > _MOST_CHARACTERS
    return told | {"text": text[:_MOST_CHARACTERS]} | ({"truncated": True} if is_cut else {})


def _unpacked(encoding: str, body: bytes, is_cut: bool) -> tuple[bytes, bool]:
    """A server may pack although it was asked not to; what comes out is bounded too."""
    if encoding == "identity" or not body:
        return body, is_cut
    if encoding not in {"gzip", "x-gzip", "deflate"}:
        raise _failed(f"不支持的压缩方式 {cut(encoding)}", f"packed in a way that is not read here: {cut(encoding)}")
    unpacking = zlib.decompressobj(_GZIP_OR_ZLIB)
    try:
        unpacked = unpacking.decompress(body, MOST_BYTES)
    except zlib.error as error:
        raise _failed("压缩内容已损坏", "the packed content is broken") from error
    return unpacked, is_cut or bool(unpacking.unconsumed_tail)


def _text(response: httpx2.Response, body: bytes) -> str | None:
    if b"\0" in body:
        return None
    try:
        return body.decode(response.charset_encoding or "utf-8", errors="replace")
    except LookupError:
        return body.decode(errors="replace")


def _failed(zh: str, en: str) -> ToolFailed:
    return ToolFailed(Text(f"无法读取：{zh}", f"it could not be read: {en}"))
