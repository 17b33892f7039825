"""What one node may see of its run (contract §3): the initial inputs, and earlier nodes for as long as it refers to them."""

from collections.abc import Container, Mapping, Sequence
from typing import Any, Protocol

SECTIONS = frozenset({"_runtime", "_memory", "_git"})
"""Names reserved for executors: no template and no mapping reaches them (contract §3)."""


class Scope(Protocol):
    """The world of one visit. Everything about earlier nodes is lazy: what nothing refers to is never read."""

    @property
    def inputs(self) -> Mapping[str, Any]:
        """The run's initial inputs."""
        ...

    @property
    def files(self) -> Container[str] | None:
        """The run's files, by their paths; asking about one may read the store. None: not known here."""
        ...

    @property
    def flat(self) -> bool:
        """Whether `{nodeId}__{var}` of every predecessor is spread into a node's variables, as of old."""
        ...

    def predecessors(self) -> Sequence[str]:
        """The nodes that lead here over live edges, nearest first; costs no read."""
        ...

    def envelope(self, node_id: str) -> Mapping[str, Any] | None:
        """What a visible node left behind, by its latest visit; None for any other node. May read the store."""
        ...

    def declared(self, node_id: str) -> frozenset[str] | None:
        """The names of the node's output variables as the graph has them; None: known only by reading it."""
        ...


def open_to_nodes(values: Any) -> Mapping[str, Any]:
    """The entries that a node may refer to; anything that is not an object has none."""
    if not isinstance(values, Mapping):
        return {}
    if SECTIONS.isdisjoint(values):
        return values
    return {name: value for name, value in values.items() if name not in SECTIONS}
