"""A node's own retries, as data (contract §2, `retry`): only a provider's retryable failure is tried again."""

from dataclasses import replace

from stepweave.execution.outcome import Outcome
from stepweave.execution.trace import trace
from stepweave.execution.visit import VisitBody
from stepweave.graph.model import Node
from stepweave.services.backoff import Backoff
from stepweave.services.visit_work import VisitWork
from stepweave.store.runs import Runs
from stepweave.texts import Text

LONGEST_IN_PROCESS = 2.0
"""Seconds a process may wait by itself; a longer wait is the chain's, where it costs nothing."""


class Retries:
    def __init__(self, runs: Runs) -> None:
        self._runs = runs

    def again(self, node: Node, outcome: Outcome, work: VisitWork) -> float | None:
        """Seconds until the next attempt, None when there is none.

        Stores what the failed attempt did, so that it is part of the visit's log and trace whoever makes the next one.
        """
        retry = node.common.retry
        attempt = work.tries + 1
        if not outcome.retryable or attempt >= retry.max_attempts:
            return None
        delay = retry.backoff_seconds * 2.0 ** (attempt - 1)
        reason = outcome.error or ""
        told = Text(
            f"第 {attempt} 次尝试失败（{reason}），{delay:g} 秒后重试",
            f"attempt {attempt} failed ({reason}); trying again in {delay:g} s",
        )
        work.emit("status", told.to(work.language))
        name = _attempt(work.visit.visit_uuid, attempt)
        body = VisitBody(outcome.variables, outcome.envelope, outcome.logs, outcome.error)
        packed = self._runs.pack_body(work.visit.run_id, name, work.visit.attempt, body)
        work.tried(attempt, {name: packed})
        return delay

    def whole(self, outcome: Outcome, work: VisitWork) -> Outcome:
        """The outcome with what the failed attempts before it streamed: nothing that was told is taken back."""
        if outcome.whole or not work.tries:
            return outcome
        names = [_attempt(work.visit.visit_uuid, attempt + 1) for attempt in range(work.tries)]
        backoff = Backoff(work.clock)
        while len(found := self._runs.bodies(work.visit.run_id, names)) < len(names):
            backoff.wait()  # the commit that counted the attempt is still becoming visible
        return _joined(outcome, [found[name] for name in names], work.trace_limit)


def _attempt(visit_uuid: str, attempt: int) -> str:
    return f"{visit_uuid}.{attempt}"


def _joined(outcome: Outcome, earlier: list[VisitBody], trace_limit: int) -> Outcome:
    """Each attempt's trace is within the limit, all of them together need not be."""
    logs = tuple(entry for body in earlier for entry in body.logs) + outcome.logs
    traces = [body.output.get("trace") or {} for body in earlier] + [outcome.envelope.get("trace") or {}]
    told = trace(
        "".join(each.get("thinking") or "" for each in traces),
        [call for each in traces for call in each.get("tool_calls") or []],
        limit=trace_limit,
    )
    truncated = {"truncated": True} if any(each.get("truncated") for each in traces) else {}
    return replace(outcome, logs=logs, envelope={**outcome.envelope, "trace": {**traces[-1], **told, **truncated}})
