"""What came of running a node, before anything is stored."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from stepweave.execution.envelope import Envelope, failure, success
from stepweave.texts import Text


@dataclass(frozen=True, slots=True)
class Outcome:
    """`variables` are the values the node itself resolved, `logs` its log entries, `branch` a condition's choice.

    `retryable` marks a provider failure that may be tried again as the node's `retry` says (contract §2).
    """

    status: Literal["SUCCESS", "FAILED"]
    envelope: Envelope
    variables: Mapping[str, Any] = field(default_factory=dict)
    logs: tuple[Mapping[str, Any], ...] = ()
    branch: str | None = None
    error: str | None = None
    retryable: bool = False


PROCESSED = Text("处理成功", "processed")
CALLED = Text("调用成功", "called")
COMPLETED = Text("工作流执行成功", "workflow completed")


def succeeded(message: str, data: Mapping[str, Any], **rest: Any) -> Outcome:
    """Keyword arguments: `trace` and `metadata` of the envelope, and the other fields of `Outcome`."""
    return Outcome("SUCCESS", success(message, data, rest.pop("trace", None), rest.pop("metadata", None)), **rest)


def failed(error: str, **rest: Any) -> Outcome:
    return Outcome("FAILED", failure(error, rest.pop("trace", None), rest.pop("metadata", None)), error=error, **rest)
