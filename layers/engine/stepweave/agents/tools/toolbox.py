"""The tools of one agent, and how they are called: nothing that a tool does or fails to do harms the loop."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ValidationError

from stepweave.agents.bounds import bounded
from stepweave.errors import StepweaveError
from stepweave.execution.pause import Question
from stepweave.execution.work import RunEnded
from stepweave.graph.json_value import copy_json
from stepweave.graph.problem import cut
from stepweave.graph.shape import describe, spell
from stepweave.texts import Language, Text

TOOL_SECONDS = 60.0
RESULT_CHARACTERS = 100_000


class ToolFailed(Exception):
    """The tool cannot do what it was asked for; the text is for the model, so that it can do better."""

    def __init__(self, text: Text) -> None:
        super().__init__(str(text))
        self.text = text


class Asks(Exception):
    """The tool waits for a person: its result is the answer to `question`."""

    def __init__(self, question: Question) -> None:
        super().__init__(question.question)
        self.question = question


@dataclass(frozen=True, slots=True)
class Unreadable:
    """Arguments that are no JSON object, as the model wrote them."""

    text: str


Arguments = Mapping[str, Any] | Unreadable


@dataclass(frozen=True, slots=True)
class Tool:
    """`schema` is the JSON schema of the arguments, an object. `run` gives JSON; it raises `ToolFailed`, and may raise
    anything; of a tool that `asks` it raises `Asks`. `tell` is told the arguments of a call that succeeded. `seconds`
    bound a call."""

    name: str
    description: str
    schema: Mapping[str, Any]
    run: Callable[[Mapping[str, Any]], Awaitable[Any]]
    tell: Callable[[Mapping[str, Any]], None] | None = None
    seconds: float = TOOL_SECONDS
    asks: bool = False


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What the model is told of a call: JSON, or in words what went wrong."""

    content: Any
    success: bool


class Toolbox:
    """Tools by name; of two with one name the earlier one counts. `language` is that of the words for the model."""

    def __init__(self, tools: Iterable[Tool], language: Language) -> None:
        self._tools: dict[str, Tool] = {}
        for tool in tools:
            self._tools.setdefault(tool.name, tool)
        self._language = language

    @property
    def tools(self) -> tuple[Tool, ...]:
        return tuple(self._tools.values())

    def asks(self, name: str) -> bool:
        """Whether it is a tool that asks a person."""
        return name in self._tools and self._tools[name].asks

    async def call(self, name: str, arguments: Arguments) -> ToolResult:
        """Calls a tool. Raises `Asks`, and what is not the tool's own fault: the end of the run, a store out of reach."""
        tool = self._tools.get(name)
        if tool is None:
            return self.unknown(name)
        if isinstance(arguments, Unreadable):
            return self._failed(_UNREADABLE)
        limit = asyncio.timeout(tool.seconds)
        try:
            async with limit:
                content = await tool.run(arguments)
        except ToolFailed as failure:
            return self._failed(failure.text)
        except (Asks, RunEnded):
            raise
        except StepweaveError as error:
            if error.retryable:
                raise
            return self._failed(error.text)
        except Exception as error:  # noqa: BLE001 - whatever it is, it is the model's to know and the run's to survive
            return self._failed(_too_slow(tool) if limit.expired() else _broke(tool, error))
        if tool.tell is not None:
            tool.tell(arguments)
        sound, _ = copy_json(content)
        return ToolResult(bounded(sound, RESULT_CHARACTERS), success=True)

    def unknown(self, name: str) -> ToolResult:
        names = ", ".join(self._tools)
        return self._failed(
            Text(f"没有工具 {cut(name)}；可用的工具：{names}", f"there is no tool {cut(name)}; the tools are: {names}")
        )

    def _failed(self, text: Text) -> ToolResult:
        return ToolResult(text.to(self._language), success=False)


def schema_of(arguments: type[BaseModel]) -> dict[str, Any]:
    """The JSON schema of a tool's arguments, without the titles that pydantic makes up."""
    schema: dict[str, Any] = _untitled(arguments.model_json_schema())
    return schema


def take[M: BaseModel](model: type[M], arguments: Mapping[str, Any]) -> M:
    """The arguments as the tool wants them. Raises `ToolFailed` with everything that does not fit."""
    try:
        return model.model_validate(arguments)
    except ValidationError as error:
        faults = error.errors(include_url=False, include_input=False)
    problems = [(cut(spell(fault["loc"])), describe(fault)) for fault in faults]
    told = Text.join([Text(f"{place} {text.zh}", f"{place} {text.en}") for place, text in problems])
    raise ToolFailed(Text(f"参数不对：{told.zh}", f"the arguments do not fit: {told.en}"))


def _untitled(schema: Any) -> Any:
    match schema:
        case dict():
            return {
                name: _untitled(part) for name, part in schema.items() if name != "title" or not isinstance(part, str)
            }
        case list():
            return [_untitled(part) for part in schema]
        case _:
            return schema


_UNREADABLE = Text(
    "参数不是有效的 JSON 对象，请更正后重新调用",
    "the arguments are no valid JSON object: correct them and call again",
)


def _too_slow(tool: Tool) -> Text:
    return Text(
        f"工具 {tool.name} 在 {tool.seconds:g} 秒内没有完成，已放弃",
        f"{tool.name} did not finish within {tool.seconds:g} seconds and was given up",
    )


def _broke(tool: Tool, error: Exception) -> Text:
    what = cut(f"{type(error).__name__}: {error}" if str(error) else type(error).__name__)
    return Text(f"工具 {tool.name} 出错：{what}", f"{tool.name} failed: {what}")
