"""How light nodes ride along with a decision (architecture.md): run from what is known, never reading by themselves."""

from collections.abc import Callable, Mapping
from typing import Any

from stepweave.execution.ledger import Ledger
from stepweave.execution.outcome import Outcome
from stepweave.execution.view import View
from stepweave.execution.visit import VisitBody
from stepweave.graph.model import Node
from stepweave.graph.spec import Specs
from stepweave.graph.topology import Graph
from stepweave.scheduling.decision import Facts, FactsMissing
from stepweave.store import heads
from stepweave.store.documents import weigh


class Riders:
    """`Rides` (scheduling) over the node table."""

    def __init__(self, graph: Graph, specs: Specs, *, flat: bool) -> None:
        self._graph = graph
        self._specs = specs
        self._flat = flat

    def is_light(self, node: Node) -> bool:
        return bool(self._spec(node).light)

    def has_branches(self, node: Node) -> bool:
        return self._spec(node).handles(node) is not None

    def run(
        self, node: Node, reach: int, body: Callable[[str], VisitBody | None], facts: Facts, ledger: Ledger = ()
    ) -> Outcome:
        if facts.inputs is None:
            raise FactsMissing(inputs=True)
        files = _KnownFiles(facts.files)
        view = View(self._graph, self._specs, facts.inputs, reach, body, files=files, flat=self._flat, ledger=ledger)
        outcome: Outcome = self._spec(node).run(node, view, facts.run.language)
        return outcome

    def else_branch(self, node: Node) -> str | None:
        branch: str | None = self._spec(node).else_branch(node) if self.has_branches(node) else None
        return branch

    def weight(self, outcome: Outcome) -> int:
        return weigh(heads.body_to_json(VisitBody(outcome.variables, outcome.envelope, outcome.logs, outcome.error)))

    def _spec(self, node: Node) -> Any:
        spec = self._specs(node.type)
        assert spec is not None, f"a saved definition has known node types only, not {node.type}"
        return spec


class _KnownFiles:
    """The run's files as far as they have been asked about."""

    def __init__(self, known: Mapping[str, bool]) -> None:
        self._known = known

    def __contains__(self, path: object) -> bool:
        name = str(path)
        if name not in self._known:
            raise FactsMissing(files=frozenset([name]))
        return self._known[name]
