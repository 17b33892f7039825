"""Whole runs over Step Functions and Lambda, and how soon a live reader hears of them (contract §5)."""

import statistics
from collections import defaultdict
from datetime import datetime
from pathlib import Path

import peer_langgraph
import workflows
from local_stack import Api, LiveRun
from measuring import Contestant, median_ms, percentile_ms, take_turns
from report import Column, Goal, Row, Section
from workflows import Workflow

DELAYS = (20, 50, 100, 200, 400, 700, 1000, 2000)
"""Milliseconds that the models take: the longer a run was silent, the less often its log is looked at."""

FIRST_MS, REACHES_MS = 150, 100


def whole_runs(api: Api, length: int, turns: int) -> dict[str, float]:
    """Medians in milliseconds, from the call of `start` to the last event, by workflow name."""
    found = {}
    for workflow in (
        workflows.pure_chain(length),
        workflows.pure_diamond(),
        workflows.model_chain(length),
        workflows.model_diamond(),
    ):
        api.save(workflow)
        runs = [api.run(workflow) for _ in range(turns + 2)][2:]
        found[workflow.name] = statistics.median(run.whole for run in runs) * 1000
    return found


def measure(api: Api, scratch: Path, turns: int) -> Section:
    workflow = workflows.model_chain(len(DELAYS), DELAYS)
    api.save(workflow)
    api.run(workflow)
    runs = [api.run(workflow) for _ in range(turns)]
    first = [run.first_event for run in runs]
    reached: dict[str, list[float]] = defaultdict(list)
    for run in runs:
        for node_id, seconds in _latencies(api, workflow, run).items():
            reached[node_id].append(seconds)
    everything = [seconds for each in reached.values() for seconds in each]
    with peer_langgraph.open_saver(scratch) as saver:
        update = Contestant(peer_langgraph.first_update(peer_langgraph.chain(len(DELAYS)), saver))
        peer = take_turns({"peer": update}, turns)["peer"].wall
    rows = [
        _row("first event after `start`", first) | {"ratio": statistics.median(first) / statistics.median(peer)},
        _row("  LangGraph: first update, within one process", peer),
        _row("an end of a node reaches the reader", everything),
        *(_row(f"  after {delay} ms of silence", reached[f"m{n}"]) for n, delay in enumerate(DELAYS, 1)),
    ]
    return Section(
        "live",
        "Live events on the local stack, ms",
        [
            Column("what", "", "text"),
            Column("ratio", "to LangGraph", "ratio"),
            Column("median", "median"),
            Column("p99", "p99"),
            Column("number", "of", "count"),
        ],
        rows=rows,
        goals=[
            Goal("first event after `start`, median", median_ms(first), FIRST_MS, " ms"),
            Goal("an event reaches a reader, p99", percentile_ms(everything, 99), REACHES_MS, " ms"),
        ],
        notes=["From just before the commit that ends the node: the time of the commit itself is within."],
    )


def _latencies(api: Api, workflow: Workflow, run: LiveRun) -> dict[str, float]:
    """Seconds between the end of each model node, as stored in its commit, and its event's arrival."""
    ended = {
        node["nodeId"]: datetime.fromisoformat(node["completedAt"]).timestamp()
        for node in api.result(workflow, run.run_id)["nodes"]
        if node["nodeType"] == "llm"
    }
    arrived = {
        event["nodeId"]: moment
        for moment, event in run.events
        if event["type"] == "node_status" and event["status"] == "SUCCESS"
    }
    return {node_id: arrived[node_id] - moment for node_id, moment in ended.items()}


def _row(what: str, seconds: list[float]) -> Row:
    return {"what": what, "median": median_ms(seconds), "p99": percentile_ms(seconds, 99), "number": len(seconds)}
