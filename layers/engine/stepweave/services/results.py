"""What a run has come to, as the API tells it (contract §4): result, summary, state, outputs and logs of nodes."""

from collections.abc import Mapping, Sequence
from typing import Any

from stepweave.clock import Clock
from stepweave.errors import NodeNotFound
from stepweave.execution.envelope import Envelope, failure
from stepweave.execution.pause import Pause
from stepweave.execution.run import Run
from stepweave.execution.visit import Visit
from stepweave.graph.topology import Graph
from stepweave.services.asks import Asks
from stepweave.services.backoff import Backoff
from stepweave.services.files import Files
from stepweave.services.links import RunLinks
from stepweave.services.memory import RunMemory
from stepweave.services.node_results import node_results, visit_end, visits_of
from stepweave.services.outputs import Outputs
from stepweave.services.wire import ANSWER_BYTES, OUTPUT_BYTES, size
from stepweave.store.runs import Runs
from stepweave.store.workflows import Workflows
from stepweave.texts import Text

_UNSEEN_TRIES = 10
_DETAIL_CHARACTERS = 250_000


class RunResults:
    def __init__(
        self,
        *,
        runs: Runs,
        workflows: Workflows,
        memory: RunMemory,
        outputs: Outputs,
        asks: Asks,
        files: Files,
        clock: Clock,
    ) -> None:
        self._runs = runs
        self._workflows = workflows
        self._memory = memory
        self._outputs = outputs
        self._asks = asks
        self._files = files
        self._clock = clock

    def result(self, run: Run) -> dict[str, Any]:
        """The whole result, under the bounds of an answer: what is too large stands behind an `outputUrl`."""
        told = self.brief(run)
        room = ANSWER_BYTES - size(told)
        visits = self._runs.visits(run.run_id)
        nodes, omitted = node_results(run, self._graph(run), visits, self._memory, room)
        return told | {"nodes": nodes} | ({"nodesOmitted": omitted} if omitted else {})

    def brief(self, run: Run) -> dict[str, Any]:
        """The result without its nodes."""
        links = RunLinks.of(run)
        outputs = self.outputs(run)
        told = summary(run) | {
            "outputs": outputs,
            "workspace": {**self._files.summary(run), "downloadUrl": links.workspace},
        }
        if size(outputs) > OUTPUT_BYTES:
            told |= {"outputs": None, "outputUrl": links.output}
        return told

    def state(self, run: Run) -> dict[str, Any]:
        """`currentPause` is the newest open question, `pauses` are all of them, the newest first."""
        pauses = [_pause(pause) for pause in self._asks.open(run.run_id)] if run.status == "RUNNING" else []
        return {
            "runId": run.run_id,
            "status": run.status,
            "currentPause": pauses[0] if pauses else None,
            "pauses": pauses,
        }

    def outputs(self, run: Run) -> Envelope | None:
        """The run's envelope; None until it has ended."""
        if run.status == "FAILED":
            return failure(run.error or "")
        if run.status != "SUCCESS":
            return None
        backoff = Backoff(self._clock)
        for _ in range(_UNSEEN_TRIES):
            output = self._outputs.of(run, self._graph(run))
            if output is not None:
                return output
            backoff.wait()  # the commit that ended the run is still becoming visible
        return None

    def node_output(self, run: Run, node_id: str, visit_uuid: str | None) -> tuple[str, Envelope | None]:
        """A visit of the node, its latest by default, and what it gave, whatever its size; None until it has ended."""
        visits = self._visits(run, node_id)
        wanted = [visit for visit in visits if visit_uuid is None or visit.visit_uuid == visit_uuid]
        if not wanted:
            raise NodeNotFound(
                Text(
                    f"节点 {node_id} 在运行 {run.run_id} 中没有这次执行",
                    f"node {node_id} has no such visit in run {run.run_id}",
                )
            )
        visit = wanted[-1]
        body = self._memory.body(run.run_id, visit.visit_uuid)
        return visit.visit_uuid, visit_end(run, visit, body).output

    def node_logs(self, run: Run, node_id: str, visit_uuid: str | None) -> dict[str, Any]:
        """The log of a node's visits, oldest entry first; of more than an answer holds, the newest entries."""
        visits = [visit for visit in self._visits(run, node_id) if visit_uuid in (None, visit.visit_uuid)]
        entries: list[dict[str, Any]] = []
        room = ANSWER_BYTES
        omitted = 0
        for visit in reversed(visits):
            body = self._memory.body(run.run_id, visit.visit_uuid)
            for entry in reversed(body.logs if body is not None else ()):
                shown = _log_entry(entry, visit.visit_uuid)
                room -= size(shown) + 1
                if room >= 0:
                    entries.append(shown)
                else:
                    omitted += 1
        told: dict[str, Any] = {"nodeId": node_id, "logs": entries[::-1]}
        return told | ({"omitted": omitted} if omitted else {})

    def _graph(self, run: Run) -> Graph:
        return self._workflows.graph(run.workflow, run.version)

    def _visits(self, run: Run, node_id: str) -> Sequence[Visit]:
        """Raises `NodeNotFound` for a node that the run's version does not have."""
        if node_id not in self._graph(run).nodes:
            raise NodeNotFound(
                Text(f"工作流 {run.workflow} 没有节点 {node_id}", f"workflow {run.workflow} has no node {node_id}")
            )
        return visits_of(self._runs.visits(run.run_id)).get(node_id, [])


def summary(run: Run) -> dict[str, Any]:
    """What lists show of a run."""
    return {
        "runId": run.run_id,
        "workflowId": run.workflow_id,
        "workflow": run.workflow,
        "version": run.version,
        "status": run.status,
        "createdAt": run.created_at,
        "startedAt": run.started_at,
        "completedAt": run.ended_at,
        "error": run.error,
        "failedNodeId": run.failed_node,
    }


def _pause(pause: Pause) -> dict[str, Any]:
    """The one place where a time has no zone suffix (contract §1)."""
    return pause.question.data(pause.clarify_id) | {
        "nodeId": pause.node_id,
        "visitUuid": pause.visit_uuid,
        "choices": pause.question.choices(),
        "createdAt": pause.created_at.removesuffix("Z"),
    }


def _log_entry(entry: Mapping[str, Any], visit_uuid: str) -> dict[str, Any]:
    shown = {**entry, "visitUuid": visit_uuid}
    for name in ("message", "detail"):
        if isinstance(shown.get(name), str) and len(shown[name]) > _DETAIL_CHARACTERS:
            shown |= {name: shown[name][:_DETAIL_CHARACTERS], "truncated": True}
    return shown
