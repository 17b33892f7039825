"""Creating runs (contract §4), and looking at them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from stepweave import clock as times
from stepweave import ids
from stepweave.clock import Clock
from stepweave.errors import (
    IdempotencyConflict,
    RunNotFound,
    Unavailable,
    WorkflowNotFound,
)
from stepweave.execution.callback import Callback, NewCallback
from stepweave.execution.run import FailStrategy, Run
from stepweave.graph.topology import Graph
from stepweave.items import Item, OutcomeUnknown, Write, WriteConflict, WriteRefused
from stepweave.services.backoff import Backoff
from stepweave.store.callbacks import callback_of
from stepweave.store.idempotency import Once, reservation
from stepweave.store.runs import Runs
from stepweave.store.workflows import Workflow, Workflows
from stepweave.texts import Language, Text


@dataclass(frozen=True, slots=True)
class NewRun:
    """What a client asks for: `inputs` are the run's initial inputs."""

    inputs: Mapping[str, Any]
    language: Language
    fail_strategy: FailStrategy | None = None
    ttl_hours: float | None = None
    callback: NewCallback | None = None


class RunService:
    def __init__(
        self,
        runs: Runs,
        workflows: Workflows,
        clock: Clock,
        records_kept: timedelta,
        new_run_id: Callable[[], str] = ids.new_run_id,
    ) -> None:
        self._records_kept = records_kept
        self._runs = runs
        self._workflows = workflows
        self._clock = clock
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
                calls_back=new.callback is not None,
            )
            also: list[Write] = []
            if new.callback is not None:
                asked = new.callback
                also.append(callback_of(Callback(run.run_id, asked.url, asked.key_id, ids.new_delivery_id())))
            reserved = reservation(once, run.run_id, now) if once is not None else None
            if reserved is not None:
                also.append(reserved)
            try:
                self._runs.create(run, new.inputs, also)
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
        """Raises `RunNotFound` from the moment when its records expire, whether the sweep has been there or not."""
        run = self._runs.get(run_id)
        expiry = run.records_expire_at(self._records_kept) if run is not None else None
        if run is None or (expiry is not None and expiry <= self._clock.now()):
            raise RunNotFound(Text(f"运行 {run_id} 不存在或已过期", f"there is no run {run_id}, or it has expired"))
        return run

    def graph(self, run: Run) -> Graph:
        return self._workflows.graph(run.workflow, run.version)
