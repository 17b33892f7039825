"""The node types: one module and one line each (contract §2). A module is imported when its type is first used."""

from functools import cache
from importlib import import_module
from typing import Any, Protocol

from stepweave.execution.outcome import Outcome
from stepweave.expressions.scope import Scope
from stepweave.graph.model import Node
from stepweave.graph.spec import NodeSpec
from stepweave.texts import Language

TYPES = {
    "userInput": "stepweave.nodes.user_input:UserInput",
    "llm": "stepweave.nodes.llm:Llm",
    "condition": "stepweave.nodes.condition:Condition",
    "output": "stepweave.nodes.output:Output",
}


class LightNode(NodeSpec, Protocol):
    """A pure node type: the same scope gives the same outcome, so it may run again at any time."""

    def run(self, node: Node, scope: Scope, language: Language) -> Outcome:
        """Texts that are stored (the message, an error, log entries) are in `language`."""
        ...


def spec_of(type_name: str) -> NodeSpec | None:
    """The node type as the graph knows it; None for a type that does not exist."""
    return _load(type_name) if type_name in TYPES else None


def light_node(type_name: str) -> LightNode:
    """A node type that `spec_of` tells to be light, ready to run."""
    node: LightNode = _load(type_name)
    assert node.light, f"{type_name} is not light"
    return node


@cache
def _load(type_name: str) -> Any:
    module, _, name = TYPES[type_name].partition(":")
    return getattr(import_module(module), name)()
