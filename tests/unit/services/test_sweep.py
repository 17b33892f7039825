"""The sweep looks after every run that is due, whatever becomes of one of them."""

from collections.abc import Mapping
from typing import Any

import pytest

from stepweave import clock as times
from stepweave.adapters.memory import MemoryBlobs, MemoryCallbacks, MemoryChains, MemoryItems
from stepweave.graph.model import parse_definition
from stepweave.runtime.engine import Engine, Ports
from stepweave.services.runs import NewRun
from stepweave.services.visit_work import Equipment
from tests.unit.services.stage import Clock

DEFINITION: Mapping[str, Any] = {
    "name": "w",
    "graphData": {
        "nodes": [
            {"id": "in", "type": "userInput"},
            {"id": "say", "type": "llm", "data": {"model": "scripted:inline", "userPrompt": "x", "script": []}},
            {"id": "out", "type": "output"},
        ],
        "edges": [{"source": "in", "target": "say"}, {"source": "say", "target": "out"}],
    },
}


class OneChainUnknown(MemoryChains):
    """Step Functions does not answer for one execution."""

    silent: str = ""

    def is_running(self, name: str) -> bool | None:
        if name.startswith(self.silent):
            raise ConnectionError("no answer")
        return super().is_running(name)


def test_a_run_that_cannot_be_looked_after_keeps_no_other_from_it() -> None:
    clock, chains = Clock(), OneChainUnknown()
    engine = Engine(
        Ports(MemoryItems(), MemoryBlobs(), chains, MemoryCallbacks(), clock),
        equipment=Equipment(None, 65_536),  # type: ignore[arg-type]  # no node gets as far as a model
    )
    workflow = engine.workflows.create(
        parse_definition(DEFINITION), {"inputs": [], "outputs": []}, times.to_json(clock.now())
    )
    first, second = (engine.starting.start(engine.runs.create(workflow, NewRun({}, "en"))).run_id for _ in range(2))
    chains.silent, chains.running = first, {}
    clock.pass_by(100)
    with pytest.raises(ExceptionGroup, match="1 of 2 runs") as told:
        engine.sweep.sweep()
    assert isinstance(told.value.exceptions[0], ConnectionError)
    assert [name.split("-")[0] for name in chains.running] == [second]
    chains.silent = "nobody"
    clock.pass_by(61)
    engine.sweep.sweep()
    assert {name.split("-")[0] for name in chains.running} == {first, second}
