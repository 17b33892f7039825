"""One drawn arrow between two nodes, as data."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Edge:
    """`index` is its place in `graphData.edges` and its identity: two handles may lead to one node (protocol §1)."""

    index: int
    source: str
    target: str
    handle: str | None = None
