"""What lies before a visit in AGENTIC mode: the nodes visited so far, how often, and in which order.

It grows with the drawing and not with the run, so that a visit costs the same however long the run is (law 6).
"""

Ledger = tuple[tuple[int, int], ...]
"""Each node that was visited, by its place in `graphData.nodes`, with the number of its visits; the one visited last
comes first."""


def count(ledger: Ledger, position: int) -> int:
    """How often a node was visited."""
    return dict(ledger).get(position, 0)


def total(ledger: Ledger) -> int:
    """All visits so far."""
    return sum(visits for _, visits in ledger)


def mask(ledger: Ledger) -> int:
    """The nodes as a bit mask over `graphData.nodes`."""
    return sum(1 << position for position, _ in ledger)


def after(ledger: Ledger, position: int) -> Ledger:
    """The ledger after one more visit of a node."""
    others = tuple(entry for entry in ledger if entry[0] != position)
    return ((position, count(ledger, position) + 1), *others)
