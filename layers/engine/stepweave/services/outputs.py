"""The output of a whole run: what its `output` nodes gave, merged in the order of `graphData` (contract §2)."""

from collections.abc import Mapping
from typing import Any

from stepweave import ids
from stepweave.execution.envelope import Envelope, data_of, success
from stepweave.execution.outcome import COMPLETED
from stepweave.execution.run import Run
from stepweave.graph.topology import Graph
from stepweave.services.memory import RunMemory
from stepweave.store.runs import Runs
from stepweave.texts import Language


class Outputs:
    """Derived when asked for, never stored: the visits of the output nodes hold it already."""

    def __init__(self, runs: Runs, memory: RunMemory) -> None:
        self._runs = runs
        self._memory = memory

    def of(self, run: Run, graph: Graph) -> Envelope | None:
        """The envelope of a run that succeeded; None while a visit of it is still becoming visible."""
        live = self._live(run, graph)
        if live is None:
            return None
        bodies = self._memory.bodies(run.run_id, live)
        if len(bodies) < len(live):
            return None
        return merged([bodies[visit_uuid].output for visit_uuid in live], run.language)

    def _live(self, run: Run, graph: Graph) -> list[str] | None:
        """The visits that gave the output, in the order of `graphData`; None while not all can be seen."""
        if graph.mode == "AGENTIC":
            return self._visited(run, graph)
        uuids = [ids.visit_uuid(run.run_id, node_id, 1) for node_id in graph.outputs]
        heads = self._runs.visible_heads(run.run_id, uuids)
        if len(heads) < len(uuids):
            return None
        return [visit_uuid for visit_uuid in uuids if not heads[visit_uuid].dead]

    def _visited(self, run: Run, graph: Graph) -> list[str] | None:
        """AGENTIC: an `output` that gave something ended the run; one that failed before may have been passed over.

        The count of visits is the run's once its end can be seen, which may be after its last event can.
        """
        visits = self._runs.visits(run.run_id)
        if not run.is_over or len(visits) < run.visits:
            return None
        ended = [visit for visit in visits if visit.node_id in graph.outputs and visit.status == "SUCCESS"]
        return [visit.visit_uuid for visit in sorted(ended, key=lambda visit: graph.order[visit.node_id])]


def merged(envelopes: list[Mapping[str, Any]], language: Language) -> Envelope:
    """No live output node gives an empty `data`."""
    data: dict[str, Any] = {}
    for envelope in envelopes:
        data |= data_of(envelope)
    return success(COMPLETED.to(language), data)
