"""`todo`: the agent's own list of what is to do, shown to the person as it changes (contract §5, `todo_update`)."""

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, Field

from stepweave.agents.tools.lent import Lent
from stepweave.agents.tools.toolbox import Tool, schema_of, take

TODO = "todo"


class _Entry(BaseModel):
    text: str = Field(max_length=500)
    status: str = Field("pending", max_length=40, description="pending, in_progress or completed.")


class _List(BaseModel):
    todos: list[_Entry] = Field(max_length=100, description="The whole list, in order: it replaces the one before.")


def todo_tool(lent: Lent) -> Tool:
    async def run(arguments: Mapping[str, Any]) -> Any:
        entries = take(_List, arguments).todos
        done = sum(entry.status in {"completed", "done"} for entry in entries)
        return {"todos": len(entries), "completed": done}

    return Tool(
        name=TODO,
        description="Keeps your list of what is to do. Give the whole list whenever something of it changes.",
        schema=schema_of(_List),
        run=run,
        tell=lambda arguments: lent.todo([entry.model_dump() for entry in take(_List, arguments).todos]),
    )
