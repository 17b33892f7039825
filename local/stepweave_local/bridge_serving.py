"""Runs the bundled Hermes Bridge until Ctrl-C."""

import os
import socket
from collections.abc import Callable
from contextlib import suppress
from ipaddress import ip_address

import uvicorn

from stepweave.runtime.models import LazyModels
from stepweave.settings import read_provider_settings
from stepweave.texts import Text
from stepweave_local.bridge_app import create_bridge
from stepweave_local.command_error import CommandError


def serve_bridge(host: str, port: int, tell: Callable[[Text], None]) -> None:
    """With the providers' settings of the environment. Raises `SettingInvalid`, `CommandError`."""
    settings = read_provider_settings(os.environ)
    secret = settings.hermes_bridge_token
    token = secret.get_secret_value() if secret is not None else None
    if token is None and not _is_loopback(host):
        raise CommandError(
            Text(
                f"监听 {host} 时必须设置 HERMES_BRIDGE_TOKEN：否则任何人都能使用这里的模型密钥。",
                f"Listening on {host} needs HERMES_BRIDGE_TOKEN: without it anybody could use the model keys here.",
            )
        )
    with _listen(host, port) as listening:
        config = uvicorn.Config(
            create_bridge(LazyModels(settings), token),
            log_level="warning",
            access_log=False,
            timeout_graceful_shutdown=2,
        )
        shown = f"[{host}]" if ":" in host else host
        tell(
            Text(
                f"Hermes Bridge 已就绪：http://{shown}:{port}\n"
                "让引擎使用它：设置 HERMES_ENABLED=true 与 HERMES_BRIDGE_URL。按 Ctrl-C 停止。",
                f"The Hermes Bridge is ready: http://{shown}:{port}\n"
                "The engine uses it with HERMES_ENABLED=true and HERMES_BRIDGE_URL. Ctrl-C stops it.",
            )
        )
        with suppress(KeyboardInterrupt):
            uvicorn.Server(config).run(sockets=[listening])


def _listen(host: str, port: int) -> socket.socket:
    """Taken before it is told that the bridge is ready: whoever calls at once waits, and is not refused."""
    try:
        return socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    except OSError as error:
        raise CommandError(
            Text(
                f"无法监听 {host}:{port}（{error.strerror or error}）：请换一个地址或端口（--host、--port）。",
                f"Cannot listen on {host}:{port} ({error.strerror or error}): choose another with --host or --port.",
            )
        ) from error


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
