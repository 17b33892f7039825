"""Starting runs (contract §4): what follows from the inputs without an effect is settled in the transaction that starts the
run, so that the first events are there when the call answers (docs/adr)."""

from datetime import timedelta

from stepweave import clock as times
from stepweave import ids
from stepweave.clock import Clock
from stepweave.errors import RunAlreadyStarted, ValidationFailed
from stepweave.execution.run import Run
from stepweave.execution.visit import START, Visit
from stepweave.graph.topology import Graph
from stepweave.items import OutcomeUnknown, WriteConflict, WriteRefused
from stepweave.nodes.user_input import input_problems
from stepweave.services.backoff import Backoff
from stepweave.services.memory import RunMemory
from stepweave.services.settling import Settling
from stepweave.store.runs import Runs
from stepweave.store.workflows import Workflows
from stepweave.store.workspace import Workspaces
from stepweave.texts import Text

FIRST_CHECK = timedelta(seconds=90)
"""When the sweep first looks whether a started run is still driven."""


class Starting:
    def __init__(
        self,
        runs: Runs,
        workflows: Workflows,
        clock: Clock,
        memory: RunMemory,
        settling: Settling,
        workspaces: Workspaces,
    ) -> None:
        self._runs = runs
        self._workflows = workflows
        self._clock = clock
        self._memory = memory
        self._settling = settling
        self._workspaces = workspaces

    def start(self, run: Run) -> Run:
        """CREATED → RUNNING, with all that follows from the inputs without an effect, and the first chain; a run in which
        nothing else is to do has ended. Raises `ValidationFailed` for inputs that do not fit, `RunAlreadyStarted`."""
        if run.status != "CREATED":
            raise _already_started(run)
        graph = self._workflows.graph(run.workflow, run.version)
        files = self._workspaces.of(run.run_id)
        problems = input_problems(graph.nodes.values(), self._memory.inputs(run.run_id), files)
        if problems:
            raise ValidationFailed(Text.join(problems))
        now = self._clock.now()
        first = Visit(
            run_id=run.run_id,
            visit_uuid=ids.visit_uuid(run.run_id, START, 1),
            node_id=START,
            iteration=1,
            status="RUNNING",
            owner=ids.first_chain(run.run_id),
            started_at=times.to_json(now),
            owned_at=times.to_json(now),
        )
        return self._open(graph, run, first, times.to_json(now + FIRST_CHECK))

    def _open(self, graph: Graph, run: Run, first: Visit, check_at: str) -> Run:
        backoff = Backoff(self._clock)
        uncertain = False
        while True:
            try:
                return self._settling.open(graph, run, first, check_at)
            except WriteRefused as refused:
                now = self._runs.get(run.run_id)
                if not uncertain or now is None or now.started_at != first.started_at:
                    raise _already_started(run) from refused
                mine = self._runs.visit(run.run_id, first.visit_uuid)
                if mine is not None:  # the attempt whose outcome was unknown was this one
                    self._settling.begin_again(graph, mine)
                    return now
                backoff.wait()
            except WriteConflict:
                backoff.wait()
            except OutcomeUnknown:
                uncertain = True
                backoff.wait()


def _already_started(run: Run) -> RunAlreadyStarted:
    return RunAlreadyStarted(
        Text(f"运行 {run.run_id} 已启动，不可重复启动", f"run {run.run_id} has been started before")
    )
