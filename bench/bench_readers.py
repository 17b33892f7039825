"""Many live readers at once on the local server, a long replay, and the result of a run of fifty nodes (contract §4, §5)."""

import asyncio
import json
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import workflows
from local_stack import Api
from measuring import median_ms, percentile_ms
from report import Column, Goal, Row, Section
from workflows import Workflow

READERS, RUNS = 200, 20
DELAYS = (300, 700, 500, 900)
EVENTS = 5_000
NODES = 50

DELAY_MS, MEMORY_MB, REPLAY_MS, RESULT_MS = 500, 400, 400, 40

_WAIT_SECONDS = 300
_REPLAYS = 10


@dataclass(slots=True)
class Reader:
    """What one connection has heard: ids in their order, and when each node's end arrived."""

    run_id: str
    ids: list[int] = field(default_factory=list)
    ends: dict[str, float] = field(default_factory=dict)

    def hear(self, number: int, kind: str, data: str) -> None:
        self.ids.append(number)
        if kind == "node_status" and '"SUCCESS"' in data:
            self.ends[json.loads(data)["nodeId"]] = time.time()


def measure(api: Api, asked: int) -> Section:
    """`asked` is how many times the result is asked for."""
    watched = workflows.model_chain(len(DELAYS) * 2, DELAYS)
    api.save(watched)
    readers, delays = _watch(api, watched)
    peak = _peak_memory_mb(api.pid)
    replays = _replay(api)
    results = _results(api, asked)
    rows: list[Row] = [
        {"what": "an end of a node reaches each reader"} | _figures(delays),
        {"what": f"{EVENTS} events replayed"} | _figures(replays),
        {"what": f"the result of a run of {NODES} nodes"} | _figures(results),
    ]
    return Section(
        "readers",
        f"{READERS} live readers of {RUNS} runs on the local server, ms",
        [
            Column("what", "", "text"),
            Column("median", "median"),
            Column("p99", "p99"),
            Column("number", "of", "count"),
        ],
        rows=rows,
        goals=[
            Goal("readers that did not hear every event in order", _lost(readers), 0),
            Goal("an event reaches a reader, p99", percentile_ms(delays, 99), DELAY_MS, " ms"),
            Goal("memory of the server at its peak", peak, MEMORY_MB, " MB"),
            Goal(f"{EVENTS} events replayed, median", median_ms(replays), REPLAY_MS, " ms"),
            Goal("the result of a run, p99", percentile_ms(results, 99), RESULT_MS, " ms"),
        ],
        notes=[
            "From just before the commit that ends the node, as in `live`. The readers share the machine's processors."
        ],
    )


def _watch(api: Api, workflow: Workflow) -> tuple[list[Reader], list[float]]:
    """Readers first, ten of each run, then all runs at once."""
    runs = [api.create(workflow) for _ in range(RUNS)]
    readers = [Reader(runs[number % RUNS]) for number in range(READERS)]
    with ThreadPoolExecutor(RUNS) as starting:

        async def read() -> None:
            open_now = asyncio.Semaphore(0)
            following = [asyncio.create_task(_follow(api, reader, open_now)) for reader in readers]
            for _ in readers:
                await open_now.acquire()
            loop = asyncio.get_running_loop()
            await asyncio.gather(*(loop.run_in_executor(starting, api.begin, workflow, run_id) for run_id in runs))
            await asyncio.wait_for(asyncio.gather(*following), _WAIT_SECONDS)

        asyncio.run(read())
    ended = {run_id: _ends(api.result(workflow, run_id)) for run_id in runs}
    delays = [
        arrived - ended[reader.run_id][node_id]
        for reader in readers
        for node_id, arrived in reader.ends.items()
        if node_id in ended[reader.run_id]
    ]
    return readers, delays


async def _follow(api: Api, reader: Reader, opened: asyncio.Semaphore) -> None:
    """A stream read by hand: a client library for each of hundreds would take the processors from the server."""
    address = urlsplit(api.base_url)
    incoming, outgoing = await asyncio.open_connection(address.hostname, address.port, limit=2**22)
    path = f"/api/v1/runs/{reader.run_id}/stream"
    outgoing.write(f"GET {path} HTTP/1.1\r\nHost: bench\r\nX-API-Key: {api.key}\r\n\r\n".encode())
    head = await incoming.readuntil(b"\r\n\r\n")
    assert b" 200 " in head.split(b"\r\n", 1)[0], head
    opened.release()
    waiting = b""
    while size := int(await incoming.readline(), 16):
        waiting += (await incoming.readexactly(size + 2))[:-2]
        *blocks, waiting = waiting.split(b"\n\n")
        for block in blocks:
            fields = dict(line.split(": ", 1) for line in block.decode().split("\n") if ": " in line)
            if "id" in fields:
                reader.hear(int(fields["id"]), fields["event"], fields["data"])
    outgoing.close()
    await outgoing.wait_closed()


def _ends(result: Mapping[str, Any]) -> dict[str, float]:
    """When each model's node ended, as stored in its commit."""
    return {
        node["nodeId"]: datetime.fromisoformat(node["completedAt"]).timestamp()
        for node in result["nodes"]
        if node["nodeType"] == "llm"
    }


def _lost(readers: Sequence[Reader]) -> int:
    longest = {
        reader.run_id: max(each.ids[-1] for each in readers if each.run_id == reader.run_id) for reader in readers
    }
    return sum(reader.ids != list(range(1, longest[reader.run_id] + 1)) for reader in readers)


def _replay(api: Api) -> list[float]:
    """Seconds to read a whole log that has ended, from the first byte asked for to the last event."""
    workflow = workflows.talkative(EVENTS // 5)
    api.save(workflow)
    run_id = api.start(workflow)
    deadline = time.monotonic() + _WAIT_SECONDS
    while (status := api.state(run_id)["status"]) == "RUNNING" and time.monotonic() < deadline:
        time.sleep(0.5)
    assert status == "SUCCESS", f"a run of {workflow.name} is {status}"
    seconds = []
    for _ in range(_REPLAYS):
        reader = Reader(run_id)
        began = time.perf_counter()
        asyncio.run(_follow(api, reader, asyncio.Semaphore(0)))
        seconds.append(time.perf_counter() - began)
        assert len(reader.ids) >= EVENTS, f"only {len(reader.ids)} events were replayed"
    return seconds


def _results(api: Api, asked: int) -> list[float]:
    workflow = workflows.pure_chain(NODES)
    api.save(workflow)
    run_id = api.run(workflow).run_id
    seconds = []
    for _ in range(asked):
        began = time.perf_counter()
        api.result(workflow, run_id)
        seconds.append(time.perf_counter() - began)
    return seconds


def _peak_memory_mb(pid: int) -> float:
    """Of the server's own process; the emulator has others."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) / 1024
    raise ValueError(f"the kernel tells no peak of process {pid}")


def _figures(seconds: Sequence[float]) -> Row:
    return {"median": median_ms(seconds), "p99": percentile_ms(seconds, 99), "number": len(seconds)}
