"""The node that an AGENTIC workflow has beside those drawn, where `allowOffCanvas` lets its planner give instructions."""

from collections.abc import Container

from stepweave.graph.model import Node, Planner

OFF_CANVAS = "off-canvas"
_LABEL = "画布外任务 (off-canvas)"
_SAYS_IT = [[{"text": "$prompt"}]]
"""What a scripted model does with an instruction for which it has no script (contract §8)."""

_TOOLS = ("todo", "list_files", "read_file", "write_file")


def off_canvas_node(planner: Planner, taken: Container[str]) -> Node:
    """A `smartAction` with the planner's model and the tools of the run's own files: nothing that a planner writes
    reaches a network. Its `instruction` is the planner's, with each visit another one."""
    node_id = OFF_CANVAS
    number = 1
    while node_id in taken:
        number += 1
        node_id = f"{OFF_CANVAS}-{number}"
    return Node(
        id=node_id,
        type="smartAction",
        data={"label": _LABEL, "model": planner.model, "tools": list(_TOOLS), "instruction": ""},
    )


def instructed(node: Node, instruction: str, script: object) -> Node:
    """The node as one visit runs it. The instruction is the planner's words, not a template."""
    data = {**node.data, "instruction": instruction.replace("{{", "\\{{")}
    return node.model_copy(update={"data": {**data, "script": _SAYS_IT if script is None else script}})
