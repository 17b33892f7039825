"""Deltas of nodes that stream: how often they are written, and how old they are when a live reader gets them."""

import asyncio
import json
import threading
import time
from dataclasses import dataclass, field
from typing import Any

import workflows
from measuring import median_ms, percentile_ms
from report import Column, Goal, Row, Section
from streaming import DELTAS, SECONDS
from workshop import Workshop

from stepweave.services.visit_work import FLUSH_SECONDS, FLUSH_SECONDS_A_WRITER

WRITERS = (1, 4, 16)
WRITES, AGE_MS, AGE_WRITERS = 60, 250, 4
_WRITING = ("TransactWriteItems", "PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem")


def measure(workshop: Workshop, turns: int) -> Section:
    rows = [_row(workshop, writers, turns) for writers in WRITERS]
    goals = [Goal("writes of a node that streams alone", float(rows[0]["writes"]), WRITES)]
    goals += [
        Goal(f"age at the reader, {row['writers']} streaming, p99", float(row["age_p99"]), AGE_MS, " ms")
        for row in rows
        if int(row["writers"]) <= AGE_WRITERS
    ]
    return Section(
        "deltas",
        f"Nodes that stream {DELTAS} deltas in {SECONDS:g} s, one run, a live reader; ages in ms",
        [
            Column("who", "nodes", "text"),
            Column("writes", "writes a node", "ms"),
            Column("gap", "pacing rule"),
            Column("age_median", "age, median"),
            Column("age_p99", "age, p99"),
            Column("number", "of", "count"),
        ],
        rows=rows,
        goals=goals,
        notes=[
            "Writes are all requests of the run that write, those that lost a race included.",
            (
                "The pacing rule (protocol) is how long a node gathers before it writes: max(100, 25 × running) ms; a delta "
                "waits half of it on average, then for the commit and for the reader's next look."
            ),
            "The nodes are threads of one process, with the emulator on the same machine.",
        ],
    )


@dataclass(slots=True)
class _Reader:
    """Somebody who follows the run's stream from its beginning, in a thread of their own."""

    workshop: Workshop
    run_id: str
    pieces: list[tuple[float, bytes]] = field(default_factory=list)
    there: threading.Event = field(default_factory=threading.Event)

    def read(self) -> None:
        asyncio.run(self._read())

    def ages(self) -> list[float]:
        """Seconds between the moment at which each delta was due and its arrival."""
        return [
            arrived - float(due)
            for arrived, piece in self.pieces
            for line in piece.decode().splitlines()
            if line.startswith("data: ")
            for due in _deltas(json.loads(line.removeprefix("data: ")))
        ]

    async def _read(self) -> None:
        streams = self.workshop.streams()
        answer: Any = await streams.stream(self.workshop.engine.runs.get(self.run_id), 0, {})
        self.there.set()
        async for piece in answer.body_iterator:
            self.pieces.append((time.time(), piece))
        streams.close()


def _deltas(event: dict[str, Any]) -> list[str]:
    return event["content"].split() if event.get("kind") == "thinking" else []


def _row(workshop: Workshop, writers: int, turns: int) -> Row:
    workflow = workflows.streams(writers)
    saved = workshop.save(workflow.definition)
    ages: list[float] = []
    writes = 0
    for _ in range(turns):
        run_id = workshop.begin(saved)
        reader = _Reader(workshop, run_id)
        reading = threading.Thread(target=reader.read)
        reading.start()
        reader.there.wait()
        before = _written(workshop)
        workshop.drive_side_by_side()
        writes += _written(workshop) - before
        reading.join()
        assert workshop.succeeded(run_id), "a run that streams has failed"
        ages += reader.ages()
    assert len(ages) == turns * writers * DELTAS, f"{len(ages)} deltas reached the reader"
    return {
        "who": workflow.title,
        "writers": writers,
        "writes": writes / writers / turns,
        "gap": max(FLUSH_SECONDS, FLUSH_SECONDS_A_WRITER * writers) * 1000,
        "age_median": median_ms(ages),
        "age_p99": percentile_ms(ages, 99),
        "number": len(ages),
    }


def _written(workshop: Workshop) -> int:
    return sum(workshop.requests[operation] for operation in _WRITING)
