"""A server of tools that speaks MCP over streamable HTTP, as much of it as a client of tools needs."""

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any

from tests.builders.listening import on_loopback

Called = Callable[[Mapping[str, Any]], Any]
"""Takes the arguments and gives the result of `tools/call`, or raises for a JSON-RPC error."""


@dataclass
class ToolServer:
    """`calls` are the tools called with their arguments, `headers` what came with each request. A tool `hang` never
    answers while the server is open, a tool `drop` cuts the connection, a tool `away` is answered with a redirect to `elsewhere`."""

    url: str
    tools: Mapping[str, Called]
    calls: list[tuple[str, Mapping[str, Any]]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    closing: threading.Event = field(default_factory=threading.Event)
    status: int = 200
    elsewhere: str = ""

    def answer(self, method: str, params: Mapping[str, Any]) -> Any:
        match method:
            case "initialize":
                return {
                    "protocolVersion": params["protocolVersion"],
                    "capabilities": {"tools": {}},
                    "serverInfo": {"name": "notes", "version": "1"},
                }
            case "tools/list":
                schema = {"type": "object", "properties": {}}
                listed = [{"name": name, "description": f"does {name}", "inputSchema": schema} for name in self.tools]
                return {"tools": listed}
            case "tools/call":
                self.calls.append((params["name"], params["arguments"]))
                return self.tools[params["name"]](params["arguments"])
            case _:
                raise LookupError(method)


def texts(*texts: str, error: bool = False) -> Called:
    return lambda _: {"content": [{"type": "text", "text": text} for text in texts], "isError": error}


@contextmanager
def tool_server(tools: Mapping[str, Called], status: int = 200) -> Iterator[ToolServer]:
    """Serves on loopback while the context is open; with a `status` that is not 200 it answers nothing else."""

    def told(url: str) -> ToolServer:
        return ToolServer(f"{url}/mcp", tools, status=status)

    with on_loopback(_Handler, told, lambda server: server.closing.set()) as server:
        yield server


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        server: ToolServer = self.server.told  # type: ignore[attr-defined]
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        server.headers.append(dict(self.headers.items()))
        if server.status != 200:
            self._send(server.status, b"")
        elif "id" not in message:
            self._send(202, b"")
        else:
            self._reply(server, message)

    def do_GET(self) -> None:
        self._send(405, b"")

    def do_DELETE(self) -> None:
        self._send(200, b"")

    def _reply(self, server: ToolServer, message: Mapping[str, Any]) -> None:
        answer: dict[str, Any] = {"jsonrpc": "2.0", "id": message["id"]}
        if message["method"] == "tools/call" and message["params"]["name"] == "hang":
            server.closing.wait(30)
        if message["method"] == "tools/call" and message["params"]["name"] == "drop":
            self.close_connection = True
            return
        if message["method"] == "tools/call" and message["params"]["name"] == "away":
            self._send(307, b"", Location=server.elsewhere)
            return
        try:
            answer["result"] = server.answer(message["method"], message.get("params", {}))
        except Exception as error:  # noqa: BLE001 - whatever the tool raises is its answer
            answer["error"] = {"code": -32601, "message": f"no: {error}"}
        self._send(200, json.dumps(answer).encode())

    def _send(self, status: int, body: bytes, **headers: str) -> None:
        with suppress(OSError):  # the client has left
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Tests are quiet."""
