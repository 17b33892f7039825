"""What nodes that call a model have in common in their data, and in their validation."""

from typing import Any

from stepweave.agents.models import is_scripted, model_problem
from stepweave.agents.script import script_problems
from stepweave.graph.model import Node, Planner
from stepweave.graph.shape import Fault
from stepweave.texts import Text

NO_PROMPT = Text("用户提示词为空", "the user prompt is empty")
NO_ANSWER = Text("LLM 返回空结果", "the LLM gave an empty answer")


def model_faults(node: Node) -> list[Fault]:
    """A `model` that names none, a `script` that cannot be played; paths count from the node's data."""
    return _faults(node.data.get("model"), node.data.get("script"))


def planner_faults(planner: Planner) -> list[Fault]:
    """The same of a planner; paths count from it."""
    return _faults(planner.model, planner.script)


def _faults(model: Any, script: Any) -> list[Fault]:
    if isinstance(model, str) and (problem := model_problem(model)):
        return [Fault(("model",), problem)]
    if is_scripted(model):
        return [fault.below("script") for fault in script_problems(script)]
    return []
