"""Whatever a tool or a call of one does, the model is told and the loop goes on."""

import asyncio
import threading
import time
from collections.abc import Mapping
from typing import Any

import pytest

from stepweave.agents.tools.toolbox import Arguments, Tool, Toolbox, ToolFailed, ToolResult, Unreadable
from stepweave.errors import Unavailable, ValidationFailed
from stepweave.execution.work import RunEnded
from stepweave.texts import Text
from stepweave.web.daemon import in_thread


def tool_that(action: Any, **rest: Any) -> Tool:
    async def run(arguments: Mapping[str, Any]) -> Any:
        made = action(arguments)
        return await made if asyncio.iscoroutine(made) else made

    return Tool("it", "does it", {"type": "object"}, run, **rest)


def call(tool: Tool, arguments: Arguments | None = None, name: str = "it", language: Any = "en") -> ToolResult:
    return asyncio.run(Toolbox([tool], language).call(name, {} if arguments is None else arguments))


def raising(error: BaseException) -> Any:
    def action(_: Any) -> Any:
        raise error

    return action


def test_the_result_of_a_tool_is_what_it_gives() -> None:
    assert call(tool_that(lambda arguments: {"sum": arguments["a"] + 1}), {"a": 1}) == ToolResult({"sum": 2}, True)


def test_an_unknown_tool_is_told_with_the_names_there_are() -> None:
    result = call(tool_that(lambda _: 1), name="shell")
    assert not result.success
    assert "shell" in result.content
    assert "it" in result.content


def test_arguments_that_cannot_be_read_are_told() -> None:
    result = call(tool_that(lambda _: 1), Unreadable("{broken"))
    assert (result.success, "JSON" in result.content) == (False, True)


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (ToolFailed(Text("不行", "cannot")), "cannot"),
        (ValidationFailed("leaves the workspace"), "leaves the workspace"),
        (ValueError("bad luck"), "it failed: ValueError: bad luck"),
        (RecursionError(), "it failed: RecursionError"),
        (TimeoutError("theirs"), "it failed: TimeoutError: theirs"),
    ],
)
def test_what_a_tool_raises_is_told_in_words(error: Exception, words: str) -> None:
    assert call(tool_that(raising(error))) == ToolResult(words, False)


@pytest.mark.parametrize("error", [RunEnded(), Unavailable("the store")])
def test_what_is_not_the_tools_fault_is_raised(error: Exception) -> None:
    with pytest.raises(type(error)):
        call(tool_that(raising(error)))


def test_a_tool_that_hangs_is_given_up() -> None:
    begin = time.perf_counter()
    result = call(tool_that(lambda _: asyncio.sleep(30), seconds=0.1))
    assert time.perf_counter() - begin < 5
    assert (result.success, "0.1 seconds" in result.content) == (False, True)


def test_a_tool_that_hangs_in_a_thread_keeps_nobody_waiting() -> None:
    release = threading.Event()
    begin = time.perf_counter()
    result = call(tool_that(lambda _: in_thread(lambda: release.wait(30)), seconds=0.1))
    assert time.perf_counter() - begin < 5
    assert not result.success
    release.set()


def test_what_a_thread_raises_is_raised_where_it_is_awaited() -> None:
    async def main() -> None:
        with pytest.raises(LookupError):
            await in_thread(lambda: {}["gone"])

    asyncio.run(main())


def test_a_result_that_is_too_long_is_cut() -> None:
    result = call(tool_that(lambda _: {"text": "x" * 1_000_000, "status": 200}))
    assert result.content["status"] == 200
    assert 10_000 < len(result.content["text"]) < 100_000


def test_a_result_that_is_no_json_is_made_so() -> None:
    assert call(tool_that(lambda _: {"n": float("nan"), "s": "\ud800"})).content == {"n": None, "s": "?"}


def test_only_a_call_that_succeeded_is_told_of() -> None:
    told: list[Any] = []
    call(tool_that(lambda _: 1, tell=told.append), {"a": 1})
    call(tool_that(raising(ValueError()), tell=told.append), {"a": 2})
    assert told == [{"a": 1}]


def test_of_two_tools_with_one_name_the_first_counts() -> None:
    box = Toolbox([tool_that(lambda _: "first"), tool_that(lambda _: "second")], "zh")
    assert asyncio.run(box.call("it", {})).content == "first"
    assert len(box.tools) == 1


def test_the_words_are_in_the_language_of_the_run() -> None:
    assert call(tool_that(lambda _: 1), name="x", language="zh").content.startswith("没有工具 x")
