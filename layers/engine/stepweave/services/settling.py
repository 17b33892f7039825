"""Ending a visit (protocol rules E and R): decide, commit, decide again when the commit is lost, then go on."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from stepweave import clock as times
from stepweave import ids
from stepweave.clock import Clock
from stepweave.events.records import Record
from stepweave.execution.outcome import Outcome
from stepweave.execution.run import Run
from stepweave.execution.step import END, Step
from stepweave.execution.visit import PLANNER, Join, Visit
from stepweave.graph.spec import Specs
from stepweave.graph.topology import Graph
from stepweave.items import OutcomeUnknown, WriteConflict, WriteRefused
from stepweave.ports import Chains
from stepweave.scheduling.agentic import decide_agentic
from stepweave.scheduling.decide import all_joins, decide, joins_ahead
from stepweave.scheduling.decision import Bounds, Decision, Facts, FactsMissing, StaleFacts
from stepweave.services.backoff import Backoff
from stepweave.services.closing import Closing
from stepweave.services.commits import OwnEnd, body_of, compose, rider_body
from stepweave.services.files import told_paths
from stepweave.services.memory import RunMemory
from stepweave.services.riders import Riders
from stepweave.services.visit_work import Fenced, VisitWork
from stepweave.store.commit import Commit, Start
from stepweave.store.runs import Runs
from stepweave.store.workspace import Workspaces

HAND_OVER_STEPS = 2_000
"""Steps after which a chain goes on in a new execution: well below 25,000 history events (protocol.md, Cost)."""


@dataclass(slots=True)
class _State:
    """What was last read or committed. `certain`: every visit this visit made ready is in `started`."""

    run: Run
    visit: Visit
    joins: dict[str, Join]
    started: list[Visit]
    certain: bool


class Settling:
    def __init__(
        self,
        *,
        runs: Runs,
        chains: Chains,
        clock: Clock,
        specs: Specs,
        memory: RunMemory,
        closing: Closing,
        workspaces: Workspaces,
        flat: bool,
        bounds: Bounds,
    ) -> None:
        self._runs = runs
        self._chains = chains
        self._clock = clock
        self._specs = specs
        self._memory = memory
        self._closing = closing
        self._workspaces = workspaces
        self._flat = flat
        self._bounds = bounds

    def open(self, graph: Graph, created: Run, first: Visit, check_at: str) -> Run:
        """Starts a run and its first chain: `first`, the visit of START, ends in the transaction that makes it, and
        what cannot be settled in that one is left to the chain.

        Raises `WriteRefused` when the run is not CREATED any more, `WriteConflict`, `OutcomeUnknown`.
        """
        run = replace(created, status="RUNNING", started_at=first.started_at, visits=1, running=1)
        state = _State(run, first, {name: Join() for name in all_joins(graph)}, [], certain=True)
        decision, commit = self._prepare(graph, state, None)
        self._commit(state, replace(commit, start=Start(created, check_at)), decision, None)
        if decision.end is None:
            self._begin(state.visit, graph, state.started)
        elif state.run.closing:
            self._closing.close(run.run_id)
        return state.run

    def begin_again(self, graph: Graph, first: Visit) -> None:
        """Rule R for `open`: the first chain is started, again if need be."""
        self._begin(first, graph, self._runs.heads(first.run_id, first.outs))

    def _begin(self, first: Visit, graph: Graph, ready: list[Visit]) -> None:
        opening = first_step(first, graph, self._specs)
        following = self._go_on(opening, first.owner, graph, ready) if first.is_over else opening
        if following.kind != END:
            self._chains.start(first.owner, following.to_json())

    def end(
        self,
        step: Step,
        graph: Graph,
        work: VisitWork,
        outcome: Outcome | None,
        decided: Mapping[str, Any] | None = None,
    ) -> Step:
        """Ends the visit with `outcome`, or settles what an earlier invocation left; gives the chain's next step.
        `decided` is the planner's decision that chose the visit (AGENTIC)."""
        own = self._pack(work.visit, outcome, decided) if outcome is not None else None
        ahead = joins_ahead(graph, work.visit.node_id) if graph.mode == "DAG" else []
        state = _State(work.run, work.visit, self._runs.joins(step.run_id, ahead), [], not work.visit.outs)
        backoff = Backoff(self._clock)
        while not state.visit.is_over:
            if state.run.is_over:
                self._closing.close_visit(state.visit)
                return step.ended()
            try:
                hand_over = step.steps + 1 >= HAND_OVER_STEPS
                decision, commit = self._prepare(
                    graph, state, outcome, own=own, deltas=work.take(), hand_over=hand_over, decided=decided
                )
                self._commit(state, commit, decision, own)
            except (WriteRefused, WriteConflict, OutcomeUnknown, StaleFacts):
                backoff.wait()
                self._read_again(state, ahead)
                continue
            if decision.end is not None:
                if state.run.closing:
                    self._closing.close(step.run_id)
                return step.ended()
        if state.certain:
            return self._go_on(step, work.visit.owner, graph, state.started)
        return self.replay(step, work.visit.owner, graph, state.visit)

    def replay(self, step: Step, chain: str, graph: Graph, visit: Visit) -> Step:
        """Rule R: the visit has ended before; what it made ready is started (again), and the chain goes on."""
        return self._go_on(step, chain, graph, self._runs.heads(visit.run_id, visit.outs))

    def _go_on(self, step: Step, chain: str, graph: Graph, ready: list[Visit]) -> Step:
        following = step.ended()
        for visit in ready:
            fork = ids.forked_chain(visit.run_id, visit.visit_uuid)
            if visit.is_over:
                continue
            if visit.owner == fork:
                self._chains.start(fork, first_step(visit, graph, self._specs).to_json())
            elif visit.owner == chain:
                following = replace(first_step(visit, graph, self._specs), steps=step.steps + 1)
        return following

    def _prepare(
        self,
        graph: Graph,
        state: _State,
        outcome: Outcome | None,
        *,
        own: OwnEnd | None = None,
        deltas: tuple[Record, ...] = (),
        **known: Any,
    ) -> tuple[Decision, Commit]:
        """What follows, and the transaction for it. Raises `StaleFacts`."""
        decision = self._decide(graph, state, outcome, **known)
        moment = times.to_json(self._clock.now())
        commit = compose(
            self._runs,
            graph,
            run=state.run,
            visit=state.visit,
            decision=decision,
            own=own,
            deltas=deltas,
            moment=moment,
            check_at=self._closing.first_expiry(replace(state.run, status="SUCCESS", ended_at=moment)),
            files=self._told_files(decision, state.run.run_id),
        )
        return decision, commit

    def _decide(self, graph: Graph, state: _State, outcome: Outcome | None, **known: Any) -> Decision:
        run_id = state.run.run_id
        facts = Facts(state.run, state.visit, outcome, joins=state.joins, **known)
        follow = decide if graph.mode == "DAG" else decide_agentic
        riders = Riders(graph, self._specs, flat=self._flat)
        workspace = self._workspaces.of(run_id)
        while True:
            try:
                return follow(graph, facts, riders, self._bounds)
            except FactsMissing as missing:
                state.joins |= self._runs.joins(run_id, missing.joins)
                uuids = {
                    node_id: ids.visit_uuid(run_id, node_id, state.visit.latest(graph.order[node_id]))
                    for node_id in missing.bodies
                }
                found = self._memory.bodies(run_id, list(uuids.values()))
                if len(found) < len(uuids):  # whatever leads here left something; its commit is becoming visible
                    raise StaleFacts from missing
                facts = replace(
                    facts,
                    joins=state.joins,
                    bodies={**facts.bodies, **{node_id: found[uuid] for node_id, uuid in uuids.items()}},
                    files={**facts.files, **{path: path in workspace for path in missing.files}},
                    inputs=self._memory.inputs(run_id) if missing.inputs else facts.inputs,
                )

    def _told_files(self, decision: Decision, run_id: str) -> list[str]:
        """What a successful run has made; the listing is read only then."""
        if decision.end is None or decision.end.status != "SUCCESS":
            return []
        return told_paths(self._workspaces.of(run_id).paths())

    def _commit(self, state: _State, commit: Commit, decision: Decision, own: OwnEnd | None) -> None:
        visit = state.visit
        state.run = self._runs.commit(commit)
        state.visit = commit.visit_after
        state.joins = {}
        ready = len(decision.started)
        state.started += commit.created[len(commit.created) - ready :]
        if decision.status is not None and own is not None:
            self._memory.remember(visit.run_id, visit.visit_uuid, own.body)
        for made, ended in zip(commit.created, decision.ended, strict=False):
            if ended.outcome is not None:
                assert made.ended_at is not None, "a rider ends in the commit that makes it"
                self._memory.remember(visit.run_id, made.visit_uuid, rider_body(ended, made.ended_at))

    def _read_again(self, state: _State, ahead: list[str]) -> None:
        """After a lost commit nothing is assumed: all that the decision used is read anew."""
        before = state.visit
        run, visit, joins = self._runs.read(before.run_id, before.visit_uuid, ahead)
        if not visit.is_over and (visit.owner != before.owner or visit.attempt != before.attempt):
            raise Fenced(visit)
        if visit.status != before.status or visit.outs != before.outs or visit.pending != before.pending:
            state.certain = False
        state.run, state.visit, state.joins = run, visit, joins

    def _pack(self, visit: Visit, outcome: Outcome, decided: Mapping[str, Any] | None) -> OwnEnd:
        body = body_of(outcome, times.to_json(self._clock.now()), decided)
        return OwnEnd(body, self._runs.pack_body(visit.run_id, visit.visit_uuid, visit.attempt, body))


def first_step(visit: Visit, graph: Graph, specs: Specs) -> Step:
    """The step that does a visit; a run's START is done by `flow`, like every light node."""
    if visit.is_hidden:
        kind = "planner" if visit.node_id == PLANNER else "flow"
        return Step(visit.run_id, visit.visit_uuid, visit.node_id, kind)
    spec = specs(graph.nodes[visit.node_id].type)
    assert spec is not None, "a saved definition has known node types only"
    return Step(visit.run_id, visit.visit_uuid, visit.node_id, spec.chain)
