"""The node table with the types that only benchmarks need."""

from effect import Effect
from streaming import Streaming

from stepweave.graph.spec import NodeSpec
from stepweave.nodes.table import spec_of

_TYPES: dict[str, NodeSpec] = {"effect": Effect(), "stream": Streaming()}


def specs(type_name: str) -> NodeSpec | None:
    return _TYPES.get(type_name) or spec_of(type_name)
