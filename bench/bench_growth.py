"""Whether a node costs the same however long its run already is (architecture law 6)."""

import statistics
from collections.abc import Sequence
from pathlib import Path

import peer_langgraph
import workflows
from report import Column, Goal, Row, Section
from workshop import Workshop

LENGTH = 210
EARLY, LATE = 10, 200
AROUND = 5
"""Nodes on each side that are measured with it: one node alone is noise."""


def measure(workshop: Workshop, scratch: Path, turns: int) -> Section:
    section = Section(
        "growth",
        f"Cost of node {LATE} against node {EARLY} of one run, ms",
        [
            Column("who", "", "text"),
            Column("ratio", f"node {LATE} to {EARLY}", "ratio"),
            Column("ratio_cpu", "CPU", "ratio"),
            Column("early", f"node {EARLY}"),
            Column("late", f"node {LATE}"),
            Column("early_cpu", f"node {EARLY}, CPU"),
            Column("late_cpu", f"node {LATE}, CPU"),
            Column("early_requests", f"requests, node {EARLY}", "count"),
            Column("late_requests", f"requests, node {LATE}", "count"),
        ],
        notes=[f"A chain of effects, each referring to the one before; medians over nodes within {AROUND} of each."],
    )
    saved = workshop.save(workflows.effect_chain(LENGTH).definition)
    graph = peer_langgraph.chain(LENGTH)
    ours, theirs = _Pace(), _Pace()
    with peer_langgraph.open_saver(scratch) as saver:
        for _ in range(turns):
            run_id = workshop.begin(saved)
            steps = workshop.drive()
            assert workshop.succeeded(run_id), "a long run failed"
            ours.add(steps.wall, steps.cpu, steps.requests)
            theirs.add(*peer_langgraph.pace(graph, saver))
    section.rows = [ours.row("stepweave"), theirs.row("LangGraph")]
    section.goals = [
        Goal(f"node {LATE} to node {EARLY}", float(section.rows[0]["ratio"]), 1.2, "×"),
    ]
    return section


class _Pace:
    """What nodes around the early and the late one took, over several runs. Position n of a run is node n."""

    def __init__(self) -> None:
        self._early: list[list[float]] = [[], [], []]
        self._late: list[list[float]] = [[], [], []]

    def add(self, *measures: Sequence[float]) -> None:
        for number, values in enumerate(measures):
            self._early[number] += values[EARLY - AROUND : EARLY + AROUND + 1]
            self._late[number] += values[LATE - AROUND : LATE + AROUND + 1]

    def row(self, who: str) -> Row:
        early = [statistics.median(values) if values else None for values in self._early]
        late = [statistics.median(values) if values else None for values in self._late]
        wall, cpu = early[0] or 1, early[1] or 1
        return {
            "who": who,
            "ratio": (late[0] or 0) / wall,
            "ratio_cpu": (late[1] or 0) / cpu,
            "early": wall * 1000,
            "late": (late[0] or 0) * 1000,
            "early_cpu": cpu * 1000,
            "late_cpu": (late[1] or 0) * 1000,
            "early_requests": early[2],
            "late_requests": late[2],
        }
