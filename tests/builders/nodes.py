"""Nodes of the canvas, written down."""

from typing import Any

from stepweave.graph.model import Node


def node(type_name: str, node_id: str = "here", **data: Any) -> Node:
    """A node of that type; keyword arguments are its `data`, as the definition has them (camelCase)."""
    return Node.model_validate({"id": node_id, "type": type_name, "data": data})
