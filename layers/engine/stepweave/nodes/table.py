"""The node types: one module and one line each (contract §2). A module is imported when its type is first used."""

from functools import cache
from importlib import import_module
from typing import Any

from stepweave.graph.spec import NodeSpec

TYPES = {
    "userInput": "stepweave.nodes.user_input:UserInput",
    "llm": "stepweave.nodes.llm:Llm",
    "agent": "stepweave.nodes.agent:Agent",
    "skill": "stepweave.nodes.agent:Agent",
    "smartAction": "stepweave.nodes.smart_action:SmartAction",
    "condition": "stepweave.nodes.condition:Condition",
    "output": "stepweave.nodes.output:Output",
}


def spec_of(type_name: str) -> NodeSpec | None:
    """The node type, one instance of it for ever; None for a type that does not exist.

    Beside what the graph asks, every type has `run`: a light one takes a node, its scope and the language of the run's
    texts, any other takes its working conditions (`execution.work`) in place of the language.
    """
    return _load(type_name) if type_name in TYPES else None


@cache
def _load(type_name: str) -> Any:
    module, _, name = TYPES[type_name].partition(":")
    return getattr(import_module(module), name)()
