"""The output of a whole run: what its `output` nodes gave, merged in the order of `graphData` (contract §2)."""

from collections.abc import Mapping
from typing import Any

from stepweave import ids
from stepweave.execution.envelope import Envelope, data_of, success
from stepweave.execution.outcome import COMPLETED
from stepweave.execution.run import Run
from stepweave.graph.model import OUTPUT
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
        uuids = [ids.visit_uuid(run.run_id, node.id, 1) for node in graph.nodes.values() if node.type == OUTPUT]
        heads = self._runs.visible_heads(run.run_id, uuids)
        live = [visit_uuid for visit_uuid in uuids if visit_uuid in heads and not heads[visit_uuid].dead]
        bodies = self._memory.bodies(run.run_id, live)
        if len(heads) < len(uuids) or len(bodies) < len(live):
            return None
        return merged([bodies[visit_uuid].output for visit_uuid in live], run.language)


def merged(envelopes: list[Mapping[str, Any]], language: Language) -> Envelope:
    """No live output node gives an empty `data`."""
    data: dict[str, Any] = {}
    for envelope in envelopes:
        data |= data_of(envelope)
    return success(COMPLETED.to(language), data)
