"""The output of a run is read from its visits, when all that ended it can be seen (contract §2, protocol rule Q)."""

from dataclasses import replace

import pytest

from stepweave.execution.envelope import success
from stepweave.execution.run import Run
from stepweave.execution.visit import Visit, VisitBody
from stepweave.graph.model import parse_definition
from stepweave.graph.topology import Graph
from stepweave.services.outputs import Outputs

ENDED = Run("0000c0de", "drawn", 1, 1, "SUCCESS", "2030-01-01T00:00:00.000Z", visits=3, language="en")
GAVE = success("ok", {"x": 1})


class Seen:
    """Runs and memory in one, of which these visits are visible."""

    def __init__(self, *visits: Visit) -> None:
        self._visits = list(visits)

    def visits(self, run_id: str) -> list[Visit]:
        return self._visits

    def bodies(self, run_id: str, visit_uuids: list[str]) -> dict[str, VisitBody]:
        return {visit_uuid: VisitBody({}, GAVE) for visit_uuid in visit_uuids}


def visit(node_id: str, status: str = "SUCCESS") -> Visit:
    return Visit("0000c0de", f"visit of {node_id}", node_id, 1, status, "c")  # type: ignore[arg-type]


GRAPH = Graph.of(
    parse_definition(
        {
            "name": "drawn",
            "mode": "AGENTIC",
            "graphData": {"nodes": [{"id": "in", "type": "userInput"}, {"id": "out", "type": "output"}]},
            "planner": {"model": "m"},
        }
    )
)
BEFORE = (visit("in"), visit("#planner"))
LAST = visit("out")


def output(run: Run, *visits: Visit) -> object:
    seen = Seen(*visits)
    envelope = Outputs(seen, seen).of(run, GRAPH)  # type: ignore[arg-type]
    return envelope["data"] if envelope is not None else None


def test_the_output_that_ended_an_agentic_run_is_its_output() -> None:
    assert output(ENDED, *BEFORE, LAST) == {"x": 1}


def test_an_output_that_failed_and_was_passed_over_gives_nothing() -> None:
    assert output(ENDED, *BEFORE, visit("out", "SKIPPED")) == {}


@pytest.mark.parametrize(
    "run",
    [ENDED, replace(ENDED, status="RUNNING", visits=2)],
    ids=["the run's end can be seen, its last visit cannot", "neither can be seen"],
)
def test_it_is_not_known_while_the_commit_that_ended_the_run_is_becoming_visible(run: Run) -> None:
    """The last event may be visible before both: an empty output must not be told in its place."""
    assert output(run, *BEFORE) is None
