"""A server of the tests on loopback, for as long as a test wants it."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@contextmanager
def on_loopback[T](
    handler: type[BaseHTTPRequestHandler], told: Callable[[str], T], release: Callable[[T], None] = lambda _: None
) -> Iterator[T]:
    """Serves while the context is open, on a port that the system chooses.

    `told` makes what a handler finds as its `server.told`, from the base URL; `release` ends what answers wait for.
    """
    http = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server = told(f"http://127.0.0.1:{http.server_port}")
    http.told = server  # type: ignore[attr-defined]
    thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        release(server)
        http.shutdown()
        thread.join()
        http.server_close()
