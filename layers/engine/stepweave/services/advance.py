"""The shell around a step of a chain: begins the visit, runs its node, ends it, says how the chain goes on.

The rules named here are those of protocol.md. Any of these calls may be made twice, late, or be killed at any
instruction; only conditional commits change anything.
"""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from stepweave import ids
from stepweave.clock import Clock
from stepweave.errors import Superseded, Unavailable
from stepweave.execution.outcome import Asked, Result, Unfinished
from stepweave.execution.step import Step
from stepweave.execution.view import View
from stepweave.execution.visit import PLANNER, START, Visit, VisitBody
from stepweave.execution.work import RunEnded
from stepweave.graph.model import Node
from stepweave.graph.spec import Specs
from stepweave.graph.topology import Graph
from stepweave.items import OutcomeUnknown, WriteConflict
from stepweave.services.backoff import Backoff
from stepweave.services.closing import Closing
from stepweave.services.memory import RunMemory, left_by
from stepweave.services.planning import Plan, Planning, by_model
from stepweave.services.recovery import CLOSED, Recovery
from stepweave.services.retries import LONGEST_IN_PROCESS, Retries
from stepweave.services.settling import Settling
from stepweave.services.skills import RunSkills
from stepweave.services.visit_work import Equipment, Fenced, VisitWork
from stepweave.store.pauses import Pauses
from stepweave.store.runs import NotYours, Runs
from stepweave.store.skills import SkillStore
from stepweave.store.workflows import Workflows
from stepweave.store.workspace import Workspaces
from stepweave.texts import Text

_UNSEEN_TRIES = 12
_AGAIN = Text(
    "执行进程中断，节点从头重新执行", "the process that ran the node was lost: it runs again from its beginning"
)


class Advance:
    """`equipment` is lent to the nodes; `memory` outlives the call in a warm process; `flat` is the setting
    `workflow.workspace.legacy-flat-inject`."""

    def __init__(
        self,
        *,
        runs: Runs,
        workflows: Workflows,
        clock: Clock,
        specs: Specs,
        memory: RunMemory,
        closing: Closing,
        settling: Settling,
        pauses: Pauses,
        equipment: Equipment,
        workspaces: Workspaces,
        skills: SkillStore,
        flat: bool = False,
        plan: Plan = by_model,
    ) -> None:
        self._runs = runs
        self._workflows = workflows
        self._clock = clock
        self._specs = specs
        self._memory = memory
        self._closing = closing
        self._pauses = pauses
        self._equipment = equipment
        self._workspaces = workspaces
        self._skills = skills
        self._flat = flat
        self._settling = settling
        self._retries = Retries(runs)
        self._recovery = Recovery(runs, pauses, specs, self._retries)
        self._planning = Planning(specs, self._left_by, plan)

    def step(self, step: Step, chain: str, remaining: Callable[[], float]) -> Step:
        """Does one step of a chain and gives the next one. Raises `Superseded`, `Unavailable`: call the step again.

        `remaining` gives the seconds until the platform ends this process.
        """
        return self._do(step, chain, remaining, None)

    def recover(self, step: Step, chain: str, reason: Text) -> Step:
        """Rule V: the platform gave up on a step; its visit fails by its fail strategy, or is settled or replayed."""
        return self._do(step, chain, lambda: math.inf, reason)

    def _do(self, step: Step, chain: str, remaining: Callable[[], float], reason: Text | None) -> Step:
        run = self._runs.get(step.run_id)
        if run is None:
            return step.ended()
        graph = self._workflows.graph(run.workflow, run.version)
        try:
            visit = self._begin(step, chain)
            work = VisitWork(
                self._runs,
                self._clock,
                run,
                visit,
                equipment=self._equipment,
                workspace=self._workspaces.of(run.run_id),
                skills=RunSkills(self._skills, run.started_at or run.created_at),
                remaining=remaining,
            )
            return self._work(step, graph, work, reason)
        except Fenced as fenced:
            return self._fenced(step, chain, graph, fenced.visit)

    def _begin(self, step: Step, chain: str) -> Visit:
        """Rule B. Raises `Fenced` when there is nothing to begin."""
        backoff = Backoff(self._clock)
        for _ in range(_UNSEEN_TRIES):
            try:
                return self._runs.begin(step.run_id, step.visit_uuid, chain)
            except NotYours as refused:
                if refused.visit is not None:
                    raise Fenced(refused.visit) from refused
                # made by a commit that is still becoming visible
            except (WriteConflict, OutcomeUnknown):
                pass  # a second begin only counts one attempt more
            backoff.wait()
        raise Unavailable(f"visit {step.visit_uuid} of run {step.run_id} cannot be begun")

    def _fenced(self, step: Step, chain: str, graph: Graph, visit: Visit) -> Step:
        """Rule F: over → replay; another's → the chain ends; the own twin → the platform must ask again."""
        if visit.is_over:
            return self._settling.replay(step, chain, graph, visit)
        if visit.owner != chain:
            return step.ended()
        raise Superseded(f"visit {visit.visit_uuid} was begun again by another invocation of the same step")

    def _work(self, step: Step, graph: Graph, work: VisitWork, reason: Text | None) -> Step:
        if work.visit.status != "RUNNING" or work.visit.node_id == START:
            return self._settling.end(step, graph, work, None)
        try:
            if not work.run.is_over:
                return self._work_node(step, graph, work, reason)
        except RunEnded:
            pass  # aborted or cancelled meanwhile: what was done does not count
        self._closing.close_visit(work.visit)
        return step.ended()

    def _work_node(self, step: Step, graph: Graph, work: VisitWork, reason: Text | None) -> Step:
        decided = self._planning.decided(graph, work.visit)
        node = self._planning.node(graph, work.visit, decided)
        waiting = work.visit.waiting
        pause = self._pauses.get(step.run_id, waiting) if waiting is not None and reason is None else None
        if pause is not None and pause.status == "CLOSED":
            reason = CLOSED
        if reason is not None:
            return self._settling.end(step, graph, work, self._recovery.fail(node, work, reason), decided)
        if waiting is not None:
            if pause is None or pause.status == "OPEN":
                return step.asking()  # not visible yet is as good as open: `Asks.sleep` looks again
            work.take_answer(pause)
        if work.visit.chunk and work.saved is None and not work.tries:
            work.emit("status", _AGAIN.to(work.language))  # an earlier invocation died after it had streamed something
        while True:
            result = self._result(graph, node, work)
            match result:
                case Asked():
                    work.ask(result, step.kind)
                    return step.asking()
                case Unfinished(state):
                    work.save(state)
                    return replace(step, steps=step.steps + 1)
            delay = self._retries.again(node, result, work)
            if delay is None:
                return self._settling.end(step, graph, work, self._retries.whole(result, work), decided)
            if delay > LONGEST_IN_PROCESS:
                return step.later(math.ceil(delay))
            self._clock.sleep(delay)

    def _result(self, graph: Graph, node: Node, work: VisitWork) -> Result:
        visit = work.visit

        def body(node_id: str) -> VisitBody:
            iteration = visit.latest(graph.order[node_id])
            return self._left_by(visit.run_id, ids.visit_uuid(visit.run_id, node_id, iteration))

        inputs = self._memory.inputs(visit.run_id)
        view = View(
            graph,
            self._specs,
            inputs,
            visit.reach,
            body,
            files=work.workspace,
            flat=self._flat,
            ledger=visit.ledger,
        )
        if visit.node_id == PLANNER:
            return self._planning.plan(graph, view, visit, work)
        spec: Any = self._specs(node.type)
        result: Result = spec.run(node, view, work.language if spec.light else work)
        return result

    def _left_by(self, run_id: str, visit_uuid: str) -> VisitBody:
        return left_by(self._memory, self._clock, run_id, visit_uuid, tries=_UNSEEN_TRIES)
