"""The tools of an MCP server that an agent names in `mcpServers`, over streamable HTTP."""

import asyncio
import re
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import CallToolResult, TextContent
from mcp.types import Tool as ServerTool

from stepweave.agents.request import McpServer, NodeStopped
from stepweave.agents.tools.toolbox import TOOL_SECONDS, Tool, ToolFailed
from stepweave.agents.transport import CONNECT_SECONDS, GuardedTransport, check_url
from stepweave.graph.problem import cut, quoted
from stepweave.texts import Text

_OPEN_SECONDS = 20.0
_MOST_TOOLS = 100
_LONGEST_NAME = 64  # of a tool, with the providers
_LONGEST_DESCRIPTION = 4000
_STRANGE = re.compile(r"[^A-Za-z0-9_-]")


class ServerUnreachable(NodeStopped):
    """An MCP server that is not there, or answers no MCP: the agent cannot do without what its author gave it."""


@asynccontextmanager
async def open_server(server: McpServer, transport: GuardedTransport) -> AsyncIterator[tuple[Tool, ...]]:
    """The server's tools, each named `{server}_{tool}`, for as long as the context is open.

    Raises `ServerUnreachable`. Arguments are the server's to judge: a foreign schema may hold patterns that never end.
    """
    seconds = httpx2.Timeout(TOOL_SECONDS, connect=CONNECT_SECONDS)
    http = httpx2.AsyncClient(transport=transport, headers=dict(server.headers), timeout=seconds, trust_env=False)
    inside: Exception | None = None
    try:
        check_url(httpx2.URL(server.url))
        async with AsyncExitStack() as stack:
            async with asyncio.timeout(_OPEN_SECONDS):
                client = await stack.enter_async_context(Client(streamable_http_client(server.url, http_client=http)))
                tools = await _tools(server, client)
            try:
                yield tools
            except Exception as error:
                inside = error
                raise
    except Exception as error:
        if inside is not None:
            raise inside from None  # the client's task groups have wrapped it
        raise _unreachable(server, error) from error


async def _tools(server: McpServer, client: Client) -> tuple[Tool, ...]:
    found: list[ServerTool] = []
    cursor: str | None = None
    while len(found) < _MOST_TOOLS:
        page = await client.list_tools(cursor=cursor)
        found += page.tools
        cursor = page.next_cursor
        if cursor is None:
            break
    return tuple(_tool(server, client, tool) for tool in found[:_MOST_TOOLS])


def _tool(server: McpServer, client: Client, tool: ServerTool) -> Tool:
    async def run(arguments: Mapping[str, Any]) -> Any:
        result = await client.call_tool(tool.name, dict(arguments), read_timeout_seconds=TOOL_SECONDS)
        content = _content(result)
        if result.is_error:
            raise ToolFailed(Text.same(content if isinstance(content, str) else str(content)))
        return content

    return Tool(
        name=_STRANGE.sub("_", f"{server.name}_{tool.name}")[:_LONGEST_NAME],
        description=(tool.description or tool.title or tool.name)[:_LONGEST_DESCRIPTION],
        schema=tool.input_schema,
        run=run,
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
    if isinstance(cause, ToolFailed):
        return ServerUnreachable(Text(f"MCP 服务器 {name}：{cause.text.zh}", f"MCP server {name}: {cause.text.en}"))
    if isinstance(cause, TimeoutError):
        return ServerUnreachable(
            Text(f"MCP 服务器 {name} 没有及时回应", f"MCP server {name} did not answer in time"), retryable=True
        )
    why = cut(f"{type(cause).__name__}: {cause}")
    return ServerUnreachable(
        Text(f"无法使用 MCP 服务器 {name}：{why}", f"MCP server {name} cannot be used: {why}"),
        retryable=isinstance(cause, httpx2.TransportError),
    )
