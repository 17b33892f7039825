"""The toolbox, as the agent library wants its tools; what the tools do is told to the readers."""

import json
from collections.abc import Mapping
from typing import Any, override

from pydantic_ai import CallDeferred, ToolFailed
from pydantic_ai.messages import AgentStreamEvent, FunctionToolResultEvent, ToolCallPart
from pydantic_ai.tools import RunContext, ToolDefinition
from pydantic_ai.toolsets.abstract import AbstractToolset, ToolsetTool

from stepweave.agents.told_calls import ToldCalls, shown
from stepweave.agents.tools.toolbox import Arguments, Asks, Toolbox, Unreadable
from stepweave.agents.transcript import Transcript
from stepweave.graph.json_value import copy_json

NO_LIMIT = 1_000_000
"""Of mistakes that a model may make with its tools: the number of its turns is what is limited."""

_RAW = "\0"  # no argument of a tool is named so


class BoxToolset(AbstractToolset[None]):
    """Tools run in the order of the calls. One that asks a person is deferred; it is told when the person is asked."""

    def __init__(self, box: Toolbox, transcript: Transcript) -> None:
        self._box = box
        self._calls = ToldCalls(box, transcript)

    @property
    def id(self) -> str:
        return "stepweave"

    @override
    async def get_tools(self, ctx: RunContext[None]) -> dict[str, ToolsetTool[None]]:
        return {
            tool.name: ToolsetTool(
                toolset=self,
                tool_def=ToolDefinition(
                    name=tool.name,
                    description=tool.description,
                    parameters_json_schema=dict(tool.schema),
                    sequential=True,
                ),
                max_retries=NO_LIMIT,
                args_validator=_AsTheyAre(),
            )
            for tool in self._box.tools
        }

    @override
    async def call_tool(
        self, name: str, tool_args: dict[str, Any], ctx: RunContext[None], tool: ToolsetTool[None]
    ) -> Any:
        arguments = Unreadable(tool_args[_RAW]) if _RAW in tool_args else tool_args
        try:
            result = await self._calls.call(name, arguments)
        except Asks as asks:
            raise CallDeferred(kind="question", metadata={"question": asks.question.data("")}) from asks
        if not result.success:
            raise ToolFailed(result.content)
        return result.content

    def hear(self, event: AgentStreamEvent, calls: Mapping[str, ToolCallPart]) -> None:
        """Tells of a call that the library has answered by itself: there is no tool of that name. `calls` are those of
        the turn by their ids."""
        if not isinstance(event, FunctionToolResultEvent):
            return
        call = calls.get(event.part.tool_call_id)
        if call is None or any(tool.name == call.tool_name for tool in self._box.tools):
            return
        self._calls.unknown(call.tool_name, arguments_of(call))


def arguments_of(call: ToolCallPart) -> Arguments:
    """The arguments of a call as they can be read."""
    return _read(call.args) if isinstance(call.args, str) else _taken(call.args or {})


def shown_arguments(call: ToolCallPart) -> Any:
    """The arguments of a call as readers see them: JSON, or what the model wrote instead."""
    return shown(arguments_of(call))


def _read(text: str) -> Arguments:
    try:
        read = _taken(json.loads(text or "{}"))
    except (ValueError, RecursionError):
        return Unreadable(text)
    return Unreadable(text) if isinstance(read, Unreadable) else read


def _taken(value: Any) -> Arguments:
    """What is no JSON that can be stored and sent on (NaN, half characters, too deep) is not taken."""
    copied, faults = copy_json(value)
    return copied if isinstance(copied, dict) and not faults else Unreadable(str(value))


class _AsTheyAre:
    """Takes any arguments, in place of a validator of the library: to judge them is the toolbox's affair, so that
    whatever is wrong with a call is told to the model and to the readers in one way."""

    def validate_json(self, input: str | bytes | bytearray, **_: Any) -> dict[str, Any]:  # noqa: A002 - as there
        return _as_dict(_read(input if isinstance(input, str) else bytes(input).decode(errors="replace")))

    def validate_python(self, input: Any, **_: Any) -> dict[str, Any]:  # noqa: A002 - as there
        return _as_dict(_taken(input))


def _as_dict(arguments: Arguments) -> dict[str, Any]:
    return {_RAW: arguments.text} if isinstance(arguments, Unreadable) else dict(arguments)
