"""A running server as an integrator sees it: HTTP and SSE, nothing else."""

import json
import time
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Self

import httpx

SECONDS = 60


@dataclass(frozen=True)
class Server:
    base_url: str
    key: str
    admin_key: str
    pid: int

    @classmethod
    def of(cls, dev: Mapping[str, str], pid: int) -> Self:
        return cls(dev["baseUrl"], dev["apiKey"], dev["adminKey"], pid)

    def call(self, method: str, path: str, body: Any = None, *, admin: bool = False) -> httpx.Response:
        headers = {"X-API-Key": self.admin_key if admin else self.key}
        return httpx.request(method, self.base_url + path, json=body, headers=headers, timeout=SECONDS)

    def data(self, method: str, path: str, body: Any = None, *, admin: bool = False) -> Any:
        answer = self.call(method, path, body, admin=admin)
        assert answer.status_code == 200, (answer.status_code, answer.text[:2000])
        return answer.json()["data"]

    def save(self, nodes: Mapping[str, Mapping[str, Any]], edges: list[list[str]], **rest: Any) -> str:
        """Saves a workflow under a fresh name; nodes as in the conformance kit: `{id: {type, …data}}`."""
        name = f"e2e-{uuid.uuid4().hex[:10]}"
        graph = {
            "nodes": [
                {"id": node_id, "type": fields["type"], "data": {k: v for k, v in fields.items() if k != "type"}}
                for node_id, fields in nodes.items()
            ],
            "edges": [{"source": e[0], "target": e[1], "sourceHandle": e[2] if len(e) > 2 else None} for e in edges],
        }
        self.data("POST", "/api/workflows", {"name": name, "mode": "DAG", "graphData": graph, **rest}, admin=True)
        return name

    def start(self, workflow: str, variables: Mapping[str, Any] | None = None, **rest: Any) -> str:
        created = self.data("POST", f"/api/v1/workflows/{workflow}/runs", {"variables": variables or {}, **rest})
        run_id: str = created["runId"]
        self.data("POST", f"/api/v1/workflows/{workflow}/runs/{run_id}/start")
        return run_id

    def events(
        self, run_id: str, after: int | None = None, seconds: float = SECONDS
    ) -> Iterator[tuple[int, dict[str, Any]]]:
        """`(id, data)` of every event up to the terminal one; goes on by itself where the stream is cut."""
        deadline = time.monotonic() + seconds
        last = after
        while time.monotonic() < deadline:
            headers = {"X-API-Key": self.key} | ({"Last-Event-ID": str(last)} if last is not None else {})
            url = f"{self.base_url}/api/v1/runs/{run_id}/stream"
            try:
                with httpx.stream("GET", url, headers=headers, timeout=SECONDS) as response:
                    assert response.status_code == 200, (response.status_code, response.read()[:2000])
                    for number, data in _parse(response.iter_lines()):
                        last = number
                        yield number, data
                        if data["type"] in ("workflow_complete", "workflow_error"):
                            return
            except httpx.TransportError:
                time.sleep(0.2)
        raise AssertionError(f"run {run_id} has not ended within {seconds} s; the last event was {last}")

    def finish(self, run_id: str, seconds: float = SECONDS) -> dict[str, Any]:
        """Waits for the end of a run; checks what holds for every run, and gives the terminal event."""
        events = list(self.events(run_id, seconds=seconds))
        assert [number for number, _ in events] == list(range(1, len(events) + 1))
        ended = [
            data["visitUuid"] for _, data in events if data["type"] == "node_status" and data["status"] != "RUNNING"
        ]
        assert len(ended) == len(set(ended))
        return events[-1][1]


def _parse(lines: Iterator[str]) -> Iterator[tuple[int, dict[str, Any]]]:
    number = 0
    for line in lines:
        if line.startswith("id:"):
            number = int(line[3:])
        elif line.startswith("data:"):
            yield number, json.loads(line[5:])
