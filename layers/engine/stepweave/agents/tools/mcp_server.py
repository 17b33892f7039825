"""The tools of an MCP server that an agent names in `mcpServers`, over streamable HTTP."""

import asyncio
import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from mcp.types import CONNECTION_CLOSED, CallToolResult, TextContent
from mcp.types import Tool as ServerTool

from stepweave.agents.request import McpServer, NodeStopped
from stepweave.agents.tools.toolbox import TOOL_SECONDS, Tool, ToolFailed
from stepweave.graph.problem import cut, quoted
from stepweave.texts import Text
from stepweave.web.addresses import AddressRefused, NotPublic
from stepweave.web.transport import CONNECT_SECONDS, GuardedTransport, check_url

_OPEN_SECONDS = 20.0
_CLOSE_SECONDS = 1.0
_MOST_TOOLS = 100
_LONGEST_NAME = 64  # of a tool, with the providers
_LONGEST_DESCRIPTION = 4000
_STRANGE = re.compile(r"[^A-Za-z0-9_-]")
_OF_YOUR_OWN = Text(
    "；如果是你自己的服务器，请设置 TOOLS_PRIVATE_HOSTS=true", "; for a server of your own set TOOLS_PRIVATE_HOSTS=true"
)


class ServerUnreachable(NodeStopped):
    """An MCP server that is not there, or answers no MCP: the agent cannot do without what its author gave it."""


@asynccontextmanager
async def open_server(server: McpServer, transport: GuardedTransport) -> AsyncIterator[tuple[Tool, ...]]:
    """The server's tools, each named `{server}_{tool}`, for as long as the context is open.

    Raises `ServerUnreachable`. Arguments are the server's to judge: a foreign schema may hold patterns that never end.
    """
    session = _Session(server, transport)
    try:
        try:
            check_url(httpx2.URL(server.url))
            async with asyncio.timeout(_OPEN_SECONDS):
                tools = await _tools(server, session)
        except Exception as error:
            raise _unreachable(server, error) from error
        yield tools
    finally:
        await session.close()


class _Session:
    """Holds a connection with the server while there is one to hold; a broken one is made anew by the next call."""

    def __init__(self, server: McpServer, transport: GuardedTransport) -> None:
        # a call is given up before its request is
        seconds = httpx2.Timeout(TOOL_SECONDS + _OPEN_SECONDS, connect=CONNECT_SECONDS)
        self._url = server.url
        self._http = httpx2.AsyncClient(
            transport=transport, headers=dict(server.headers), timeout=seconds, trust_env=False
        )
        self._connection: _Connection | None = None

    async def call(self, name: str, arguments: Mapping[str, Any]) -> CallToolResult:
        client = await self.client()
        try:
            return await client.call_tool(name, dict(arguments))
        except MCPError as error:
            if error.code == CONNECTION_CLOSED:
                self._connection = None
            raise

    async def client(self) -> Client:
        """Connected. Raises what connecting raises."""
        if self._connection is None or self._connection.task.done():
            self._connection = _Connection(Client(streamable_http_client(self._url, http_client=self._http)))
        return await self._connection.client()

    async def close(self) -> None:
        if self._connection is not None:
            await self._connection.close()


class _Connection:
    """One client in a task of its own, so that what breaks in it breaks the call under way and nothing else."""

    def __init__(self, client: Client) -> None:
        self._opened = asyncio.Event()
        self._leave = asyncio.Event()
        self._client: Client | None = None
        self._error: Exception | None = None
        self.task = asyncio.create_task(self._hold(client))

    async def client(self) -> Client:
        await self._opened.wait()
        if self._client is None:
            raise self._error or ConnectionError
        return self._client

    async def close(self) -> None:
        """Says goodbye, and waits only a moment for it to be heard."""
        self._leave.set()
        await asyncio.wait({self.task}, timeout=_CLOSE_SECONDS)
        self.task.cancel()

    async def _hold(self, client: Client) -> None:
        try:
            async with client as self._client:
                self._opened.set()
                await self._leave.wait()
        except Exception as error:  # noqa: BLE001 - whoever waits for the client is told
            self._error = error
        finally:
            self._opened.set()


async def _tools(server: McpServer, session: _Session) -> tuple[Tool, ...]:
    client = await session.client()
    found: list[ServerTool] = []
    cursor: str | None = None
    while len(found) < _MOST_TOOLS:
        page = await client.list_tools(cursor=cursor)
        found += page.tools
        cursor = page.next_cursor
        if cursor is None:
            break
    return tuple(_tool(server, session, tool) for tool in found[:_MOST_TOOLS])


def _tool(server: McpServer, session: _Session, tool: ServerTool) -> Tool:
    async def run(arguments: Mapping[str, Any]) -> Any:
        result = await session.call(tool.name, arguments)
        content = _content(result)
        if result.is_error:
            raise ToolFailed(Text.same(content if isinstance(content, str) else str(content)))
        return content

    return Tool(
        name=_STRANGE.sub("_", f"{server.name}_{tool.name}")[:_LONGEST_NAME],
        description=(tool.description or tool.title or tool.name)[:_LONGEST_DESCRIPTION],
        schema=tool.input_schema,
        run=run,
        seconds=TOOL_SECONDS,
    )


def _content(result: CallToolResult) -> Any:
    """What the model is told: the structured result where there is one, else the texts; other blocks by their kind."""
    if result.structured_content is not None and not result.is_error:
        return result.structured_content
    blocks = [block.text if isinstance(block, TextContent) else f"[{block.type}]" for block in result.content]
    return "\n".join(blocks)


def _unreachable(server: McpServer, error: Exception) -> ServerUnreachable:
    name = quoted(server.name)
    cause: BaseException = error
    while isinstance(cause, BaseExceptionGroup):  # the client runs in task groups, which wrap what goes wrong in them
        cause = cause.exceptions[0]
    if isinstance(cause, AddressRefused):
        hint = _OF_YOUR_OWN if isinstance(cause, NotPublic) else Text.same("")
        return ServerUnreachable(
            Text(f"MCP 服务器 {name}：{cause.text.zh}{hint.zh}", f"MCP server {name}: {cause.text.en}{hint.en}")
        )
    if isinstance(cause, TimeoutError):
        return ServerUnreachable(
            Text(f"MCP 服务器 {name} 没有及时回应", f"MCP server {name} did not answer in time"), retryable=True
        )
    why = cut(f"{type(cause).__name__}: {cause}")
    return ServerUnreachable(
        Text(f"无法使用 MCP 服务器 {name}：{why}", f"MCP server {name} cannot be used: {why}"),
        retryable=isinstance(cause, httpx2.TransportError),
    )
