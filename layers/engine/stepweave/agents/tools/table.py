"""The tools that a node may name in `tools[]`: one module and one line each, imported when first used."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from stepweave.agents.tools.lent import Lent
    from stepweave.agents.tools.toolbox import Tool

TOOLS = {
    "todo": "stepweave.agents.tools.todo:todo_tool",
    "list_files": "stepweave.agents.tools.list_files:list_files_tool",
    "read_file": "stepweave.agents.tools.read_file:read_file_tool",
    "write_file": "stepweave.agents.tools.write_file:write_file_tool",
    "http_get": "stepweave.agents.tools.http_get:http_get_tool",
}

ALWAYS = frozenset({"clarify"})
"""There for every agent; naming them changes nothing."""


def make_tool(name: str, lent: "Lent") -> "Tool":
    module, _, function = TOOLS[name].partition(":")
    tool: Tool = getattr(import_module(module), function)(lent)
    return tool
