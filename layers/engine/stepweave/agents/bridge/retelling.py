"""What a bridge tells of its own doing, told to the run's readers, and kept for the log and the trace."""

from collections import defaultdict, deque
from typing import Any

from stepweave.agents.bridge.wire import Event, Status, Thinking, TodoUpdate, ToolCall, ToolProgress, ToolResult
from stepweave.agents.transcript import Transcript
from stepweave.texts import Text


class Retelling:
    """Of one answer: a `tool_result` closes the earliest open call of its name."""

    def __init__(self, transcript: Transcript) -> None:
        self._transcript = transcript
        self._open: defaultdict[str, deque[Any]] = defaultdict(deque)

    def tell(self, event: Event) -> None:
        match event:
            case Thinking(content=content) if content:
                self._transcript.thinking(content)
            case Status(content=content):
                self._transcript.status(Text.same(content))
            case ToolCall(name=name, arguments=arguments):
                self._open[name].append(arguments)
                self._transcript.call(name, arguments)
            case ToolProgress(name=name, event_type=event_type):
                self._transcript.progress(name, event_type)
            case ToolResult(name=name, content=content, success=success):
                calls = self._open[name]
                self._transcript.result(name, calls.popleft() if calls else {}, content, success=success)
            case TodoUpdate(todos=todos):
                self._transcript.todo([{"text": todo.text, "status": todo.status} for todo in todos])
            case _:
                pass  # an empty delta
