"""What every provider must play alike: one script for each scenario, and the events that readers see of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

TODO = [{"text": "look", "status": "in_progress"}]
COLOUR = {"question": "Colour?", "options": [{"label": "Red", "value": "red"}, {"label": "Blue", "value": "blue"}]}
THROTTLED = {"error": "the model provider failed (HTTP 429): slow down", "retryable": True}
AWAY = {"error": "the model provider failed (HTTP 503): back soon", "retryable": True}
REFUSED = {"error": "the model provider failed (HTTP 400): too long"}
TOOL = ("tool_call", "tool_progress", "tool_progress", "tool_result")


@dataclass(frozen=True)
class Scenario:
    """`kinds` are the `node_stream` events of the node in their order, an unbroken stretch of thinking as one; `text`
    is all of it, `calls` are the trace's calls of tools with their success. `error` is None where the node succeeds.
    `answers` are given to its questions, one after the other; `counted` are the requests whose tokens count."""

    name: str
    script: Sequence[Sequence[Mapping[str, Any]]]
    kinds: tuple[str, ...]
    text: str
    counted: int
    type: str = "agent"
    calls: tuple[tuple[str, bool], ...] = ()
    answers: tuple[str, ...] = ()
    error: str | None = None
    attempts: int = 1
    data: Mapping[str, Any] = field(default_factory=dict)


def _write(path: Any) -> dict[str, Any]:
    return {"tool": {"name": "write_file", "args": {"path": path, "content": "tea"}}}


SCENARIOS = (
    Scenario(
        "an agent thinks and says something",
        [[{"thinking": "let me "}, {"thinking": "see. "}, {"text": "It is "}, {"text": "四."}]],
        ("step", "thinking"),
        "let me see. It is 四.",
        1,
    ),
    Scenario(
        "a model thinks and says something",
        [[{"thinking": "hm "}, {"text": "tea"}]],
        ("step", "thinking"),
        "hm tea",
        1,
        type="llm",
    ),
    Scenario(
        "a tool is called and its result used",
        [
            [{"thinking": "a file "}, _write("a.md")],
            [{"tool": {"name": "read_file", "args": {"path": "a.md"}}}],
            [{"text": "done"}],
        ],
        ("step", "thinking", *TOOL, "step", *TOOL, "step", "thinking"),
        "a file done",
        3,
        calls=(("write_file", True), ("read_file", True)),
    ),
    Scenario(
        "two tools in one turn",
        [[{"text": "I plan. "}, {"todo": TODO}, _write("a.md")], [{"text": "done"}]],
        ("step", "thinking", "tool_call", "tool_progress", "todo_update", *TOOL[2:], *TOOL, "step", "thinking"),
        "I plan. done",
        2,
        calls=(("todo", True), ("write_file", True)),
    ),
    Scenario(
        "a tool that is not there and arguments that do not fit are told to the model",
        [[{"tool": {"name": "shell", "args": {"cmd": "ls"}}}, _write(7)], [{"text": "sorry"}]],
        ("step", *TOOL, *TOOL, "step", "thinking"),
        "sorry",
        2,
        calls=(("shell", False), ("write_file", False)),
    ),
    Scenario(
        "a person is asked, and the agent goes on with the answer",
        [[{"thinking": "which? "}, {"ask": COLOUR}, _write("a.md")], [{"text": "blue it is"}]],
        ("step", "thinking", *TOOL, "tool_call", "clarify_request", "tool_result", "step", "thinking"),
        "which? blue it is",
        2,
        calls=(("write_file", True), ("clarify", True)),
        answers=("blue",),
    ),
    Scenario(
        "a person is asked again and again",
        [[{"ask": {"question": "A?"}}], [{"ask": {"question": "B?"}}], [{"text": "I see"}]],
        (*("step", "tool_call", "clarify_request", "tool_result") * 2, "step", "thinking"),
        "I see",
        3,
        calls=(("clarify", True), ("clarify", True)),
        answers=("one", "two"),
    ),
    Scenario(
        "maxSteps ends an agent that goes on and on",
        [[{"thinking": "more "}, _write("a.md")], [_write("b.md")], [_write("c.md")]],
        ("step", "thinking", *TOOL, "step", *TOOL),
        "more ",
        2,
        calls=(("write_file", True), ("write_file", True)),
        error="not done after maxSteps (2) requests to the model; raise maxSteps if it needs more",
        data={"maxSteps": 2},
    ),
    Scenario(
        "an agent that is throttled goes on at the turn that failed",
        [[_write("a.md")], [THROTTLED, {"text": "done"}]],
        ("step", *TOOL, "step", "status", "step", "thinking"),
        "done",
        2,
        calls=(("write_file", True),),
        attempts=2,
        data={"retry": {"maxAttempts": 2, "backoffSeconds": 0}},
    ),
    Scenario(
        "a model whose provider is away is asked again",
        [[AWAY, {"thinking": "hm "}, {"text": "tea"}]],
        ("step", "status", "step", "thinking"),
        "hm tea",
        1,
        type="llm",
        attempts=2,
        data={"retry": {"maxAttempts": 3, "backoffSeconds": 0}},
    ),
    Scenario(
        "a provider that stays away fails the node",
        [[AWAY, {"text": "never"}]],
        ("step",),
        "",
        0,
        type="llm",
        error=str(AWAY["error"]),
        data={"retry": {"maxAttempts": 1, "backoffSeconds": 0}},
    ),
    Scenario(
        "what the provider refuses is not tried again",
        [[_write("a.md")], [REFUSED, {"text": "never"}]],
        ("step", *TOOL, "step"),
        "",
        1,
        calls=(("write_file", True),),
        error=str(REFUSED["error"]),
        data={"retry": {"maxAttempts": 3, "backoffSeconds": 0}},
    ),
    Scenario(
        "an answer is read into several outputs",
        [[{"text": '{"colour": "blue", '}, {"text": '"count": 3}'}]],
        ("step", "thinking"),
        '{"colour": "blue", "count": 3}',
        1,
        type="llm",
        data={"outputs": [{"name": "colour", "type": "string"}, {"name": "count", "type": "number"}]},
    ),
)
