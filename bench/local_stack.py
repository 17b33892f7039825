"""`stepweave up` as a process of its own, and its API as a client sees it: runs are started and their streams read live."""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
from workflows import Workflow

_START_SECONDS = 600
_RUN_SECONDS = 120
_LOOK_SECONDS = 0.001


@dataclass(slots=True)
class LiveRun:
    """One run as its reader saw it. Times are of this machine's clock, as the server's are; `started` is just before
    the call of `start`, `answered` just before each call of `resume`."""

    run_id: str
    started: float
    events: list[tuple[float, dict[str, Any]]] = field(default_factory=list)
    answered: list[float] = field(default_factory=list)

    @property
    def first_event(self) -> float:
        return self.events[0][0] - self.started

    @property
    def whole(self) -> float:
        return self.events[-1][0] - self.started

    @property
    def questions(self) -> list[str]:
        """Their ids, as far as the reader has heard of them."""
        return [event["data"]["clarifyId"] for _, event in self.events if event.get("kind") == "clarify_request"]

    @property
    def has_succeeded(self) -> bool:
        return bool(self.events) and self.events[-1][1]["type"] == "workflow_complete"


class Api:
    """`base_url` and `key` are for who asks by a way of their own, `pid` is the server's process."""

    def __init__(self, base_url: str, key: str, admin_key: str, pid: int) -> None:
        self.base_url = base_url
        self.key = key
        self.pid = pid
        self._http = httpx.Client(base_url=base_url, timeout=_RUN_SECONDS, trust_env=False)
        self._key = {"X-API-Key": key}
        self._admin = {"X-API-Key": admin_key}

    def save(self, workflow: Workflow) -> None:
        """As a new workflow, or as a version of the one that an earlier benchmark left in the data directory."""
        known = self._http.get(f"/api/workflows/{workflow.name}", headers=self._admin).is_success
        method, path = ("PUT", f"/{workflow.name}") if known else ("POST", "")
        self._data(self._http.request(method, f"/api/workflows{path}", json=workflow.definition, headers=self._admin))

    def run(self, workflow: Workflow, thinks: float = 0) -> LiveRun:
        """A whole run, read by somebody who was there before it started, and who answers each question when they have
        thought for `thinks` seconds."""
        path = f"/api/v1/workflows/{workflow.name}/runs"
        run_id = self._data(self._http.post(path, json={"variables": {"x": 1}}, headers=self._key))["runId"]
        run = LiveRun(run_id, 0)
        connected = threading.Event()
        reader = threading.Thread(target=self._read, args=(run, connected))
        reader.start()
        connected.wait(_RUN_SECONDS)
        run.started = time.time()
        self._data(self._http.post(f"{path}/{run_id}/start", headers=self._key))
        while reader.is_alive():
            for question in run.questions[len(run.answered) :]:
                time.sleep(thinks)
                run.answered.append(time.time())
                self.resume(run_id, question, "yes")
            reader.join(_LOOK_SECONDS)
        assert run.has_succeeded, f"a run of {workflow.name} ended with {run.events[-1:]}"
        return run

    def create(self, workflow: Workflow) -> str:
        """A run that has not started; gives its id."""
        path = f"/api/v1/workflows/{workflow.name}/runs"
        run_id: str = self._data(self._http.post(path, json={"variables": {"x": 1}}, headers=self._key))["runId"]
        return run_id

    def begin(self, workflow: Workflow, run_id: str) -> None:
        self._data(self._http.post(f"/api/v1/workflows/{workflow.name}/runs/{run_id}/start", headers=self._key))

    def start(self, workflow: Workflow) -> str:
        """A run that nobody reads; gives its id."""
        run_id = self.create(workflow)
        self.begin(workflow, run_id)
        return run_id

    def state(self, run_id: str) -> dict[str, Any]:
        state: dict[str, Any] = self._data(self._http.get(f"/api/v1/runs/{run_id}/state", headers=self._key))
        return state

    def resume(self, run_id: str, clarify_id: str, answer: str) -> bool:
        """False where the answer is kept and the sweep has to wake the run."""
        body = {"clarifyId": clarify_id, "answer": answer}
        told = self._data(self._http.post(f"/api/v1/runs/{run_id}/resume", json=body, headers=self._key))
        return bool(told["accepted"])

    def result(self, workflow: Workflow, run_id: str) -> dict[str, Any]:
        path = f"/api/v1/workflows/{workflow.name}/runs/{run_id}"
        result: dict[str, Any] = self._data(self._http.get(path, headers=self._key))
        return result

    def close(self) -> None:
        self._http.close()

    def _read(self, run: LiveRun, connected: threading.Event) -> None:
        with self._http.stream("GET", f"/api/v1/runs/{run.run_id}/stream", headers=self._key) as answer:
            connected.set()
            for line in answer.iter_lines():
                if line.startswith("data:"):
                    run.events.append((time.time(), json.loads(line.removeprefix("data:"))))

    @staticmethod
    def _data(answer: httpx.Response) -> Any:
        assert answer.is_success, f"{answer.request.method} {answer.request.url.path}: {answer.text[:500]}"
        return answer.json()["data"]


@contextmanager
def up(root: Path, data_dir: Path) -> Iterator[Api]:
    """The stack runs until the block ends. Its data stays, so that the next time nothing is built or deployed anew."""
    port = _free_port()
    command = [str(root / ".venv/bin/stepweave"), "up", "--port", str(port), "--data-dir", str(data_dir)]
    process = subprocess.Popen(
        command, cwd=root, stdout=sys.stderr, start_new_session=True, env=os.environ | {"LANG": "C.UTF-8"}
    )
    try:
        dev = _wait_until_ready(process, data_dir / "dev.json", f"http://127.0.0.1:{port}")
        api = Api(dev["baseUrl"], dev["apiKey"], dev["adminKey"], process.pid)
        yield api
        api.close()
    finally:
        process.send_signal(signal.SIGINT)
        process.wait()


def _wait_until_ready(process: subprocess.Popen[bytes], dev_json: Path, base_url: str) -> dict[str, str]:
    deadline = time.monotonic() + _START_SECONDS
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise SystemExit("bench: `stepweave up` has ended by itself; what it said stands above")
        if dev_json.is_file() and (dev := json.loads(dev_json.read_text()))["baseUrl"] == base_url:
            return dict(dev)
        time.sleep(0.2)
    raise SystemExit(f"bench: `stepweave up` was not ready within {_START_SECONDS} seconds")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
