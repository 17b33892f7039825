"""The context router on loopback, inside a function that runs agents (contract §6): three routes and nothing else.

Made for one visit and gone with it. The standard library's server: nothing to install, next to nothing to import, and
it answers in threads of its own while the agent's event loop goes on (docs/adr/0009).
"""

import logging
import re
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from stepweave.services.context_desk import MOST_BODY_BYTES, PREFIX, TOKEN_HEADER, Answer, ContextDesk, Request
from stepweave.services.wire import encode
from stepweave.texts import Text, choose_language

HOST = "127.0.0.1"
SECONDS = 5
"""How long a connection may stand still."""

_LENGTH = re.compile(r"[0-9]{1,9}")

_STRANGE = Answer(403, Text("只接受发往回环地址的请求", "only requests to the loopback address are taken"))
_MISSHAPEN = Answer(400, Text("请求无法读取", "the request cannot be read"))
_NO_ROUTE = Answer(404, Text("没有这个接口", "there is no such path in this API"))

logger = logging.getLogger(__name__)


@contextmanager
def serve(desk: ContextDesk) -> Iterator[str]:
    """The router's base URL, at a port that the system has chosen."""
    server = _Server(desk)
    thread = threading.Thread(target=server.serve, daemon=True, name="context")
    thread.start()
    try:
        yield f"http://{HOST}:{server.server_port}"
    finally:
        server.stop()
        thread.join()
        server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, desk: ContextDesk) -> None:
        super().__init__((HOST, 0), _Handler)
        self.desk = desk
        self._stopping = False
        self._connections: set[socket.socket] = set()

    def serve(self) -> None:
        while not self._stopping:
            self.handle_request()

    def stop(self) -> None:
        """Wakes the thread that waits for a connection, by being one; `serve_forever` would look only now and then.
        Connections that are open are closed: whoever holds one is answered no more."""
        self._stopping = True
        for connection in list(self._connections):
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        with suppress(OSError):
            socket.create_connection((HOST, self.server_port), timeout=SECONDS).close()

    def verify_request(self, request: Any, client_address: Any) -> bool:  # noqa: ARG002 - as there
        if not self._stopping:
            self._connections.add(request)
        return not self._stopping

    def shutdown_request(self, request: Any) -> None:
        self._connections.discard(request)
        super().shutdown_request(request)

    def server_bind(self) -> None:
        """Without the look-up of the host's name that the library makes here."""
        socket.socket.bind(self.socket, self.server_address)
        self.server_name = HOST
        self.server_port = int(self.socket.getsockname()[1])

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ARG002 - as there
        logger.info("context: a connection broke off")


class _Handler(BaseHTTPRequestHandler):
    """A connection is kept for the next request, unless it has brought something that is no plain request."""

    protocol_version = "HTTP/1.1"
    timeout = SECONDS
    wbufsize = -1  # an answer is sent in one piece
    server: _Server

    def do_POST(self) -> None:
        self._send(self._answer())

    def _answer(self) -> Answer:
        kept, self.close_connection = not self.close_connection, True
        port = self.server.server_port
        if self.headers.get_all("Host") not in ([f"{HOST}:{port}"], [f"localhost:{port}"]):
            return _STRANGE
        if not self.path.startswith(PREFIX):
            return _NO_ROUTE
        length = self.headers.get_all("Content-Length") or []
        if len(length) != 1 or not _LENGTH.fullmatch(length[0]) or "Transfer-Encoding" in self.headers:
            return _MISSHAPEN
        size = int(length[0])
        body = self.rfile.read(min(size, MOST_BODY_BYTES + 1))
        self.close_connection = not kept or len(body) != size
        request = Request(
            route=self.path.removeprefix(PREFIX),
            tokens=self.headers.get_all(TOKEN_HEADER) or [],
            content_type=self.headers.get("Content-Type", ""),
            body=body,
            language=self._language(),
        )
        return self.server.desk.answer(request, own_only=True)

    def _send(self, answer: Answer) -> None:
        content = encode(answer.body(self._language()))
        with suppress(OSError):  # the client has left
            self.send_response_only(answer.status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            if self.close_connection:
                self.send_header("Connection", "close")
            self.end_headers()
            self.wfile.write(content)
            self.wfile.flush()

    def _language(self) -> Any:
        return choose_language(self.headers.get("Accept-Language"))

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:  # noqa: ARG002
        """What the library refuses, and every method but POST, in the same shape and with nothing said of the server."""
        answer = _NO_ROUTE if code == 501 else _MISSHAPEN
        self.headers = getattr(self, "headers", None) or self.MessageClass()
        self.request_version = "HTTP/1.0"  # whatever it was: the answer gets a status line
        self.close_connection = True
        self._send(answer)

    def log_message(self, *_: Any) -> None:
        """The desk logs each query."""
