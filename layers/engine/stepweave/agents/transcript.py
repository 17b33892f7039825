"""Tells the readers what a model does while it does it, and keeps it for the log and the trace."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from stepweave.agents.bounds import bounded, to_text
from stepweave.execution.log import LogEntry, LogType, entry
from stepweave.execution.pause import Answer, Question
from stepweave.execution.work import Work
from stepweave.texts import Text

CHARACTERS = 16_000
"""What a reader is shown of the arguments or the result of one call; a model may see more of it."""


class Transcript:
    """Everything goes out as a `node_stream` event at once (contract §5); the log has one entry for each unbroken
    stretch of thinking, timed by its beginning (contract §6), and the trace all calls of tools in their order.

    `told` is what `to_json` gave in an earlier invocation of the visit, `opening` what the log begins with otherwise.
    """

    def __init__(self, work: Work, *, opening: Sequence[LogEntry] = (), told: Mapping[str, Any] | None = None) -> None:
        self._work = work
        self._logs: list[LogEntry] = list(told["logs"] if told else opening)
        self._calls: list[Mapping[str, Any]] = list(told["calls"] if told else ())
        self._stretches: list[str] = [told["thinking"]] if told else []
        self._stretch: list[str] = []
        self._kept = sum(map(len, self._stretches))

    def to_json(self) -> dict[str, Any]:
        """All of it, for the next invocation of the visit to go on from."""
        return {"logs": list(self.logs), "thinking": self.streamed, "calls": list(self._calls)}

    # What the model says

    def thinking(self, delta: str) -> None:
        """A piece of the model's thinking, or of its text: both stream as `thinking`, in the order they come."""
        if not self._stretch:
            self.log("THINKING", "")
        if self._kept <= self._work.trace_limit or not self._stretch:  # a little beyond the limit, so that it shows
            self._stretch.append(delta)
            self._kept += len(delta)
        self._work.emit("thinking", delta)

    def step(self, iteration: int) -> None:
        """The model is about to be asked for the `iteration`-th time, from 1."""
        self._close()
        step = {"iteration": iteration}
        words = Text(f"第 {iteration} 轮模型调用", f"model request {iteration}")
        self.log("STEP", words.to(self._work.language), json.dumps(step))
        self._work.emit("step", json.dumps(step), data=step)

    # What it does

    def call(self, name: str, arguments: Any) -> None:
        """A tool is about to be called."""
        self._close()
        shown = bounded(arguments, CHARACTERS)
        self.log("TOOL_CALL", name, to_text(shown))
        self._work.emit("tool_call", to_text(shown), tool_name=name, data=_parsed(shown))

    def progress(self, name: str, event_type: str) -> None:
        """`tool.started`, `tool.completed` or `tool.failed`."""
        progress = {"name": name, "event_type": event_type}
        self._work.emit("tool_progress", json.dumps(progress, ensure_ascii=False), tool_name=event_type, data=progress)

    def todo(self, todos: Sequence[Mapping[str, str]]) -> None:
        rows = [dict(row) for row in todos]
        text = to_text(rows)
        self.log("TODO_UPDATE", "todo", text)
        self._work.emit("todo_update", text, tool_name="todo", data=rows)

    def result(self, name: str, arguments: Any, content: Any, *, success: bool) -> None:
        """What came of a call."""
        shown = bounded(content, CHARACTERS)
        self._keep(name, arguments, content, success=success)
        self._work.emit("tool_result", to_text(shown), tool_name=name, data=_parsed(shown))

    def asks(self, name: str, arguments: Any, question: Question) -> None:
        """A person is asked; the engine tells the `clarify_request` itself."""
        self.call(name, arguments)
        options = [option.label for option in question.options]
        self.log("CLARIFY", question.question, to_text(options) if options else None)

    def answered(self, name: str, arguments: Any, answer: Answer) -> None:
        """The person's answer; the engine has told it."""
        self._keep(name, arguments, answer, success=True)

    def status(self, text: Text) -> None:
        """What is going on, for people; each replaces the one before."""
        words = text.to(self._work.language)
        self.log("STATUS", words)
        self._work.emit("status", words)

    def log(self, kind: LogType, message: str, detail: str | None = None) -> None:
        if kind != "THINKING":
            self._close()
        self._logs.append(entry(kind, self._work.clock.now(), message, detail))

    # What is kept of it

    @property
    def logs(self) -> tuple[LogEntry, ...]:
        self._close()
        return tuple(self._logs)

    @property
    def calls(self) -> tuple[Mapping[str, Any], ...]:
        """`{name, args, result, success}` of each call that has a result."""
        return tuple(self._calls)

    @property
    def streamed(self) -> str:
        """All that went out as `thinking`, in one piece; of more than a trace may hold, the beginning."""
        return "".join((*self._stretches, *self._stretch))

    def _keep(self, name: str, arguments: Any, content: Any, *, success: bool) -> None:
        limit = self._work.trace_limit + 1  # one more, so that the trace tells that it was cut
        self.log("TOOL_RESULT", name, to_text(bounded(content, CHARACTERS)))
        args, result = _beginning(arguments, limit), _beginning(content, limit)
        self._calls.append({"name": name, "args": args, "result": result, "success": success})

    def _close(self) -> None:
        """Ends the present stretch: its entry, the last one made, gets its whole text."""
        if self._stretch:
            stretch = "".join(self._stretch)
            self._logs[-1] = {**self._logs[-1], "message": stretch}
            self._stretches.append(stretch)
            self._stretch = []


def _beginning(value: Any, characters: int) -> Any:
    """`value` where its text is no longer than that, else the beginning of its text, as a trace has it."""
    text = to_text(value)
    return value if len(text) <= characters else text[:characters]


def _parsed(shown: Any) -> Any:
    """The parsed form of content that is JSON (contract §5); text is no JSON."""
    return None if isinstance(shown, str) else shown
