"""Tells the readers what a model does while it does it, and keeps it for the log and the trace."""

import json

from stepweave.execution.log import LogEntry, LogType, entry
from stepweave.execution.work import Work
from stepweave.texts import Text


class Transcript:
    """Everything goes out as a `node_stream` event at once (contract §5); the log has one entry for each unbroken
    stretch of thinking, timed by its beginning (contract §6)."""

    def __init__(self, work: Work) -> None:
        self._work = work
        self._logs: list[LogEntry] = []
        self._stretch: list[str] = []
        self._stretches: list[str] = []

    def thinking(self, delta: str) -> None:
        """A piece of the model's thinking, or of its text: both stream as `thinking`, in the order they come."""
        if not self._stretch:
            self.log("THINKING", "")
        self._stretch.append(delta)
        self._work.emit("thinking", delta)

    def step(self, iteration: int) -> None:
        """The model is about to be asked for the `iteration`-th time, from 1."""
        self._close()
        step = {"iteration": iteration}
        words = Text(f"第 {iteration} 轮模型调用", f"model request {iteration}")
        self.log("STEP", words.to(self._work.language), json.dumps(step))
        self._work.emit("step", json.dumps(step), data=step)

    def log(self, kind: LogType, message: str, detail: str | None = None) -> None:
        self._logs.append(entry(kind, self._work.clock.now(), message, detail))

    @property
    def logs(self) -> tuple[LogEntry, ...]:
        self._close()
        return tuple(self._logs)

    @property
    def streamed(self) -> str:
        """All that went out as `thinking`, in one piece."""
        return "".join((*self._stretches, *self._stretch))

    def _close(self) -> None:
        """Ends the present stretch: its entry, the last one made, gets its whole text."""
        if self._stretch:
            stretch = "".join(self._stretch)
            self._logs[-1]["message"] = stretch
            self._stretches.append(stretch)
            self._stretch = []
