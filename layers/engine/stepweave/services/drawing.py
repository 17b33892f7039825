"""The drawing of a run's version for people who look at the run: names, places and edges, never prompts or scripts."""

import math
from typing import Any

from stepweave.execution.run import Run
from stepweave.graph.model import Node
from stepweave.graph.topology import Graph
from stepweave.services.results import summary
from stepweave.store.workflows import Workflows


class Drawings:
    def __init__(self, workflows: Workflows) -> None:
        self._workflows = workflows

    def of(self, run: Run) -> dict[str, Any]:
        """The run as lists show it, with `title`, `mode`, `nodes[{id, type, label, position}]` and
        `edges[{source, target, sourceHandle}]`.

        `position` is `{x, y}`, or null where the definition gives none; so it is for the node beside the palette.
        """
        graph = self._workflows.graph(run.workflow, run.version)
        workflow = self._workflows.find(run.workflow)
        title = workflow.title if workflow is not None else None
        return summary(run) | {"title": title, "mode": graph.mode} | drawing_of(graph)


def drawing_of(graph: Graph) -> dict[str, Any]:
    return {
        "nodes": [
            {"id": node.id, "type": node.type, "label": node.label, "position": _position(node)}
            for node in graph.nodes.values()
        ],
        "edges": [{"source": edge.source, "target": edge.target, "sourceHandle": edge.handle} for edge in graph.edges],
    }


def _position(node: Node) -> dict[str, float] | None:
    """Editors write it and the engine keeps it unread, so it may be anything."""
    place = (node.model_extra or {}).get("position")
    if not isinstance(place, dict):
        return None
    x, y = _coordinate(place.get("x")), _coordinate(place.get("y"))
    return {"x": x, "y": y} if x is not None and y is not None else None


def _coordinate(value: Any) -> float | None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return value if is_number and math.isfinite(value) else None
