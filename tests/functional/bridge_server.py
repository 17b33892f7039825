"""The bundled Hermes Bridge under a real server, on loopback, in a thread of its own."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn

from stepweave.agents.models import ModelSettings
from stepweave_local.bridge_app import create_bridge
from tests.unit.agents.work import ModelsOf


@contextmanager
def bridge_server(
    models: Any = None, *, token: str | None = None, keep_alive: float = 15.0, **settings: Any
) -> Iterator[str]:
    """Its base URL; `settings` are those of its models."""
    app = create_bridge(models or ModelsOf(ModelSettings(**settings)), token, keep_alive=keep_alive)
    listening = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning", lifespan="off", timeout_graceful_shutdown=2))
    thread = threading.Thread(target=server.run, args=([listening],))
    thread.start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()
        listening.close()
