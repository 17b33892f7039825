"""The MCP server at `/mcp` (contract §6): streamable HTTP without sessions, so that any process answers any request."""

from collections.abc import Callable
from functools import partial
from typing import Any

from anyio import to_thread
from starlette.requests import Request
from starlette.types import Receive, Scope, Send

from stepweave.agents.tools.toolbox import ToolFailed
from stepweave.api.access import admit
from stepweave.api.errors import language_of, refuse
from stepweave.api.mcp_queries import Asker, McpQueries
from stepweave.errors import Unavailable
from stepweave.services.context_desk import TOKEN_HEADER
from stepweave.services.context_tokens import ContextTokens
from stepweave.services.keys import ApiKeys
from stepweave.services.rate_limits import RequestLimit
from stepweave.services.wire import encode
from stepweave.texts import Language, Text

_WHO = Text(
    "请以 X-API-Key 或 X-Context-Token 请求头证明身份",
    "show an API key as X-API-Key, or a context token as X-Context-Token",
)
_POST_ONLY = Text("该接口只支持 POST", "this path takes POST only: there are no sessions to listen to")
_BUSY = Text("服务繁忙，请稍后重试", "the service is busy: try again in a moment")
_MOST_BODY_BYTES = 64 * 1024


class McpEndpoint:
    """An ASGI app for one path. The MCP library is imported by the first request: most processes get none."""

    def __init__(self, queries: McpQueries, keys: ApiKeys, tokens: ContextTokens, requests: RequestLimit) -> None:
        self._requests = requests
        self._queries = queries
        self._keys = keys
        self._tokens = tokens

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        if request.method != "POST":
            await refuse(request, "METHOD_NOT_ALLOWED", _POST_ONLY, headers={"Allow": "POST"})(scope, receive, send)
            return
        asker = await to_thread.run_sync(self._recognise, request)
        if asker is None:
            await refuse(request, "UNAUTHORIZED", _WHO)(scope, receive, send)
            return
        from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

        server = _server(self._queries, partial(self._queries.call, asker), language_of(request))
        manager = StreamableHTTPSessionManager(
            server, stateless=True, json_response=True, max_request_body_size=_MOST_BODY_BYTES
        )
        async with manager.run():
            await manager.handle_request(scope, receive, send)

    def _recognise(self, request: Request) -> Asker | None:
        """One proof of one kind: who shows both, or one twice, is nobody."""
        tokens, keys = request.headers.getlist(TOKEN_HEADER), request.headers.getlist("X-API-Key")
        if tokens:
            return self._tokens.recognise(tokens) if not keys else None
        found = self._keys.recognise(keys[0]) if len(keys) == 1 else None
        if found is not None:
            admit(request, self._requests, found.key_id)
        return found


def _server(queries: McpQueries, call: Callable[[str, dict[str, Any]], dict[str, Any]], language: Language) -> Any:
    from mcp.server.lowlevel import Server
    from mcp.types import CallToolResult, ListToolsResult, TextContent, Tool, ToolAnnotations

    async def list_tools(_context: Any, _params: Any) -> ListToolsResult:
        reading = ToolAnnotations(read_only_hint=True, open_world_hint=False)
        return ListToolsResult(
            tools=[
                Tool(name=name, description=description, input_schema=schema, annotations=reading)
                for name, description, schema in queries.offers()
            ]
        )

    async def call_tool(_context: Any, params: Any) -> CallToolResult:
        try:
            told = await to_thread.run_sync(call, params.name, params.arguments or {})
        except ToolFailed as failure:
            words = failure.text.to(language)
            return CallToolResult(content=[TextContent(type="text", text=words)], is_error=True)
        except Unavailable:
            return CallToolResult(content=[TextContent(type="text", text=_BUSY.to(language))], is_error=True)
        text = encode(told).decode()
        return CallToolResult(content=[TextContent(type="text", text=text)], structured_content=told)

    return Server("stepweave", instructions=_INSTRUCTIONS, on_list_tools=list_tools, on_call_tool=call_tool)


_INSTRUCTIONS = (
    "Reads what the nodes of a workflow run have done: paths, outputs, thinking, tool calls. Nothing is changed."
)
