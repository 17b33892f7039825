"""A `Scope` that is written down, and that remembers what was read of it."""

from collections.abc import Container, Mapping, Sequence
from typing import Any


class WrittenScope:
    """`nodes`: nearest first, each id with its envelope or, shorter, only its `data`. Every node declares the names
    of its data, unless `undeclared` holds it or `declares` says otherwise. `reads` lists the envelopes asked for.
    """

    def __init__(
        self,
        nodes: Mapping[str, Mapping[str, Any]] | None = None,
        inputs: Mapping[str, Any] | None = None,
        *,
        undeclared: Sequence[str] = (),
        declares: Mapping[str, Sequence[str]] | None = None,
        files: Container[str] | None = None,
        flat: bool = False,
    ) -> None:
        self.files = files
        self.flat = flat
        self._envelopes = {node_id: self._envelope(content) for node_id, content in (nodes or {}).items()}
        self._declared = {
            node_id: None if node_id in undeclared else frozenset(envelope["data"])
            for node_id, envelope in self._envelopes.items()
        }
        self._declared |= {node_id: frozenset(names) for node_id, names in (declares or {}).items()}
        self._inputs = inputs or {}
        self.reads: list[str] = []

    @property
    def inputs(self) -> Mapping[str, Any]:
        return self._inputs

    def predecessors(self) -> Sequence[str]:
        return tuple(self._envelopes)

    def envelope(self, node_id: str) -> Mapping[str, Any] | None:
        self.reads.append(node_id)
        return self._envelopes.get(node_id)

    def declared(self, node_id: str) -> frozenset[str] | None:
        return self._declared[node_id]

    @staticmethod
    def _envelope(content: Mapping[str, Any]) -> Mapping[str, Any]:
        if "status" in content and "data" in content:
            return content
        return {"status": 200, "message": "ok", "data": dict(content)}
