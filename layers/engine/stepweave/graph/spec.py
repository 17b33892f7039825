"""What a node type tells the graph about itself, without the graph importing it (the types live in package `nodes`)."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from stepweave.graph.model import Node
    from stepweave.graph.problem import Problem


@dataclass(frozen=True, slots=True)
class Field:
    """One declared variable: of a `userInput`, or among the outputs of a node. `type` is one of contract §2."""

    name: str
    type: str = "string"
    required: bool = False
    default: Any = None
    description: str = ""


class NodeSpec(Protocol):
    """One node type. Its methods take a node with *any* JSON in its data, valid or not, and never raise."""

    @property
    def light(self) -> bool:
        """Pure and quick: rides along in the invocation that made it ready (architecture, "light nodes ride along")."""
        ...

    @property
    def chain(self) -> str:
        """The kind of step in the state machine: `flow` for light nodes, else that of its function."""
        ...

    def problems(self, node: "Node") -> "list[Problem]":
        """What is wrong with the data that is special to the type; the common data is checked by the graph."""
        ...

    def outputs(self, node: "Node") -> tuple[Field, ...] | None:
        """The declared output variables; None where they are known only when the node has run."""
        ...

    def handles(self, node: "Node") -> tuple[str, ...] | None:
        """The `sourceHandle`s that edges out of the node choose among; None: the type has none, they are ignored."""
        ...


Specs = Callable[[str], NodeSpec | None]
"""The node types by name; None for a type that does not exist."""
