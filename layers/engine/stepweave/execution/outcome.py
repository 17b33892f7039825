"""What came of running a node, before anything is stored."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from stepweave.execution.envelope import Envelope, failure, success
from stepweave.execution.pause import Question
from stepweave.texts import Text


@dataclass(frozen=True, slots=True)
class Outcome:
    """`variables` are the values the node itself resolved, `logs` its log entries, `branch` a condition's choice.

    `retryable` marks a provider failure that may be tried again as the node's `retry` says (contract §2). `whole`: logs
    and trace tell all of the visit, earlier attempts included; else the engine puts those of earlier attempts before.
    `decision` is what the planner decided (AGENTIC).
    """

    status: Literal["SUCCESS", "FAILED"]
    envelope: Envelope
    variables: Mapping[str, Any] = field(default_factory=dict)
    logs: tuple[Mapping[str, Any], ...] = ()
    branch: str | None = None
    error: str | None = None
    retryable: bool = False
    whole: bool = False
    decision: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Asked:
    """The node waits for a person. The engine stores the question and `state` together, and the chain goes to sleep;
    the next invocation finds `state` as `work.saved` and the answer in `work.answers[call_id]`.

    The engine tells the `clarify_request`, and, with the answer, the `tool_result` of `clarify`; log and trace of both
    are the node's.
    """

    question: Question
    call_id: str
    state: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Unfinished:
    """The platform's time is nearly over (`work.remaining`): the next invocation goes on from `state`, same visit."""

    state: Mapping[str, Any]


Result = Outcome | Asked | Unfinished
"""What a node with an effect gives."""


PROCESSED = Text("处理成功", "processed")
CALLED = Text("调用成功", "called")
COMPLETED = Text("工作流执行成功", "workflow completed")


def succeeded(message: str, data: Mapping[str, Any], **rest: Any) -> Outcome:
    """Keyword arguments: `trace` and `metadata` of the envelope, and the other fields of `Outcome`."""
    return Outcome("SUCCESS", success(message, data, rest.pop("trace", None), rest.pop("metadata", None)), **rest)


def failed(error: str, **rest: Any) -> Outcome:
    return Outcome("FAILED", failure(error, rest.pop("trace", None), rest.pop("metadata", None)), error=error, **rest)
