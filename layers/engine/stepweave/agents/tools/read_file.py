"""`read_file`: the text of a file of the run's workspace, or of the agent's skill."""

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, Field

from stepweave.agents.tools.lent import Lent
from stepweave.agents.tools.toolbox import Tool, schema_of, take
from stepweave.web.daemon import in_thread

_PAGE = 50_000


class _Which(BaseModel):
    path: str = Field(min_length=1, max_length=1000, description="A relative path, as list_files gives it.")
    offset: int = Field(0, ge=0, description="The character to begin with, to read on in a long file.")


def read_file_tool(lent: Lent) -> Tool:
    async def run(arguments: Mapping[str, Any]) -> Any:
        which = take(_Which, arguments)
        content = await in_thread(lambda: lent.files.read(which.path))
        text = decode(content)
        if text is None:
            return {"path": which.path, "bytes": len(content), "binary": True}
        page = text[which.offset : which.offset + _PAGE]
        told: dict[str, Any] = {"path": which.path, "bytes": len(content), "text": page}
        end = which.offset + len(page)
        return told | ({"nextOffset": end} if end < len(text) else {})

    return Tool(
        name="read_file",
        description=f"Reads a text file. A long one comes in pages of {_PAGE} characters: go on at nextOffset.",
        schema=schema_of(_Which),
        run=run,
    )


def decode(content: bytes) -> str | None:
    """The text of a file; None when it is none."""
    if b"\0" in content:
        return None
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return None
