"""Creating and starting runs (contract §4), and looking at them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from stepweave import clock as times
from stepweave import ids
from stepweave.clock import Clock
from stepweave.errors import (
    IdempotencyConflict,
    RunAlreadyStarted,
    RunNotFound,
    Unavailable,
    ValidationFailed,
    WorkflowNotFound,
)
from stepweave.execution.run import FailStrategy, Run
from stepweave.execution.step import Step
from stepweave.execution.visit import START, Visit
from stepweave.graph.topology import Graph
from stepweave.items import Item, OutcomeUnknown, WriteConflict, WriteRefused
from stepweave.nodes.user_input import input_problems
from stepweave.ports import Chains
from stepweave.services.backoff import Backoff
from stepweave.store.idempotency import Once, reservation
from stepweave.store.runs import Runs
from stepweave.store.workflows import Workflow, Workflows
from stepweave.store.workspace import Workspaces
from stepweave.texts import Language, Text

FIRST_CHECK = timedelta(seconds=90)
"""When the sweep first looks whether a started run is still driven."""


@dataclass(frozen=True, slots=True)
class NewRun:
    """What a client asks for: `inputs` are the run's initial inputs."""

    inputs: Mapping[str, Any]
    language: Language
    fail_strategy: FailStrategy | None = None
    ttl_hours: float | None = None


class RunService:
    def __init__(
        self,
        runs: Runs,
        workflows: Workflows,
        chains: Chains,
        clock: Clock,
        workspaces: Workspaces,
        new_run_id: Callable[[], str] = ids.new_run_id,
    ) -> None:
        self._runs = runs
        self._workflows = workflows
        self._chains = chains
        self._clock = clock
        self._workspaces = workspaces
        self._new_run_id = new_run_id

    def workflow(self, name_or_number: str) -> Workflow:
        """Raises `WorkflowNotFound` also for a deleted one."""
        workflow = self._workflows.find(name_or_number)
        if workflow is None or workflow.deleted:
            raise WorkflowNotFound(Text(f"工作流 {name_or_number} 不存在", f"there is no workflow {name_or_number}"))
        return workflow

    def free_id(self) -> str:
        """An id that no run has, for a run whose files are stored before it is made."""
        while True:
            run_id = self._new_run_id()
            if self._runs.get(run_id) is None:
                return run_id

    def create(self, workflow: Workflow, new: NewRun, once: Once | None = None, *, run_id: str | None = None) -> Run:
        """A run of the latest version, which it keeps; the id is the server's (contract §1).

        With `once`, a repeated request gives the run that the first one made, as it stands by now; another request
        under the same token raises `IdempotencyConflict`. `run_id` is a `free_id`; should another run have taken it
        since, `Unavailable` is raised.
        """
        backoff = Backoff(self._clock)
        uncertain = False
        while True:
            now = self._clock.now()
            run = Run(
                run_id=run_id or self._new_run_id(),
                workflow=workflow.name,
                workflow_id=workflow.workflow_id,
                version=workflow.latest,
                status="CREATED",
                created_at=times.to_json(now),
                fail_strategy=new.fail_strategy,
                language=new.language,
                ttl_hours=new.ttl_hours,
            )
            reserved = reservation(once, run.run_id, now) if once is not None else None
            try:
                self._runs.create(run, new.inputs, [reserved] if reserved is not None else ())
                return run
            except WriteRefused as refused:
                earlier = refused.items.get(reserved.key) if reserved is not None else None
                if once is not None and earlier is not None:
                    return self._repeated(once, earlier)
                if run_id is not None and uncertain:
                    return self.get(run_id)  # the attempt whose outcome was unknown was this one
                if run_id is not None:
                    raise Unavailable(f"the id {run_id} was taken while the files of its run were stored") from refused
                # else the id is taken, and another will be free
            except WriteConflict:
                backoff.wait()
            except OutcomeUnknown:
                uncertain = True
                backoff.wait()  # at worst, under an id chosen anew, a run that nobody starts is left behind

    def _repeated(self, once: Once, earlier: Item) -> Run:
        if earlier["fingerprint"] != once.fingerprint:
            raise IdempotencyConflict(
                Text(
                    "Idempotency-Key 已用于另一个请求，请换一个值",
                    "this Idempotency-Key was used for another request: choose another value",
                )
            )
        return self.get(earlier["run"])

    def get(self, run_id: str) -> Run:
        run = self._runs.get(run_id)
        if run is None:
            raise RunNotFound(Text(f"运行 {run_id} 不存在或已过期", f"there is no run {run_id}, or it has expired"))
        return run

    def graph(self, run: Run) -> Graph:
        return self._workflows.graph(run.workflow, run.version)

    def start(self, run: Run) -> Run:
        """CREATED → RUNNING, and the first chain. Raises `ValidationFailed` for inputs that do not fit."""
        if run.status != "CREATED":
            raise _already_started(run)
        files = self._workspaces.of(run.run_id)
        problems = input_problems(self.graph(run).nodes.values(), self._runs.inputs(run.run_id), files)
        if problems:
            raise ValidationFailed(Text.join(problems))
        now = self._clock.now()
        chain = ids.first_chain(run.run_id)
        first = Visit(
            run_id=run.run_id,
            visit_uuid=ids.visit_uuid(run.run_id, START, 1),
            node_id=START,
            iteration=1,
            status="RUNNING",
            owner=chain,
            started_at=times.to_json(now),
            owned_at=times.to_json(now),
        )
        started = self._commit_start(run, first, times.to_json(now + FIRST_CHECK))
        self._chains.start(chain, Step(run.run_id, first.visit_uuid, START, "flow").to_json())
        return started

    def _commit_start(self, run: Run, first: Visit, check_at: str) -> Run:
        backoff = Backoff(self._clock)
        uncertain = False
        while True:
            try:
                return self._runs.start(run, first, check_at=check_at)
            except WriteRefused as refused:
                now = self._runs.get(run.run_id)
                if uncertain and now is not None and now.started_at == first.started_at:
                    return now  # the attempt whose outcome was unknown was this one
                raise _already_started(run) from refused
            except WriteConflict:
                backoff.wait()
            except OutcomeUnknown:
                uncertain = True
                backoff.wait()


def _already_started(run: Run) -> RunAlreadyStarted:
    return RunAlreadyStarted(
        Text(f"运行 {run.run_id} 已启动，不可重复启动", f"run {run.run_id} has been started before")
    )
