"""What a model may ask about its run (contract §6): how it came here, what earlier nodes gave, and how they came to it."""

import asyncio
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, AsyncExitStack
from typing import Any

from pydantic import BaseModel

from stepweave.agents.bounds import bounded
from stepweave.agents.tools.context_arguments import (
    GET,
    LIST,
    META,
    OFFERS,
    OUTPUT,
    PATHS,
    GetArguments,
    MetaArguments,
    NoArguments,
    OutputArguments,
)
from stepweave.agents.tools.context_client import ContextClient
from stepweave.agents.tools.toolbox import RESULT_CHARACTERS, Tool, ToolFailed, schema_of, take
from stepweave.agents.transcript import Transcript
from stepweave.execution.context_query import ContextQuery
from stepweave.texts import Language, Text
from stepweave.web.daemon import in_thread

MOST_CALLS = 50
"""Of one visit, all of these tools together."""

_CALL_SECONDS = 15.0
_ROOM = 2_000  # of what a tool may tell, for what stands around the value

Opening = Callable[[], AbstractContextManager[ContextQuery]]


class _Router:
    """The way to the router, opened by the first call: an agent that asks nothing costs nothing. It is closed with
    `stack`."""

    def __init__(self, opening: Opening, language: Language, stack: AsyncExitStack) -> None:
        self._opening = opening
        self._language = language
        self._stack = stack
        self._query: ContextQuery | None = None
        self._client: ContextClient | None = None

    async def client(self) -> ContextClient:
        if self._client is None:
            self._client = ContextClient(await self._open(), self._language)
            self._stack.push_async_callback(self._client.close)
        return self._client

    async def visit_uuid(self) -> str:
        """Of the visit that asks."""
        await self.client()
        assert self._query is not None, "an open router has a query"
        return self._query.visit_uuid

    async def _open(self) -> ContextQuery:
        manager = self._opening()
        entering = asyncio.ensure_future(in_thread(manager.__enter__))
        self._stack.push_async_callback(_leave, manager, entering)
        self._query = await asyncio.shield(entering)
        return self._query


async def _leave(manager: AbstractContextManager[ContextQuery], entering: "asyncio.Future[ContextQuery]") -> None:
    """Whoever gave up waiting for the opening: what is open after all is closed."""
    await asyncio.wait({entering})
    if entering.exception() is None:
        await in_thread(lambda: manager.__exit__(None, None, None))


def context_tools(
    opening: Opening, language: Language, transcript: Transcript, stack: AsyncExitStack
) -> tuple[Tool, ...]:
    """The five tools, for as long as `stack` is open. Their calls are counted by the transcript, which knows those of
    earlier invocations too."""
    router = _Router(opening, language, stack)

    async def ask(route: str, body: Mapping[str, Any]) -> dict[str, Any]:
        if sum(call["name"] in OFFERS for call in transcript.calls) >= MOST_CALLS:
            raise ToolFailed(_TOO_MANY)
        return _fitting(await (await router.client()).ask(route, body))

    async def paths(arguments: Mapping[str, Any]) -> Any:
        take(NoArguments, arguments)
        return await ask("path", {"visitUuid": await router.visit_uuid()})

    async def output(arguments: Mapping[str, Any]) -> Any:
        return await ask("output", _wire(take(OutputArguments, arguments)))

    async def meta(arguments: Mapping[str, Any]) -> Any:
        return await ask("meta", _wire(take(MetaArguments, arguments)))

    async def listed(arguments: Mapping[str, Any]) -> Any:
        take(NoArguments, arguments)
        return await ask("meta", {"kind": "FIELDS"})

    async def value(arguments: Mapping[str, Any]) -> Any:
        return await ask("meta", {"kind": "VALUE", **_wire(take(GetArguments, arguments))})

    runs = {PATHS: paths, OUTPUT: output, META: meta, LIST: listed, GET: value}
    return tuple(
        Tool(name, offer.description, schema_of(offer.arguments), runs[name], seconds=_CALL_SECONDS)
        for name, offer in OFFERS.items()
    )


def _wire(arguments: BaseModel) -> dict[str, Any]:
    return arguments.model_dump(by_alias=True)


def _fitting(told: dict[str, Any]) -> dict[str, Any]:
    """What a model can be told, with the mark where it is not all."""
    shown: dict[str, Any] = {}
    is_cut = False
    for name, value in told.items():
        shown[name] = bounded(value, RESULT_CHARACTERS - _ROOM)
        is_cut = is_cut or shown[name] != value
    fits = bounded(shown, RESULT_CHARACTERS - _ROOM)
    if isinstance(fits, dict):
        return {**fits, "truncated": True} if is_cut or fits != shown else fits
    return {"truncated": True, "value": fits}


_TOO_MANY = Text(
    f"本次访问的上下文查询已达 {MOST_CALLS} 次上限，请用已有的信息继续",
    f"this visit has made its {MOST_CALLS} context queries: go on with what you know",
)
