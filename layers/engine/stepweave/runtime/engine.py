"""The composition root: every service over one set of ports. AWS and memory differ only in what is passed in."""

from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from datetime import timedelta

from stepweave.clock import Clock
from stepweave.graph.spec import Specs
from stepweave.nodes.table import spec_of
from stepweave.ports import BlobStore, CallbackQueue, Chains, ItemStore
from stepweave.scheduling.decision import DYNAMODB, Bounds
from stepweave.services.advance import Advance
from stepweave.services.asks import Asks
from stepweave.services.closing import Closing
from stepweave.services.context_access import ContextAccess
from stepweave.services.context_desk import ContextDesk
from stepweave.services.context_index import VisitIndex
from stepweave.services.context_queries import ContextQueries
from stepweave.services.context_tokens import ContextRules, ContextTokens
from stepweave.services.creating import Creating
from stepweave.services.ending import Ending
from stepweave.services.event_log import EventLog
from stepweave.services.files import Files
from stepweave.services.forgetting import RECORDS_KEPT, Forgetting
from stepweave.services.memory import RunMemory
from stepweave.services.outputs import Outputs
from stepweave.services.planning import Plan, by_model
from stepweave.services.redrive import UNSEEN, Redrive
from stepweave.services.results import RunResults
from stepweave.services.runs import RunService
from stepweave.services.settling import Settling
from stepweave.services.skills import SkillService
from stepweave.services.starting import Starting
from stepweave.services.sweep import Sweep
from stepweave.services.visit_work import Equipment
from stepweave.store.pauses import Pauses
from stepweave.store.runs import Runs
from stepweave.store.skills import SkillStore
from stepweave.store.tokens import Tokens
from stepweave.store.workflows import Workflows
from stepweave.store.workspace import Workspaces

EVENTS_KEPT = timedelta(hours=25)
CONTEXT_RULES = ContextRules()


@dataclass(frozen=True)
class Ports:
    items: ItemStore
    blobs: BlobStore
    chains: Chains
    callbacks: CallbackQueue
    clock: Clock


class Engine:
    def __init__(
        self,
        ports: Ports,
        *,
        equipment: Equipment,
        specs: Specs = spec_of,
        events_kept: timedelta = EVENTS_KEPT,
        records_kept: timedelta = RECORDS_KEPT,
        unseen: timedelta = UNSEEN,
        flat: bool = False,
        bounds: Bounds = DYNAMODB,
        plan: Plan = by_model,
        context: ContextRules = CONTEXT_RULES,
    ) -> None:
        self.ports = ports
        self.specs = specs
        self.store = Runs(ports.items, ports.blobs)
        self.workflows = Workflows(ports.items, ports.blobs)
        self.memory = RunMemory(self.store)
        workspaces = Workspaces(ports.blobs)
        self.files = Files(self.store, workspaces, ports.blobs, ports.clock, records_kept)
        pauses = Pauses(ports.items)
        self.closing = Closing(
            runs=self.store,
            pauses=pauses,
            chains=ports.chains,
            callbacks=ports.callbacks,
            clock=ports.clock,
            events_kept=events_kept,
        )
        skills = SkillStore(ports.items, ports.blobs)
        self.skills = SkillService(skills, ports.clock)
        self.asks = Asks(self.store, pauses, ports.chains, ports.clock)
        self.ending = Ending(self.store, ports.clock, self.closing)
        settling = Settling(
            runs=self.store,
            chains=ports.chains,
            clock=ports.clock,
            specs=specs,
            memory=self.memory,
            closing=self.closing,
            workspaces=workspaces,
            flat=flat,
            bounds=bounds,
        )
        self.runs = RunService(self.store, self.workflows, ports.clock, records_kept)
        self.starting = Starting(self.store, self.workflows, ports.clock, self.memory, settling, workspaces)
        self.creating = Creating(self.runs, workspaces)
        self.events = EventLog(self.store, self.workflows, self.memory)
        self.outputs = Outputs(self.store, self.memory)
        self.results = RunResults(
            runs=self.store,
            workflows=self.workflows,
            memory=self.memory,
            outputs=self.outputs,
            asks=self.asks,
            files=self.files,
            clock=ports.clock,
        )
        index = VisitIndex(ports.clock, self.memory)
        self.context_tokens = ContextTokens(Tokens(ports.items), self.store, ports.clock, context)
        self.context_queries = ContextQueries(self.store, self.memory, index, ports.clock)
        self.context_desk = ContextDesk(
            self.context_tokens, self.context_queries, self.workflows, ports.clock, enabled=context.enabled
        )
        self.equipment = replace(equipment, context=self._context_access() if context.enabled else None)
        self.redrive = Redrive(
            runs=self.store,
            workflows=self.workflows,
            chains=ports.chains,
            clock=ports.clock,
            specs=specs,
            closing=self.closing,
            ending=self.ending,
            unseen=unseen,
        )
        self.sweep = Sweep(
            runs=self.store,
            clock=ports.clock,
            redrive=self.redrive,
            asks=self.asks,
            closing=self.closing,
            files=self.files,
            forgetting=Forgetting(self.store, ports.blobs, ports.clock, records_kept),
            tokens=self.context_tokens,
            events_kept=events_kept,
        )
        self.advance = Advance(
            runs=self.store,
            workflows=self.workflows,
            clock=ports.clock,
            specs=specs,
            memory=self.memory,
            closing=self.closing,
            settling=settling,
            pauses=pauses,
            equipment=self.equipment,
            workspaces=workspaces,
            skills=skills,
            flat=flat,
            plan=plan,
        )

    def _context_access(self) -> ContextAccess:
        def serving() -> AbstractContextManager[str]:
            from stepweave.runtime.loopback import serve  # only functions that run agents listen

            return serve(self.context_desk)

        return ContextAccess(self.context_tokens, serving)
