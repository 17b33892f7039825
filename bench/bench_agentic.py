"""Whether a visit of an AGENTIC run costs the same after 200 visits, on the local stack (contract §2, law 6)."""

import statistics
from pathlib import Path

import peer_langgraph
import workflows
from bench_growth import AROUND, EARLY
from local_stack import Api, LiveRun
from report import Column, Goal, Section

VISITS = 200
LATE = 190


def measure(api: Api, scratch: Path, turns: int) -> Section:
    workflow = workflows.wandering(VISITS)
    api.save(workflow)
    runs = [api.run(workflow) for _ in range(turns)]
    early = [gap for run in runs for gap in _gaps(run, EARLY)]
    late = [gap for run in runs for gap in _gaps(run, LATE)]
    with peer_langgraph.open_saver(scratch) as saver:
        graph = peer_langgraph.chain(VISITS)
        walls = [peer_langgraph.pace(graph, saver)[0] for _ in range(turns)]
    theirs = [[gap for wall in walls for gap in wall[at - AROUND : at + AROUND + 1]] for at in (EARLY, LATE)]
    rows = [_row("stepweave: decision and visit", early, late), _row("LangGraph: node, within one process", *theirs)]
    rows[0]["whole"] = statistics.median(run.whole for run in runs) * 1000
    return Section(
        "agentic",
        f"A run of {VISITS} visits that a planner chose, on the local stack, ms",
        [
            Column("who", "", "text"),
            Column("ratio", f"visit {LATE} to {EARLY}", "ratio"),
            Column("early", f"visit {EARLY}"),
            Column("late", f"visit {LATE}"),
            Column("whole", "whole run"),
        ],
        rows=rows,
        goals=[Goal(f"visit {LATE} to visit {EARLY}", float(rows[0]["ratio"]), 1.2, "×")],
        notes=[
            f"Two steps of a chain a visit; medians over visits within {AROUND} of each, as a live reader sees them."
        ],
    )


def _gaps(run: LiveRun, around: int) -> list[float]:
    """Seconds from the end of one visit to the end of the next."""
    ends = [at for at, event in run.events if event["type"] == "visit_recorded"]
    return [ends[number + 1] - ends[number] for number in range(around - AROUND, around + AROUND + 1)]


def _row(who: str, early: list[float], late: list[float]) -> dict[str, object]:
    first, last = statistics.median(early), statistics.median(late)
    return {"who": who, "ratio": last / first, "early": first * 1000, "late": last * 1000}
