"""`stepweave up`: the whole product on this machine, until Ctrl-C (contract §9)."""

import inspect
import json
import os
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import uvicorn

from stepweave.adapters.aws.connect import Connection
from stepweave.api.app import create_app
from stepweave.api.streams import CONTRACT_PACE
from stepweave.runtime.aws import build_engine
from stepweave.runtime.engine import Engine
from stepweave.settings import Settings, read_settings
from stepweave.texts import Text
from stepweave_local.project import REGION, LocalStackError, Project
from stepweave_local.stack import LocalStack
from stepweave_local.stock import dev_keys, load_example_skills, load_examples

HOST = "127.0.0.1"
_WATCH_SECONDS = 0.5
PACE = replace(CONTRACT_PACE, slowest=0.08)
"""Asking the emulator for events costs nothing, so nobody waits for them: a run in silence is looked at just as often."""

LOCAL_DEFAULTS = {"HERMES_CONTEXT_QUERY_PUBLIC": "true", "CALLBACK_PRIVATE_HOSTS": "true"}
"""What this server, which listens on loopback alone, does unless it is told otherwise."""


def serve(port: int, data_dir: Path, tell: Callable[[Text], None]) -> None:
    """Runs until SIGINT or SIGTERM; everything is stopped and kept when it returns. Raises `LocalStackError`."""
    listening = _listen(port)
    project = Project.here()
    with listening, LocalStack(data_dir, project=project, tell=tell) as stack:
        environment = LOCAL_DEFAULTS | os.environ | stack.environment()
        settings = read_settings(environment)
        engine = local_engine(settings, environment)
        load_example_skills(engine, project.root / "examples" / "skills", tell)
        load_examples(engine, project.root / "examples", tell)
        keys = dev_keys(engine, data_dir)
        write_private(data_dir / "sam-local.json", {"Parameters": for_containers(stack.environment())})
        engine.sweep.restart_all()
        _Server(engine, settings, stack).run(listening, lambda: _ready(data_dir, f"http://{HOST}:{port}", keys, tell))


def local_engine(settings: Settings, environment: dict[str, str]) -> Engine:
    """The engine in this process over the local stack. Executions of an earlier emulator are gone for certain, so a
    redrive need not wait for one that cannot be seen yet."""
    connection = Connection(
        settings,
        environment["AWS_ENDPOINT_URL"],
        region_name=REGION,
        aws_access_key_id=environment["AWS_ACCESS_KEY_ID"],
        aws_secret_access_key=environment["AWS_SECRET_ACCESS_KEY"],
    )
    return build_engine(settings, connection, unseen=timedelta(0))


class _Server:
    """uvicorn in this thread, with somebody who watches whether the emulator is still alive."""

    def __init__(self, engine: Engine, settings: Settings, stack: LocalStack) -> None:
        app = create_app(engine, settings, live=True, pace=PACE)
        config = uvicorn.Config(app, log_level="warning", access_log=False, timeout_graceful_shutdown=2)
        self._uvicorn = _Uvicorn(config, app.state.api.streams.close)
        self._stack = stack
        self._death: LocalStackError | None = None

    def run(self, listening: socket.socket, ready: Callable[[], None]) -> None:
        stopped = threading.Event()
        watcher = threading.Thread(target=self._watch, args=(stopped, ready), daemon=True)
        watcher.start()
        try:
            with suppress(KeyboardInterrupt):
                self._uvicorn.run(sockets=[listening])
        finally:
            stopped.set()
            watcher.join()
        if self._death is not None:
            raise self._death

    def _watch(self, stopped: threading.Event, ready: Callable[[], None]) -> None:
        told = False
        while not stopped.wait(0.02 if not told else _WATCH_SECONDS):
            if not told and self._uvicorn.started:
                told = True
                ready()
            try:
                self._stack.check()
            except LocalStackError as death:
                self._death = death
                self._uvicorn.should_exit = True
                return


class _Uvicorn(uvicorn.Server):
    """Ends the live streams before it waits for its connections: they would never end by themselves."""

    def __init__(self, config: uvicorn.Config, close_streams: Callable[[], object]) -> None:
        super().__init__(config)
        self._close_streams = close_streams

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        closing = self._close_streams()
        if inspect.isawaitable(closing):
            await closing
        await super().shutdown(sockets)


def _listen(port: int) -> socket.socket:
    """The API's port is taken first: nothing is started in vain."""
    listening = socket.socket()
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((HOST, port))
    except OSError as error:
        listening.close()
        raise LocalStackError(
            Text(
                f"端口 {port} 已被占用：请先停止占用它的程序，或用 `stepweave up --port` 换一个端口。",
                f"Port {port} is in use: stop what uses it, or choose another with `stepweave up --port`.",
            )
        ) from error
    return listening


def _ready(data_dir: Path, base_url: str, keys: dict[str, str], tell: Callable[[Text], None]) -> None:
    write_private(data_dir / "dev.json", {"baseUrl": base_url, **keys})
    tell(
        Text(
            f"stepweave 已就绪：{base_url}（密钥在 {data_dir / 'dev.json'}）\n"
            f"在浏览器中查看运行：{base_url}/ui\n"
            "在另一个终端试试：.venv/bin/stepweave run examples/research-report.json --var topic=大语言模型\n"
            "按 Ctrl-C 停止，数据会保留。",
            f"stepweave is ready: {base_url} (keys in {data_dir / 'dev.json'})\n"
            f"Watch runs in a browser: {base_url}/ui\n"
            "In another terminal try: .venv/bin/stepweave run examples/research-report.json --var topic='tea'\n"
            "Ctrl-C stops it; nothing is lost.",
        )
    )


def for_containers(environment: dict[str, str]) -> dict[str, str]:
    """The stack's environment for `sam local`, whose containers see this machine under another name (docs/sam-local.md)."""
    return {name: value.replace(HOST, "host.docker.internal") for name, value in environment.items()}


def write_private(path: Path, content: dict[str, Any]) -> None:
    """A file that only its owner may read, never half written."""
    fresh = path.with_suffix(".tmp")
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        json.dump(content, file, indent=2)
    fresh.replace(path)
