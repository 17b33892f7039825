"""`write_file`: writes a text file of the run's workspace."""

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, Field

from stepweave.agents.tools.lent import Lent
from stepweave.agents.tools.toolbox import Tool, schema_of, take
from stepweave.web.daemon import in_thread

_LONGEST = 1_000_000


class _What(BaseModel):
    path: str = Field(min_length=1, max_length=1000, description="A relative path, such as reports/summary.md.")
    content: str = Field(max_length=_LONGEST, description="The whole text of the file.")


def write_file_tool(lent: Lent) -> Tool:
    async def run(arguments: Mapping[str, Any]) -> Any:
        what = take(_What, arguments)
        content = what.content.encode(errors="replace")
        await in_thread(lambda: lent.files.write(what.path, content))
        return {"path": what.path, "bytes": len(content)}

    return Tool(
        name="write_file",
        description="Writes a text file to the workspace, over one that is there. Later nodes of the run see it.",
        schema=schema_of(_What),
        run=run,
    )
