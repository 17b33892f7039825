"""Fitting out a model: the tools that it always has, those its node names, and those of its MCP servers."""

from contextlib import AsyncExitStack
from dataclasses import replace

from stepweave.agents.request import Abilities
from stepweave.agents.tools import clarify
from stepweave.agents.tools.context import context_tools
from stepweave.agents.tools.files import Files, SkillFiles
from stepweave.agents.tools.lent import Lent
from stepweave.agents.tools.table import make_tool
from stepweave.agents.tools.toolbox import Tool, Toolbox
from stepweave.agents.transcript import Transcript
from stepweave.execution.work import Work
from stepweave.texts import Text
from stepweave.web.transport import GuardedTransport

_OF_FILES = frozenset({"list_files", "read_file", "write_file"})


async def open_toolbox(abilities: Abilities, work: Work, transcript: Transcript, stack: AsyncExitStack) -> Toolbox:
    """Its tools, for as long as `stack` is open. Raises `ServerUnreachable`."""
    network = "http_get" in abilities.tools or abilities.servers
    transport = GuardedTransport(private_hosts=work.private_hosts if network else False)
    stack.push_async_callback(transport.aclose)
    workspace = work.workspace if _OF_FILES & set(abilities.tools) else None
    skill = SkillFiles(abilities.skill, work.skills) if abilities.skill is not None else None
    lent = Lent(Files(workspace, skill), transport, transcript.todo)
    tools: list[Tool] = [clarify.TOOL] if abilities.asks else []
    tools += [make_tool(name, lent) for name in abilities.tools]
    if abilities.before and work.context_query is not None:
        tools += context_tools(work.context_query, work.language, transcript, stack)
    if skill is not None and skill.skill.files:
        # what a skill's instructions point to can be read, and without `read_file` in the node nothing else
        tools.append(make_tool("read_file", replace(lent, files=Files(None, skill))))
    if abilities.servers:
        from stepweave.agents.tools.mcp_server import open_server  # the MCP library is large, and few agents need it

        for server in abilities.servers:
            transcript.status(Text(f"正在连接 MCP 服务器 {server.name}", f"connecting to the MCP server {server.name}"))
            tools += await stack.enter_async_context(open_server(server, transport))
    return Toolbox(tools, work.language)
