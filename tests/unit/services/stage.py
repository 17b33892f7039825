"""A whole engine in memory with a clock that is moved by hand, node types that are functions, and chains driven by hand."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from stepweave import clock as times
from stepweave.adapters.memory import MemoryBlobs, MemoryCallbacks, MemoryChains, MemoryItems
from stepweave.execution.outcome import Outcome, Result, succeeded
from stepweave.execution.run import Run
from stepweave.execution.step import END, WAIT, Step
from stepweave.execution.visit import Visit
from stepweave.expressions.scope import Scope
from stepweave.graph.model import Node, parse_definition
from stepweave.graph.spec import Field
from stepweave.runtime.engine import Engine, Ports
from stepweave.scheduling.decision import DYNAMODB, Bounds
from stepweave.services.visit_work import Equipment, VisitWork

RUN_ID = "0000c0de"

Act = Callable[[VisitWork], Result]
"""What a node with an effect does."""


class Clock:
    """`slept` lists what was waited for in the process; waiting takes no time here."""

    def __init__(self) -> None:
        self._now = datetime(2030, 1, 1, tzinfo=UTC)
        self.slept: list[float] = []

    def now(self) -> datetime:
        return self._now

    def monotonic(self) -> float:
        return self._now.timestamp()

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.pass_by(seconds)

    def pass_by(self, seconds: float) -> None:
        self._now += timedelta(seconds=seconds)


class _Light:
    light = True
    chain = "flow"

    def outputs(self, node: Node) -> tuple[Field, ...]:
        return ()

    def problems(self, node: Node) -> list[Any]:
        return []

    def handles(self, node: Node) -> None:
        return None

    def run(self, node: Node, scope: Scope, language: str) -> Outcome:
        return succeeded("ok", {})


class _Effect(_Light):
    light = False
    chain = "effect"

    def __init__(self, acts: Mapping[str, Act]) -> None:
        self._acts = acts

    def run(self, node: Node, scope: Scope, work: VisitWork) -> Result:  # type: ignore[override]
        act = self._acts.get(node.id)
        return act(work) if act is not None else succeeded("ok", {})


class _NoModels:
    """No node here opens a model."""


class Stage:
    """`arrows` are pairs of node ids; a node named `in…` or `out…` is light, every other has an effect, which is what
    `acts` says. `data` is that of nodes. The run has started unless told otherwise; `chains.running` holds its chains.
    """

    def __init__(
        self,
        *arrows: tuple[str, str],
        acts: Mapping[str, Act] | None = None,
        data: Mapping[str, Mapping[str, Any]] | None = None,
        items: MemoryItems | None = None,
        chains: MemoryChains | None = None,
        bounds: Bounds = DYNAMODB,
        starts: bool = True,
    ) -> None:
        self.clock = Clock()
        self.chains = chains or MemoryChains()
        effect, light = _Effect(acts or {}), _Light()
        types = {"userInput": light, "output": light, "effect": effect}
        ports = Ports(items or MemoryItems(), MemoryBlobs(), self.chains, MemoryCallbacks(), self.clock)
        equipment = Equipment(_NoModels(), 65_536)  # type: ignore[arg-type]
        self.engine = Engine(ports, equipment=equipment, specs=types.get, bounds=bounds)  # type: ignore[arg-type]
        names = dict.fromkeys(name for arrow in arrows for name in arrow)
        nodes = [{"id": name, "type": _type(name), "data": dict((data or {}).get(name, {}))} for name in names]
        edges = [{"source": source, "target": target} for source, target in arrows]
        definition = parse_definition({"name": "staged", "graphData": {"nodes": nodes, "edges": edges}})
        now = times.to_json(self.clock.now())
        saved = self.engine.workflows.create(definition, {"inputs": [], "outputs": []}, now)
        self.created = Run(RUN_ID, "staged", saved.workflow_id, 1, "CREATED", now, language="en")
        self.engine.store.create(self.created, {})
        if starts:
            self.engine.starting.start(self.created)

    @property
    def run(self) -> Run:
        return self.engine.runs.get(RUN_ID)

    def visit(self, node_id: str) -> Visit:
        return next(visit for visit in self.engine.store.visits(RUN_ID) if visit.node_id == node_id)

    def body(self, node_id: str) -> Any:
        visit_uuid = self.visit(node_id).visit_uuid
        return self.engine.store.bodies(RUN_ID, [visit_uuid])[visit_uuid]

    def events(self) -> list[dict[str, Any]]:
        return [event.data for event in self.engine.events.read(RUN_ID, 0, 1000)]

    def step(self, chain: str) -> Step:
        """One step of a chain; a `wait` passes, and the step after it is the chain's next."""
        following = self.engine.advance.step(Step.from_json(self.chains.running[chain]), chain, lambda: 900)
        if following.kind == END:
            del self.chains.running[chain]
        elif following.kind == WAIT:
            self.clock.pass_by(following.seconds)
            self.chains.running[chain] = {**following.to_json(), "kind": following.then}
        else:
            self.chains.running[chain] = following.to_json()
        return following

    def drive(self) -> list[Step]:
        """Every chain to its end; gives the steps that were answered."""
        steps = []
        while self.chains.running:
            steps.append(self.step(next(iter(self.chains.running))))
        return steps


def _type(name: str) -> str:
    if name.startswith("in"):
        return "userInput"
    return "output" if name.startswith("out") else "effect"
