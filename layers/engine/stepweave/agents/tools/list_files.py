"""`list_files`: the files of the run's workspace, and of the agent's skill."""

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, Field

from stepweave.agents.tools.lent import Lent
from stepweave.agents.tools.toolbox import Tool, schema_of, take
from stepweave.web.daemon import in_thread

_MOST = 500


class _Where(BaseModel):
    folder: str = Field("", max_length=1000, description="Only files in this folder; all of them when left out.")


def list_files_tool(lent: Lent) -> Tool:
    async def run(arguments: Mapping[str, Any]) -> Any:
        folder = take(_Where, arguments).folder.strip().strip("/")
        start = f"{folder}/" if folder not in {"", "."} else ""
        found = [(path, size) for path, size in (await in_thread(lent.files.sizes)).items() if path.startswith(start)]
        listed: dict[str, Any] = {"files": [{"path": path, "bytes": size} for path, size in found[:_MOST]]}
        return listed | ({"more": len(found) - _MOST} if len(found) > _MOST else {})

    return Tool(
        name="list_files",
        description="Lists the files of the workspace with their sizes in bytes.",
        schema=schema_of(_Where),
        run=run,
    )
