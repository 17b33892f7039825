"""The whole API in one process: the engine over memory, chains driven by threads or by hand, HTTP without a network."""

import asyncio
import json
import threading
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx

from stepweave.adapters.memory import MemoryBlobs, MemoryCallbacks, MemoryChains, MemoryItems
from stepweave.api.app import create_app
from stepweave.api.streams import Pace
from stepweave.clock import SystemClock
from stepweave.execution.step import WAIT, Step
from stepweave.runtime.engine import Engine, Ports
from stepweave.runtime.equipment import context_rules_of, equipment_of
from stepweave.settings import Settings
from tests.functional.api.nodes import specs

SETTINGS = Settings(
    workflows_table="workflows",
    runs_table="runs",
    visits_table="visits",
    events_table="events",
    tokens_table="tokens",
    data_bucket="data",
    state_machine_arn="arn:aws:states:us-east-1:000000000000:stateMachine:run",
    callback_queue_url="https://sqs.us-east-1.amazonaws.com/000000000000/callbacks",
)
PACE = Pace(quickest=0.002, slowest=0.05, keep_alive=0.2, held=0.3)


class ShiftedClock(SystemClock):
    """The system's clock, set forward by hand."""

    def __init__(self) -> None:
        self.ahead = timedelta()

    def now(self) -> datetime:
        return datetime.now(UTC) + self.ahead

    def monotonic(self) -> float:
        return time.monotonic() + self.ahead.total_seconds()


class Stack:
    """`settings` are those of the deployment that are not the defaults."""

    def __init__(self, *, live: bool = True, pace: Pace = PACE, **settings: Any) -> None:
        self.clock = ShiftedClock()
        self.chains = MemoryChains()
        self.items = MemoryItems()
        self.blobs = MemoryBlobs()
        self.callbacks = MemoryCallbacks()
        given = SETTINGS.model_copy(update=settings)
        self.engine = Engine(
            Ports(self.items, self.blobs, self.chains, self.callbacks, self.clock),
            equipment=equipment_of(given),
            records_kept=timedelta(days=given.runs_ttl_days),
            specs=specs,
            flat=given.workflow_workspace_legacy_flat_inject,
            context=context_rules_of(given),
        )
        self.app = create_app(self.engine, given, live=live, pace=pace)
        keys = self.app.state.api.keys
        self.admin_key = keys.create("admin", ["admin"], None).secret
        made = keys.create("runs", ["run"], None)
        self.key, self.callback_secret = made.secret, made.callback_secret

    # Requests

    def call(
        self, method: str, path: str, body: Any = None, *, admin: bool = False, key: str | None = None, **options: Any
    ) -> httpx.Response:
        """One request; `options` are httpx's. The key is one of scope `run` unless said otherwise."""
        return run_async(self.acall(method, path, body, admin=admin, key=key, **options))

    async def acall(
        self, method: str, path: str, body: Any = None, *, admin: bool = False, key: str | None = None, **options: Any
    ) -> httpx.Response:
        headers = {"X-API-Key": key or (self.admin_key if admin else self.key), "Accept-Language": "en"}
        headers |= options.pop("headers", {})
        if body is not None:
            options["json"] = body
        transport = httpx.ASGITransport(self.app, raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
            return await client.request(method, path, headers=headers, **options)

    def data(self, method: str, path: str, body: Any = None, **options: Any) -> Any:
        """The data of an answer that must be OK."""
        response = self.call(method, path, body, **options)
        assert response.status_code == 200, response.text
        assert response.json()["code"] == "OK"
        assert response.json()["message"] == ""
        return response.json()["data"]

    @asynccontextmanager
    async def open(self, path: str, headers: Mapping[str, str] | None = None) -> AsyncIterator["Reading"]:
        """A GET whose answer is read while it comes; closing it is the client's going away."""
        reading = Reading(self.app, path, {"x-api-key": self.key, "accept-language": "en", **(headers or {})})
        try:
            await reading.begin()
            yield reading
        finally:
            await reading.close()

    # Workflows and runs

    def save(self, definition: Mapping[str, Any]) -> str:
        self.data("POST", "/api/workflows", definition, admin=True)
        return str(definition["name"])

    def create_run(self, workflow: str, **body: Any) -> str:
        return str(self.data("POST", f"/api/v1/workflows/{workflow}/runs", body)["runId"])

    def start_run(self, workflow: str, **body: Any) -> str:
        run_id = self.create_run(workflow, **body)
        self.data("POST", f"/api/v1/workflows/{workflow}/runs/{run_id}/start")
        return run_id

    def finish_run(self, workflow: str, **body: Any) -> str:
        """A run from its creation to its end."""
        run_id = self.start_run(workflow, **body)
        self.drive()
        return run_id

    def events(self, run_id: str) -> list[dict[str, Any]]:
        page = self.data("GET", f"/api/v1/runs/{run_id}/events?limit=1000")
        assert page["done"]
        return list(page["events"])

    # Chains

    def drive(self) -> None:
        """All chains, one step after another, until none is left but those that wait for a person."""
        while self.step():
            pass

    def step(self) -> bool:
        """One step of one chain; False when there is none to do."""
        awake = [name for name in list(self.chains.running) if name not in self.chains.asleep.values()]
        if awake:
            self._step(awake[0])
        return bool(awake)

    @contextmanager
    def driven(self, threads: int = 8) -> Iterator[None]:
        """Chains are driven by threads of their own meanwhile, those that an answer wakes too."""
        stopped = threading.Event()
        taken: set[str] = set()
        with ThreadPoolExecutor(threads + 1) as pool:

            def watch() -> None:
                while not stopped.is_set():
                    for name in set(self.chains.running) - set(self.chains.asleep.values()) - taken:
                        taken.add(name)
                        pool.submit(self._drive_chain, name).add_done_callback(lambda _, name=name: taken.discard(name))
                    time.sleep(0.001)

            watcher = pool.submit(watch)
            try:
                yield
            finally:
                stopped.set()
                watcher.result()

    def _drive_chain(self, name: str) -> None:
        while name in self.chains.running and name not in self.chains.asleep.values():
            self._step(name)

    def _step(self, name: str) -> None:
        step = self.chains.running[name]
        if step["kind"] == "ask":
            token = self.chains.sleep(name)
            self.engine.asks.sleep(Step.from_json(step), name, token, time.monotonic_ns())
            return
        following = self.engine.advance.step(Step.from_json(step), name, lambda: 900.0)
        if following.kind == "end":
            self.chains.running.pop(name, None)
        elif following.kind == WAIT:
            self.chains.running[name] = {**following.to_json(), "kind": following.then}
        else:
            self.chains.running[name] = following.to_json()


class Reading:
    """One streamed answer."""

    def __init__(self, app: Any, path: str, headers: Mapping[str, str]) -> None:
        bare, _, query = path.partition("?")
        self._scope = {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.3"},
            "http_version": "1.1",
            "method": "GET",
            "scheme": "http",
            "path": bare,
            "raw_path": bare.encode(),
            "query_string": query.encode(),
            "root_path": "",
            "headers": [(name.lower().encode(), value.encode()) for name, value in headers.items()],
            "server": ("test", 80),
            "client": ("test", 1),
        }
        self._app = app
        self._sent: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self._gone = asyncio.Event()
        self._asked = False
        self.status = 0
        self.headers: dict[str, str] = {}
        self.text = ""

    async def begin(self) -> None:
        self._task = asyncio.create_task(self._app(self._scope, self._receive, self._sent.put))
        start = await asyncio.wait_for(self._sent.get(), 5)
        self.status = start["status"]
        self.headers = {name.decode(): value.decode() for name, value in start["headers"]}

    async def more(self, seconds: float = 5) -> bool:
        """Takes the next piece; False at the end of the answer."""
        message = await asyncio.wait_for(self._sent.get(), seconds)
        self.text += message.get("body", b"").decode()
        return bool(message.get("more_body", False))

    async def whole(self) -> str:
        while await self.more():
            pass
        return self.text

    async def until(self, found: Callable[[str], bool]) -> str:
        while not found(self.text):
            assert await self.more(), f"the stream ended before: {self.text[-500:]}"
        return self.text

    async def close(self) -> None:
        self._gone.set()
        await asyncio.wait_for(self._task, 5)

    async def _receive(self) -> dict[str, Any]:
        if not self._asked:
            self._asked = True
            return {"type": "http.request", "body": b"", "more_body": False}
        await self._gone.wait()
        return {"type": "http.disconnect"}


def parse(text: str) -> list[tuple[int | None, str, dict[str, Any]]]:
    """Events of a stream as `(id, type, data)`; comments are left out, half an event at the end too."""
    events = []
    for block in text.split("\n\n")[:-1]:
        fields = dict(line.split(": ", 1) for line in block.split("\n") if line and not line.startswith(":"))
        if "data" in fields:
            number = int(fields["id"]) if "id" in fields else None
            events.append((number, fields["event"], json.loads(fields["data"])))
    return events


def run_async[T](work: Coroutine[Any, Any, T]) -> T:
    """In a loop of its own, and without touching the thread's."""
    return asyncio.run(work, loop_factory=asyncio.new_event_loop)
