"""Answers of people: how soon a run goes on after `/resume`, and what becomes of many runs that wait at once."""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import workflows
from local_stack import Api, LiveRun
from measuring import median_ms, percentile_ms
from report import Column, Goal, Row, Section
from workflows import Workflow

QUESTIONS = 5
THINKS = 0.5
"""Seconds that the person takes; the chain sleeps by then, and the log is looked at less often."""

WAITING, WITHIN = 200, 10.0
"""So many runs, answered within so many seconds."""

ASKED_AT_ONCE, ANSWERED_AT_ONCE = 4, 32
"""The runs come to their questions a few at a time, and are answered by a crowd."""

NEXT_MS = 150

_LOOK_SECONDS = 0.1
"""Looking whether a run has moved takes time from it; when it did is told by the run itself."""


def measure(api: Api, turns: int) -> Section:
    workflow = workflows.asking(QUESTIONS)
    api.save(workflow)
    api.run(workflow, THINKS)
    runs = [api.run(workflow, THINKS) for _ in range(turns)]
    following = [seconds for run in runs for seconds in _until(run, lambda _: True)]
    asked = [seconds for run in runs for seconds in _until(run, lambda event: event.get("kind") == "step")]
    waiting, answered, kept, completed = _many(api)
    return Section(
        "asks",
        "Questions on the local stack, ms",
        [
            Column("what", "", "text"),
            Column("median", "median"),
            Column("p99", "p99"),
            Column("number", "of", "count"),
        ],
        rows=[
            _row("`/resume` to the next event of the run", following),
            _row("`/resume` to the next request to the model", asked),
            _row(f"{WAITING} runs: start to the question", waiting),
            _row(f"{WAITING} runs: `/resume` to the end", completed),
        ],
        goals=[Goal("`/resume` to the next event, median", median_ms(following), NEXT_MS, " ms")],
        notes=[
            (
                f"{WAITING} runs that waited were answered within {answered:.1f} s; "
                f"all {len(completed)} completed, the slowest {max(completed):.1f} s after its answer; "
                f"{kept} had to wait for the sweep to wake them."
            ),
        ],
    )


def _until(run: LiveRun, is_it: Callable[[dict[str, Any]], bool]) -> list[float]:
    """Seconds from each answer to the first event behind the question that is meant."""
    asked = [place for place, (_, event) in enumerate(run.events) if event.get("kind") == "clarify_request"]
    return [
        next(moment for moment, event in run.events[place + 1 :] if is_it(event)) - answered
        for place, answered in zip(asked, run.answered, strict=True)
    ]


def _many(api: Api) -> tuple[list[float], float, int, list[float]]:
    """Many runs that wait at once: seconds from start to question of each, seconds in which all were answered, how many
    answers woke nobody, and seconds from answer to end of each."""
    workflow = workflows.asking(1)
    api.save(workflow)
    with ThreadPoolExecutor(ASKED_AT_ONCE) as people:
        asked = list(people.map(lambda _: _asked(api, workflow), range(WAITING)))
    with ThreadPoolExecutor(ANSWERED_AT_ONCE) as people:
        first = time.time()

        def answer(number: int) -> tuple[float, bool]:
            time.sleep(max(0.0, first + number * WITHIN / WAITING - time.time()))
            return time.time(), api.resume(asked[number].run_id, asked[number].clarify_id, "yes")

        moments, woken = zip(*people.map(answer, range(WAITING)), strict=True)
        took = time.time() - first
    ends = [_end(api, workflow, each.run_id) for each in asked]
    completed = [end - moment for end, moment in zip(ends, moments, strict=True)]
    return [each.seconds for each in asked], took, woken.count(False), completed


@dataclass(frozen=True, slots=True)
class _Asked:
    """A run that waits; `seconds` from its start to its question."""

    run_id: str
    clarify_id: str
    seconds: float


def _asked(api: Api, workflow: Workflow) -> _Asked:
    began = time.time()
    run_id = api.start(workflow)
    while (pause := api.state(run_id)["currentPause"]) is None:
        time.sleep(_LOOK_SECONDS)
    return _Asked(run_id, pause["clarifyId"], _moment(pause["createdAt"]) - began)


def _end(api: Api, workflow: Workflow, run_id: str) -> float:
    while api.state(run_id)["status"] == "RUNNING":
        time.sleep(_LOOK_SECONDS)
    result = api.result(workflow, run_id)
    assert result["status"] == "SUCCESS", f"run {run_id} has failed: {result['error']}"
    return _moment(result["completedAt"])


def _moment(told: str) -> float:
    """Of a time in an answer, which is in UTC with or without its `Z` (contract §1)."""
    return datetime.fromisoformat(told).replace(tzinfo=UTC).timestamp()


def _row(what: str, seconds: list[float]) -> Row:
    return {"what": what, "median": median_ms(seconds), "p99": percentile_ms(seconds, 99), "number": len(seconds)}
