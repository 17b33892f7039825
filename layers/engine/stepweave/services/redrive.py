"""Redrive (protocol rule D): a run whose executions are gone goes on from the tables."""

from datetime import timedelta

from stepweave import clock as times
from stepweave import ids
from stepweave.clock import Clock
from stepweave.execution.run import Run
from stepweave.execution.visit import Visit
from stepweave.graph.spec import Specs
from stepweave.items import OutcomeUnknown, WriteConflict, WriteRefused
from stepweave.ports import Chains
from stepweave.services.backoff import Backoff
from stepweave.services.closing import Closing
from stepweave.services.ending import Ending
from stepweave.services.settling import first_step
from stepweave.store.runs import Runs
from stepweave.store.workflows import Workflows
from stepweave.texts import Text

UNSEEN = timedelta(seconds=60)
"""How long an execution may be invisible after it was started."""

MOST_STALLED = 5
"""Redrives in a row without a single commit after which a run is given up."""


class Redrive:
    def __init__(
        self,
        *,
        runs: Runs,
        workflows: Workflows,
        chains: Chains,
        clock: Clock,
        specs: Specs,
        closing: Closing,
        ending: Ending,
        unseen: timedelta = UNSEEN,
    ) -> None:
        self._runs = runs
        self._workflows = workflows
        self._chains = chains
        self._clock = clock
        self._specs = specs
        self._closing = closing
        self._ending = ending
        self._unseen = unseen

    def redrive(self, run_id: str) -> int:
        """Starts a new chain for every open visit whose chain is gone; gives their number. Safe beside live chains,
        and at any time again: a redrive that was killed half-way is completed by the next."""
        backoff = Backoff(self._clock)
        while True:
            run = self._runs.get(run_id)
            if run is None or run.status == "CREATED":
                return 0
            if run.is_over:
                self._closing.close(run_id)
                return 0
            abandoned = [
                visit for visit in self._runs.visits(run_id) if not visit.is_over and self._is_abandoned(visit)
            ]
            if not abandoned:
                return 0
            if run.stalled >= MOST_STALLED and run.redriven_rev == run.rev:
                self._ending.give_up(run_id, _stalled(abandoned))
                return 0
            try:
                counted = self._runs.redriven(run)
            except WriteRefused:
                return 0  # another redrive is at it, or the run has ended
            except (WriteConflict, OutcomeUnknown):
                backoff.wait()
                continue
            return sum(self._restart(counted, visit) for visit in abandoned)

    def _is_abandoned(self, visit: Visit) -> bool:
        alive = self._chains.is_running(visit.owner)
        if alive is None and visit.owned_at is not None:
            return self._clock.now() - times.from_json(visit.owned_at) >= self._unseen
        return not alive

    def _restart(self, run: Run, visit: Visit) -> bool:
        chain = ids.redriven_chain(run.run_id, visit.visit_uuid, run.redrives)
        taken = self._take_over(visit, chain)
        if taken is None:
            return False  # it moved meanwhile; whoever moved it goes on, or the next redrive does
        graph = self._workflows.graph(run.workflow, run.version)
        self._chains.start(chain, first_step(taken, graph, self._specs).to_json())
        return True

    def _take_over(self, visit: Visit, chain: str) -> Visit | None:
        """The visit in the hands of `chain`, a name of this redrive alone; None when it is not what it was."""
        backoff = Backoff(self._clock)
        while True:
            try:
                return self._runs.take_over(visit, chain, times.to_json(self._clock.now()))
            except WriteRefused:
                now = self._runs.visit(visit.run_id, visit.visit_uuid)
                return now if now is not None and now.owner == chain and not now.is_over else None
            except (WriteConflict, OutcomeUnknown):
                backoff.wait()


def _stalled(visits: list[Visit]) -> Text:
    nodes = "、".join(sorted({visit.node_id or "start" for visit in visits}))
    return Text(
        f"运行连续重启 {MOST_STALLED} 次仍无进展，已放弃；停在节点：{nodes}",
        f"the run was given up: restarted {MOST_STALLED} times without any progress; it stands at: {nodes}",
    )
