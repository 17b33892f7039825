"""Failing a visit that the platform gave up on (protocol rule V): its question is closed, what it stored is told."""

from stepweave.execution import log
from stepweave.execution.outcome import Outcome, failed
from stepweave.graph.model import Node
from stepweave.graph.spec import Specs
from stepweave.items import OutcomeUnknown, WriteConflict, WriteRefused
from stepweave.services.backoff import Backoff
from stepweave.services.retries import Retries
from stepweave.services.visit_work import Fenced, VisitWork
from stepweave.store.pauses import Pauses
from stepweave.store.runs import Runs
from stepweave.texts import Text

CLOSED = Text("等待回答的执行已丢失，问题已关闭", "what waited for the answer was lost, and the question was closed")
"""Why a visit fails whose question an earlier recovery closed before it died itself."""


class Recovery:
    def __init__(self, runs: Runs, pauses: Pauses, specs: Specs, retries: Retries) -> None:
        self._runs = runs
        self._pauses = pauses
        self._specs = specs
        self._retries = retries

    def fail(self, node: Node, work: VisitWork, reason: Text) -> Outcome:
        """The failure to end the visit with; its open question is closed first, so that nobody answers in vain.

        Raises `Fenced` when the visit has gone to somebody else, who then asks on.
        """
        self._close_question(work)
        lost = getattr(self._specs(node.type), "lost", None)  # only types that store a state have something to tell
        if lost is not None:
            outcome: Outcome = lost(node, work, reason)
        else:
            error = reason.to(work.language)
            outcome = failed(error, logs=(log.entry("ERROR", work.clock.now(), error),))
        return self._retries.whole(outcome, work)

    def _close_question(self, work: VisitWork) -> None:
        visit = work.visit
        backoff = Backoff(work.clock)
        while visit.waiting is not None:
            pause = self._pauses.get(visit.run_id, visit.waiting)
            if pause is not None and pause.status != "OPEN":
                return
            try:
                if pause is not None:  # else the commit that asked is still becoming visible
                    self._pauses.withdraw(pause, visit)
                    return
            except WriteRefused:
                now = self._runs.visit(visit.run_id, visit.visit_uuid)
                if now is not None and (now.owner, now.attempt) != (visit.owner, visit.attempt):
                    raise Fenced(now) from None
            except (WriteConflict, OutcomeUnknown):
                pass
            backoff.wait()
