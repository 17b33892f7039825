"""The warm processes that invocations run in: they share the store, and each remembers for itself."""

from collections.abc import Mapping
from dataclasses import replace
from random import Random
from typing import Any

from stepweave import clock as times
from stepweave.execution.run import Run
from stepweave.graph.model import parse_definition
from stepweave.runtime.engine import Engine, Ports
from stepweave.scheduling.decision import Bounds
from stepweave.services.planning import Plan
from stepweave.services.visit_work import Equipment
from tests.property.chaos.nodes import Types
from tests.property.chaos.workflows import Workflow

_PROCESSES = 3


class Processes:
    def __init__(self, chance: Random, ports: Ports, types: Types, plan: Plan, bound: int) -> None:
        self._chance = chance
        self._ports = ports
        self._types = types
        self._plan = plan
        self._bounds = Bounds(items=bound)
        self._warm: list[Engine] = []

    def create(self, workflow: Workflow, run_id: str, inputs: Mapping[str, Any]) -> None:
        """Saves a workflow and a run of it that has not started."""
        engine = Engine(self._ports, equipment=_EQUIPMENT, specs=self._types)
        now = times.to_json(self._ports.clock.now())
        saved = engine.workflows.create(parse_definition(workflow.definition), {"inputs": [], "outputs": []}, now)
        number, version, strategy = saved.workflow_id, saved.latest, workflow.fail_strategy
        run = Run(run_id, saved.name, number, version, "CREATED", now, fail_strategy=strategy)
        engine.store.create(replace(run, calls_back=workflow.calls_back), inputs)
        self._version = (saved.name, version)
        self._graph = engine.workflows.graph(*self._version)
        self._warm = [self._cold_start() for _ in range(_PROCESSES)]

    def one(self) -> Engine:
        """Any of them, as the platform chooses."""
        return self._chance.choice(self._warm)

    def forget_one(self) -> None:
        """A process is replaced by a new one, which remembers nothing."""
        self._warm[self._chance.randrange(_PROCESSES)] = self._cold_start()

    def _cold_start(self) -> Engine:
        engine = Engine(self._ports, equipment=_EQUIPMENT, specs=self._types, bounds=self._bounds, plan=self._plan)
        engine.workflows._graphs[self._version] = self._graph  # parsed once a schedule: it takes the most time of all
        return engine


class _NoModels:
    """No node of these tests opens a model."""


_EQUIPMENT = Equipment(_NoModels(), 65_536)  # type: ignore[arg-type]
