"""Engine time and requests for each node: pure nodes, effects, models, beside LangGraph and DBOS."""

import asyncio
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import peer_dbos
import peer_langgraph
import workflows
from measuring import Contestant, Times, median_ms, percentile_ms, spread, take_turns
from report import Column, Goal, Row, Section
from workflows import Workflow
from workshop import Workshop

LENGTH = 20
_MEMORY = Path("/dev/shm")

Peers = Mapping[str, Callable[[], object]]


@dataclass(frozen=True, slots=True)
class Case:
    """A workflow, the peers' runs of the same shape, and the most requests that a node may take."""

    workflow: Workflow
    peers: Peers
    is_pure: bool = False
    most_requests: float | None = None


def measure(workshop: Workshop, scratch: Path, turns: int, whole_runs: Mapping[str, float]) -> Section:
    """`whole_runs` are medians in milliseconds of runs over Step Functions and Lambda, by workflow name."""
    section = Section(
        "nodes",
        "Engine time per node, ms: deciding and storing, over HTTP in the emulator",
        [
            Column("workflow", "workflow", "text"),
            Column("to_langgraph", "to LangGraph", "ratio"),
            Column("best_to_langgraph", "best to best", "ratio"),
            Column("cpu_to_langgraph", "CPU to CPU", "ratio"),
            Column("to_langgraph_in_memory", "to LangGraph in memory", "ratio"),
            Column("to_dbos", "to DBOS", "ratio"),
            Column("requests", "requests", "count"),
        ],
        parts=[
            Column("engine", "engine"),
            Column("whole_run", "whole run, deployed"),
            Column("engine_p99", "p99"),
            Column("engine_best", "best"),
            Column("engine_cpu", "CPU"),
            Column("spread", "spread", "count"),
            Column("langgraph", "LangGraph"),
            Column("langgraph_p99", "p99"),
            Column("langgraph_best", "best"),
            Column("langgraph_cpu", "CPU"),
            Column("langgraph_in_memory", "LangGraph in memory"),
            Column("dbos", "DBOS"),
        ],
        notes=[
            "LangGraph: SqliteSaver, durability=sync; DBOS: SQLite; both on this disk, with nodes that do nothing.",
            "In memory: the same saver without a disk, as the emulator keeps its tables (on AWS, DynamoDB is durable).",
            "CPU: of this process; the emulator works in one of its own. Best: the quickest turn, what a quiet machine does.",
            "Requests: to DynamoDB, per node; with effects, without those of the run's first step.",
            "Spread: of the engine's times, the middle half to the median.",
        ],
    )
    with _cases(scratch) as cases:
        for case in cases:
            row = _measure(workshop, case, turns)
            whole = whole_runs.get(case.workflow.name)
            row["whole_run"] = whole / case.workflow.nodes if whole is not None else None
            section.rows.append(row)
            section.goals += _goals(case, row)
    for workflow in (workflows.effect_diamond(), workflows.model_diamond()):
        section.rows.append(_side_by_side(workshop, workflow, turns))
    return section


@contextmanager
def _cases(scratch: Path) -> Iterator[list[Case]]:
    with ExitStack() as stack:
        savers = {"langgraph": stack.enter_context(peer_langgraph.open_saver(scratch))}
        if _MEMORY.is_dir():
            folder = stack.enter_context(tempfile.TemporaryDirectory(dir=_MEMORY))
            savers["langgraph_in_memory"] = stack.enter_context(peer_langgraph.open_saver(Path(folder)))
        stack.enter_context(peer_dbos.launched(scratch))
        loop = asyncio.new_event_loop()
        stack.callback(loop.close)
        chain = {name: peer_langgraph.runner(peer_langgraph.chain(LENGTH), each) for name, each in savers.items()}
        diamond = {name: peer_langgraph.runner(peer_langgraph.diamond(), each) for name, each in savers.items()}
        chain["dbos"] = peer_dbos.chain_runner(LENGTH)
        diamond["dbos"] = peer_dbos.diamond_runner(loop)
        yield [
            Case(workflows.pure_chain(LENGTH), chain, is_pure=True, most_requests=0.3),
            Case(workflows.pure_diamond(), diamond, is_pure=True),
            Case(workflows.effect_chain(LENGTH), chain, most_requests=3),
            Case(workflows.effect_diamond(), diamond),
            Case(workflows.model_chain(LENGTH), chain, most_requests=3),
            Case(workflows.model_diamond(), diamond),
        ]


def _measure(workshop: Workshop, case: Case, turns: int) -> Row:
    saved = workshop.save(case.workflow.definition)
    contestants = {name: Contestant(run) for name, run in case.peers.items()}
    contestants["engine"] = Contestant(workshop.drive, prepare=lambda: workshop.begin(saved))
    times = take_turns(contestants, turns)
    run_id = workshop.begin(saved)
    steps = workshop.drive()
    assert workshop.succeeded(run_id), f"a run of {case.workflow.name} failed"
    nodes = case.workflow.nodes
    took = {name: _took(name, each, nodes) for name, each in times.items()}
    engine, langgraph = took["engine"], took["langgraph"]
    row: Row = {
        "workflow": case.workflow.title,
        **{f"to_{name}": engine["engine"] / took[name][name] for name in case.peers},
        "best_to_langgraph": engine["engine_best"] / langgraph["langgraph_best"],
        "cpu_to_langgraph": engine["engine_cpu"] / langgraph["langgraph_cpu"],
        "requests": (sum(steps.requests) if case.is_pure else steps.requests_of_effects()) / nodes,
        "spread": spread(times["engine"].wall),
    }
    for each in took.values():
        row |= each
    return row


def _took(name: str, times: Times, nodes: int) -> dict[str, float]:
    """Milliseconds per node."""
    return {
        name: median_ms(times.wall, nodes),
        f"{name}_p99": percentile_ms(times.wall, 99) / nodes,
        f"{name}_best": min(times.wall) * 1000 / nodes,
        f"{name}_cpu": median_ms(times.cpu, nodes),
    }


def _goals(case: Case, row: Row) -> list[Goal]:
    goals = []
    if case.is_pure:
        goals.append(Goal(f"{case.workflow.title}: engine time to LangGraph's", float(row["to_langgraph"]), 1, "×"))
    if case.most_requests is not None:
        goals.append(Goal(f"{case.workflow.title}: requests per node", float(row["requests"]), case.most_requests))
    return goals


def _side_by_side(workshop: Workshop, workflow: Workflow, turns: int) -> Row:
    """The diamond's branches contend for the run as they do in functions of their own: lost commits count too."""
    saved = workshop.engine.runs.workflow(workflow.name)
    requests: list[int] = []

    def drive() -> None:
        before = workshop.requests.total()
        workshop.drive_side_by_side()
        requests.append(workshop.requests.total() - before)

    times = take_turns({"engine": Contestant(drive, prepare=lambda: workshop.begin(saved))}, turns)["engine"]
    return {
        "workflow": f"{workflow.title}, side by side",
        **_took("engine", times, workflow.nodes),
        "requests": sum(requests) / len(requests) / workflow.nodes,
        "spread": spread(times.wall),
    }
