"""What came of a model, as the node tells it: envelope, trace, metadata, log (contract §3)."""

from collections.abc import Mapping
from typing import Any

from stepweave.agents.request import LoopResult
from stepweave.execution import log
from stepweave.execution.cost import cost
from stepweave.execution.outcome import CALLED, Outcome, failed, succeeded
from stepweave.execution.trace import trace
from stepweave.execution.work import Work
from stepweave.expressions import structured
from stepweave.graph.spec import Field
from stepweave.nodes.inputs import Inputs
from stepweave.nodes.model_data import NO_ANSWER
from stepweave.texts import Text


class ModelCall:
    """One attempt, or with `whole` all of them: what it has to tell, whichever way it ends.

    `opening` is what the log begins with; the loop is given it too, and gives it back in its result.
    """

    def __init__(self, work: Work, model: str, inputs: Inputs, *, whole: bool = False) -> None:
        self._work = work
        self._model = model
        self._inputs = inputs
        self._whole = whole
        self._logs: list[log.LogEntry] = [*inputs.logs(work.language, work.clock.now())]
        self._told: dict[str, Any] = {}

    @property
    def opening(self) -> tuple[log.LogEntry, ...]:
        return tuple(self._logs)

    def note(self, text: Text) -> None:
        self._log("INFO", text)

    def warn(self, text: Text) -> None:
        self._log("WARN", text)

    def outcome(self, result: LoopResult, fields: tuple[Field, ...]) -> Outcome:
        """The answer read into `fields`, or the failure."""
        self._take(result)
        if result.failure is not None:
            return self._failed(result.failure.text, retryable=result.failure.retryable)
        if not result.text.strip():
            return self.failed(NO_ANSWER)
        reading = structured.read(result.text, fields)
        for warning in reading.warnings:
            self.warn(warning)
        return succeeded(CALLED.to(self._work.language), reading.values, **self._rest())

    def succeeded(self, result: LoopResult, values: Mapping[str, Any], **rest: Any) -> Outcome:
        """What the answer was read into by the node itself."""
        self._take(result)
        return succeeded(CALLED.to(self._work.language), values, **rest, **self._rest())

    def failed(self, reason: Text) -> Outcome:
        self._log("ERROR", reason)
        return self._failed(reason, retryable=False)

    def _failed(self, reason: Text, *, retryable: bool) -> Outcome:
        return failed(reason.to(self._work.language), retryable=retryable, **self._rest())

    def _take(self, result: LoopResult) -> None:
        self._logs = [*result.logs]
        if result.cut_short is not None:
            self.warn(result.cut_short)
        self._told = told(result, self._work, self._model, whole=self._whole)

    def _log(self, kind: log.LogType, text: Text) -> None:
        self._logs.append(log.entry(kind, self._work.clock.now(), text.to(self._work.language)))

    def _rest(self) -> dict[str, Any]:
        return {**self._told, "variables": self._inputs.variables, "logs": tuple(self._logs), "whole": self._whole}


def told(result: LoopResult, work: Work, model: str, *, whole: bool) -> dict[str, Any]:
    """The `trace` and the `metadata` of the envelope, of one attempt or with `whole` of all of them."""
    metadata: dict[str, Any] = {
        "model": model,
        "usage": dict(result.usage),
        "durationMs": round(result.seconds * 1000),
        "attempts": work.tries + 1,
    }
    if whole:
        metadata["steps"] = result.steps
    price = work.models.price(model)
    if price is not None:
        metadata["cost"] = cost(price, result.usage)
    return {
        "trace": trace(result.thinking, result.tool_calls, limit=work.trace_limit),
        "metadata": metadata,
    }
