"""The API over memory on a real port, which a test in another language stops and starts again while a run goes on."""

import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from http.server import BaseHTTPRequestHandler
from typing import Any

import uvicorn

from stepweave.api.app import create_app
from tests.builders.listening import on_loopback
from tests.functional.api.stack import PACE, SETTINGS, Stack


class _Mortal(uvicorn.Server):
    """Dies without a word to those who are connected, as a process that is killed."""

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        for server in self.servers:
            server.close()
        for connection in list(self.server_state.connections):
            connection.transport.abort()
        await super().shutdown(sockets)


class Served:
    """Chains are driven, one step at a time, whether the API answers or not."""

    def __init__(self) -> None:
        self.stack = Stack()
        self._server: _Mortal | None = None
        with socket.create_server(("127.0.0.1", 0)) as listening:
            self._port: int = listening.getsockname()[1]
        self._over = threading.Event()
        self._driver = threading.Thread(target=self._drive)
        self._driver.start()
        self.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    def start(self, *, live: bool = True) -> None:
        """Answers, with streams that are held open, or as behind a gateway that buffers."""
        app = create_app(self.stack.engine, SETTINGS, live=live, pace=PACE)
        self._server = _Mortal(uvicorn.Config(app, log_level="critical", lifespan="off"))
        listening = socket.create_server(("127.0.0.1", self._port))
        self._thread = threading.Thread(target=self._server.run, args=([listening],))
        self._thread.start()

    def stop(self) -> None:
        """Cuts what is open, as the death of a process does."""
        if self._server is not None:
            self._server.should_exit = True
            self._thread.join()
            self._server = None

    def close(self) -> None:
        self.stop()
        self._over.set()
        self._driver.join()

    def told(self, control: str) -> str:
        """What the other side has to know."""
        return json.dumps(
            {"url": self.url, "key": self.stack.key, "adminKey": self.stack.admin_key, "control": control}
        )

    def do(self, order: str, given: dict[str, Any]) -> None:
        orders: dict[str, Callable[[], None]] = {
            "/stop": self.stop,
            "/start": lambda: self.start(**given),
            "/forward": lambda: self._forward(timedelta(**given)),
        }
        orders[order]()

    def _forward(self, time: timedelta) -> None:
        self.stack.clock.ahead += time

    def _drive(self) -> None:
        while not self._over.is_set():
            if not self.stack.step():
                self._over.wait(0.005)


class _Control(BaseHTTPRequestHandler):
    """POST an order of `Served.do`; it is done when the answer comes."""

    def do_POST(self) -> None:
        given = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.told.do(self.path, given)  # type: ignore[attr-defined]
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        pass


@contextmanager
def served() -> Iterator[str]:
    """What `Served.told` gives, while it is there."""
    server = Served()
    control = ""

    def told(url: str) -> Served:
        nonlocal control
        control = url
        return server

    try:
        with on_loopback(_Control, told):
            yield server.told(control)
    finally:
        server.close()
