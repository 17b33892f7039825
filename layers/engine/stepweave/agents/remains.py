"""What is left of an agent that no process could bring to its end: what it had stored to go on from (contract §3)."""

from collections.abc import Mapping
from typing import Any

from stepweave.agents.request import LoopResult, ProviderFailed
from stepweave.agents.state import LoopState
from stepweave.execution.log import LogEntry


def remains(saved: Mapping[str, Any], failure: ProviderFailed, error: LogEntry) -> LoopResult:
    """All that the saved state tells, as the result of a loop that failed; `error` ends its log."""
    state = LoopState.from_json(saved)
    logs = tuple(state.transcript["logs"])
    return LoopResult(
        text="",
        thinking=state.transcript["thinking"],
        usage={"inputTokens": state.input_tokens, "outputTokens": state.output_tokens},
        tool_calls=tuple(state.transcript["calls"]),
        logs=(*logs, error),
        steps=sum(entry["type"] == "STEP" for entry in logs),
        seconds=state.seconds,
        failure=failure,
    )
