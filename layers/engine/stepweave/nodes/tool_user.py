"""What `agent` and `smartAction` share: a model with tools, which asks people and outlives its process (contract §2)."""

from collections.abc import Iterator
from typing import Annotated, Any
from urllib.parse import urlsplit

from pydantic import AfterValidator
from pydantic import Field as Shape

from stepweave.agents.remains import remains
from stepweave.agents.request import Abilities, LoopRequest, LoopResult, McpServer, ProviderFailed
from stepweave.agents.tools.table import ALWAYS, TOOLS
from stepweave.execution import log
from stepweave.execution.outcome import Outcome, Result, failed
from stepweave.execution.skill import Skill
from stepweave.execution.work import Work
from stepweave.graph import shape
from stepweave.graph.model import Node
from stepweave.graph.problem import cut
from stepweave.graph.shape import DataModel, Fault
from stepweave.graph.spec import Field
from stepweave.nodes.model_call import ModelCall, told
from stepweave.nodes.model_data import model_faults
from stepweave.nodes.naming import repeated, single_output
from stepweave.texts import Text


def _is_tool(name: str) -> str:
    if name not in TOOLS and name not in ALWAYS:
        names = ", ".join(TOOLS)
        raise shape.refuse(
            Text(f"{cut(name)} 不是工具，可用的工具：{names}", f"names no tool: {cut(name)}; the tools are {names}")
        )
    return name


def _is_address(url: str) -> str:
    try:
        parts = urlsplit(url)
        named = parts.hostname is not None and parts.port != 0
    except ValueError:
        named, parts = False, urlsplit("")
    if not named or parts.scheme not in {"http", "https"} or parts.username is not None:
        raise shape.refuse(
            Text(
                "必须是 http 或 https 地址，且不含用户名和密码",
                "must be an http or https address without user or password",
            )
        )
    return url


class ServerData(DataModel):
    """One of `mcpServers[]`."""

    name: str = Shape(pattern=r"^[A-Za-z0-9_-]+$", max_length=32)
    url: Annotated[str, AfterValidator(_is_address)]
    headers: dict[str, str] = Shape(default_factory=dict)


class ToolUserData(DataModel):
    """`max_steps` bounds the requests to the model, `max_total_tokens` what it reads and writes in all of them, and
    `max_tokens` what it writes in one."""

    model: str
    tools: list[Annotated[str, AfterValidator(_is_tool)]] = Shape(default_factory=list)
    mcp_servers: list[ServerData] = Shape(default_factory=list)
    max_steps: int = Shape(default=20, ge=1, le=1000)
    max_tokens: int | None = Shape(default=None, ge=1)
    max_total_tokens: int | None = Shape(default=None, ge=1)
    temperature: float | None = Shape(default=None, ge=0, le=2)
    script: Any = None


def tool_user_faults(model: type[ToolUserData], node: Node) -> Iterator[Fault]:
    """Everything wrong with the data of such a node; paths count from the data."""
    _, faults = shape.read(model, node.data)
    yield from faults
    yield from model_faults(node)
    text = Text("与前面的服务器重名，请改名", "repeats the name of an earlier one: rename it")
    for index in repeated(node.data.get("mcpServers"), "name"):
        yield Fault(("mcpServers", index, "name"), text)


def run_tool_user(
    node: Node, data: ToolUserData, call: ModelCall, work: Work, *, system: str, prompt: str, skill: Skill | None = None
) -> Result:
    """Runs the model with its tools to the end of the visit, to a question, or to the end of the platform's time."""
    from stepweave.agents.loop import run_agent  # the agent library is large: not before a model is called

    output, warning = single_output(node)
    if warning is not None:
        call.warn(warning)
    request = LoopRequest(
        model=data.model,
        prompt=prompt,
        system=system,
        temperature=data.temperature,
        max_tokens=data.max_tokens,
        timeout=node.common.timeout_seconds,
        opening=call.opening,
        abilities=_abilities(data, skill),
        script=data.script,
    )
    result = run_agent(request, work)
    return call.outcome(result, (output,)) if isinstance(result, LoopResult) else result


def lost_tool_user(node: Node, work: Work, reason: Text) -> Outcome:
    """The failure of a visit whose process was lost again and again, with what it had stored. Inputs are not resolved
    once more: they may be what kills the process."""
    error = log.entry("ERROR", work.clock.now(), reason.to(work.language))
    if work.saved is None:
        return failed(error["message"], logs=(error,))
    result = remains(work.saved, ProviderFailed(reason, retryable=False), error)
    envelope = told(result, work, node.data["model"], whole=True)
    return failed(error["message"], logs=result.logs, whole=True, **envelope)


def only_output(node: Node) -> tuple[Field, ...]:
    """The one output: the first declared, `result` where none is."""
    return (single_output(node)[0],)


def _abilities(data: ToolUserData, skill: Skill | None) -> Abilities:
    return Abilities(
        tools=tuple(dict.fromkeys(name for name in data.tools if name in TOOLS)),
        servers=tuple(McpServer(server.name, server.url, server.headers) for server in data.mcp_servers),
        skill=skill,
        max_steps=data.max_steps,
        max_total_tokens=data.max_total_tokens,
    )
