"""The engine's way to a bridge: one request, and the events of its answer. Whatever the bridge does, it ends."""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable
from contextlib import asynccontextmanager
from http import HTTPStatus
from typing import Any, Self

import httpx2

from stepweave.agents.bridge.wire import MOST_BYTES, Event, RunBody, Terminal, Unreadable, read_event, write_body
from stepweave.agents.request import NodeStopped
from stepweave.event_stream import Message, MessageReader, MessageTooLong
from stepweave.execution.bridge import Bridge
from stepweave.execution.context_query import ContextQuery
from stepweave.graph.problem import cut
from stepweave.texts import Text
from stepweave.web import addresses
from stepweave.web.transport import CONNECT_SECONDS, direct_transport

EVENT_STREAM = "text/event-stream"
_LONGEST_REFUSAL = 64 * 1024


class BridgeFailed(NodeStopped):
    """The bridge cannot be used, or has broken off."""


class BridgeClient:
    """One connection after another to one bridge, while the context is open. `lent` is what a bridge
    may ask with what came before; where it tells the token, nobody else is told (contract §6)."""

    def __init__(self, bridge: Bridge, lent: ContextQuery | None = None) -> None:
        self._bridge = bridge
        self._lent = lent
        headers = {"Content-Type": "application/json", "Accept": EVENT_STREAM, "Accept-Encoding": "identity"}
        if bridge.token is not None:
            headers["Authorization"] = f"Bearer {bridge.token}"
        self._http = httpx2.AsyncClient(
            transport=direct_transport(),
            headers=headers,
            timeout=httpx2.Timeout(None, connect=CONNECT_SECONDS, write=bridge.idle_seconds),
            trust_env=False,
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._http.aclose()

    async def run(self, body: RunBody) -> AsyncGenerator[Event]:
        """The events up to the terminal one, which is the last. Raises `BridgeFailed` where there is none.

        Leaving the generator ends the connection, which tells the bridge to stop.
        """
        async with self._post(body) as response:
            chunks = response.aiter_bytes()
            reader = MessageReader(MOST_BYTES)
            while True:
                messages = await self._in_time(_next(chunks, reader))
                if messages is None:
                    raise _broken(Text("连接在结束事件之前断开", "the stream ended before its last event"))
                for message in messages:
                    event = read_event(message.event, self._masked(message.data))
                    if event is not None:
                        yield event
                    if isinstance(event, Terminal):
                        return

    @asynccontextmanager
    async def _post(self, body: RunBody) -> AsyncIterator[httpx2.Response]:
        """The answer, when it is a stream of events. What goes wrong inside becomes a `BridgeFailed` too."""
        try:
            request = self._http.build_request("POST", f"{self._bridge.url}/run", content=write_body(body))
            response = await self._in_time(self._http.send(request, stream=True, follow_redirects=False))
            try:
                await self._check(response)
                yield response
            finally:
                await response.aclose()
        except Unreadable as error:
            raise _broken(Text.same(self._quotable(str(error)))) from error
        except MessageTooLong as error:
            raise _broken(
                Text(f"有事件超过 {MOST_BYTES} 字节", f"an event has more than {MOST_BYTES} bytes")
            ) from error
        except httpx2.ConnectError as error:
            raise _broken(Text("无法连接", "it cannot be connected to")) from error
        except (httpx2.HTTPError, OSError) as error:
            raise _broken(
                Text(f"连接中断（{type(error).__name__}）", f"connection lost ({type(error).__name__})")
            ) from error

    async def _in_time[T](self, work: Awaitable[T]) -> T:
        limit = asyncio.timeout(self._bridge.idle_seconds)
        try:
            async with limit:
                return await work
        except TimeoutError as error:
            seconds = f"{self._bridge.idle_seconds:g}"
            raise _broken(Text(f"{seconds} 秒内没有任何动静", f"nothing has come for {seconds} seconds")) from error

    async def _check(self, response: httpx2.Response) -> None:
        status = response.status_code
        if status == HTTPStatus.OK:
            if response.headers.get("Content-Type", "").partition(";")[0].strip().lower() == EVENT_STREAM:
                return
            raise _refused(
                Text(
                    "回答不是事件流，请检查 HERMES_BRIDGE_URL",
                    "its answer is no stream of events: check HERMES_BRIDGE_URL",
                )
            )
        if 300 <= status < 400:
            raise _refused(Text(f"HTTP {status}：不跟随重定向", f"HTTP {status}: redirects are not followed"))
        if status in {HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN}:
            raise _refused(
                Text(f"HTTP {status}：请检查 HERMES_BRIDGE_TOKEN", f"HTTP {status}: check HERMES_BRIDGE_TOKEN")
            )
        words = self._quotable(_words(await self._in_time(_beginning(response))))
        told = Text.same(f"HTTP {status}{': ' if words else ''}{words}")
        if status in {HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_MANY_REQUESTS} or status >= 500:
            raise _broken(told)
        raise _refused(told)

    def _masked(self, text: str) -> str:
        return self._lent.masked(text) if self._lent is not None else text

    def _quotable(self, words: str) -> str:
        words = self._masked(words)
        return cut(words.replace(self._bridge.token, "***") if self._bridge.token else words)


def is_loopback(url: str) -> bool:
    """Whether a bridge is on this machine: only such a one is told how to query the context (contract §6)."""
    return addresses.is_loopback(httpx2.URL(url).host)


async def _next(chunks: AsyncIterator[bytes], reader: MessageReader) -> list[Message] | None:
    """The next blocks that are complete, one at least; None at the end."""
    async for chunk in chunks:
        if messages := reader.feed(chunk):
            return messages
    return None


async def _beginning(response: httpx2.Response) -> bytes:
    content = b""
    async for chunk in response.aiter_bytes():
        content += chunk
        if len(content) > _LONGEST_REFUSAL:
            break
    return content


def _words(content: bytes) -> str:
    """What the answer says is wrong, where it says so as the protocol has it."""
    try:
        told: Any = json.loads(content)
    except (ValueError, RecursionError):
        return ""
    error = told.get("error") if isinstance(told, dict) else None
    return error if isinstance(error, str) else ""


def _broken(why: Text) -> BridgeFailed:
    return BridgeFailed(_text(why), retryable=True)


def _refused(why: Text) -> BridgeFailed:
    return BridgeFailed(_text(why))


def _text(why: Text) -> Text:
    return Text(f"Hermes Bridge 出错：{why.zh}", f"the Hermes Bridge failed: {why.en}")
