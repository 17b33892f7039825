"""Calls of tools that the readers hear of: the same events and the same trace, whoever makes the calls."""

from typing import Any

from stepweave.agents.tools.toolbox import Arguments, Toolbox, ToolResult, Unreadable
from stepweave.agents.transcript import Transcript


class ToldCalls:
    """Tools are called one after the other: so their events pair up (contract §5), and what one has written the next
    one reads."""

    def __init__(self, box: Toolbox, transcript: Transcript) -> None:
        self._box = box
        self._transcript = transcript

    async def call(self, name: str, arguments: Arguments) -> ToolResult:
        """Raises `Asks`, which is told when the person is asked, and what `Toolbox.call` raises."""
        if self._box.asks(name):
            result = await self._box.call(name, arguments)
            self._started(name, arguments)
        else:
            self._started(name, arguments)
            result = await self._box.call(name, arguments)
        self._ended(name, arguments, result)
        return result

    def unknown(self, name: str, arguments: Arguments) -> None:
        """Tells of a call that came to nothing because there is no tool of that name."""
        self._started(name, arguments)
        self._ended(name, arguments, self._box.unknown(name))

    def _started(self, name: str, arguments: Arguments) -> None:
        self._transcript.call(name, shown(arguments))
        self._transcript.progress(name, "tool.started")

    def _ended(self, name: str, arguments: Arguments, result: ToolResult) -> None:
        self._transcript.progress(name, "tool.completed" if result.success else "tool.failed")
        self._transcript.result(name, shown(arguments), result.content, success=result.success)


def shown(arguments: Arguments) -> Any:
    """The arguments of a call as readers see them: JSON, or what the model wrote instead."""
    return arguments.text if isinstance(arguments, Unreadable) else arguments
