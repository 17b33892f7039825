"""The in-memory API behind a real server that can be stopped and started again on the same port."""

import socket
import threading
from collections.abc import Mapping
from typing import Any

import httpx
import uvicorn

from tests.functional.api.stack import Stack


class _Server(uvicorn.Server):
    """Its end is that of a crash: connections are cut, streams in the middle of a line."""

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        for connection in list(self.server_state.connections):
            connection.transport.abort()  # type: ignore[union-attr]
        await super().shutdown(sockets)


class Served:
    """`stack` outlives every stop of its server, as the tables outlive a server's death."""

    def __init__(self, stack: Stack) -> None:
        self.stack = stack
        self._port = 0
        self._server: _Server | None = None
        self._thread: threading.Thread | None = None
        self._client = httpx.Client(timeout=60, trust_env=False, headers={"Accept-Language": "en"})

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    def start(self) -> None:
        listening = socket.socket()
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(("127.0.0.1", self._port))
        listening.listen()
        self._port = listening.getsockname()[1]
        server = _Server(uvicorn.Config(self.stack.app, log_level="critical", lifespan="off"))
        self._server = server
        self._thread = threading.Thread(target=self._run, args=(server, listening))
        self._thread.start()

    def _run(self, server: _Server, listening: socket.socket) -> None:
        with listening:
            server.run([listening])

    def stop(self) -> None:
        if self._server is not None and self._thread is not None:
            self._server.force_exit = True
            self._server.should_exit = True
            self._thread.join()
            self._server = None

    def close(self) -> None:
        self.stop()
        self._client.close()

    def call(self, method: str, path: str, body: Any = None, *, admin: bool = False) -> Any:
        """The data of an answer that must be OK. Over HTTP: no other event loop may run in a browser test's thread."""
        key = self.stack.admin_key if admin else self.stack.key
        answer = self._client.request(method, self.url + path, json=body, headers={"X-API-Key": key})
        assert answer.status_code == 200, answer.text
        return answer.json()["data"]

    def save(self, definition: Mapping[str, Any]) -> None:
        self.call("POST", "/api/workflows", dict(definition), admin=True)

    def start_run(self, workflow: str, **variables: Any) -> str:
        run_id = str(self.call("POST", f"/api/v1/workflows/{workflow}/runs", {"variables": variables})["runId"])
        self.call("POST", f"/api/v1/workflows/{workflow}/runs/{run_id}/start")
        return run_id

    def view_token(self, run_id: str, **body: Any) -> str:
        return str(self.call("POST", f"/api/v1/runs/{run_id}/view-token", body)["token"])
