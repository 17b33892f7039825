"""The rules of protocol.md, each taken out by itself: a few words of the engine's source replaced by others.

The words must be there exactly once, so that whoever changes the engine learns that a rule has moved.
"""

import inspect
import textwrap
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from types import ModuleType
from typing import Any
from unittest.mock import patch

from stepweave import ids
from stepweave.scheduling import decide
from stepweave.services import event_log
from stepweave.services.advance import Advance
from stepweave.services.asks import Asks
from stepweave.services.closing import Closing
from stepweave.services.redrive import Redrive
from stepweave.services.retries import Retries
from stepweave.services.settling import Settling
from stepweave.services.visit_work import VisitWork
from stepweave.store import commit, pauses
from stepweave.store.commit import Commit
from stepweave.store.documents import Documents
from stepweave.store.runs import Runs


@dataclass(frozen=True, slots=True)
class Words:
    """`before` becomes `after` in the function `name` of a class or module."""

    owner: type | ModuleType
    name: str
    before: str
    after: str

    def changed(self) -> Any:
        function = inspect.getattr_static(self.owner, self.name)
        source = textwrap.dedent(inspect.getsource(function))
        found = source.count(self.before)
        assert found == 1, f"{self.name} has {self.before!r} {found} times: bring the mutation up to date"
        made: dict[str, Any] = {}
        exec(compile(source.replace(self.before, self.after), f"<mutated {self.name}>", "exec"), function.__globals__, made)
        return made[self.name]


@contextmanager
def mutated(*words: Words) -> Iterator[None]:
    with ExitStack() as stack:
        for each in words:
            stack.enter_context(patch.object(each.owner, each.name, each.changed()))
        yield


LEFT_OUT: dict[str, tuple[Words, ...]] = {
    "every commit is guarded by RUN.rev (C)": (Words(Commit, "_run_write", 'Equals("rev", self.run.rev), ', ""),),
    "no commit after the run's end (C)": (
        Words(Commit, "_run_write", 'Equals("rev", self.run.rev), Equals("status", "RUNNING")', 'Equals("rev", self.run.rev)'),
        Words(Settling, "end", "if state.run.is_over:", "if False:"),
    ),
    "joins are conditioned on their own version (C)": (
        Words(Commit, "writes", 'Equals("ver", join.version) if join.version else missing("runs")', "None"),
    ),
    "attempts fence beside owners (B)": (
        Words(commit, "still_mine", 'Equals("attempt", visit.attempt), ', ""),
        Words(VisitWork, "flush", " or visit.attempt != self.visit.attempt", ""),
        Words(Settling, "_read_again", " or visit.attempt != before.attempt", ""),
    ),
    "an overtaken twin raises, instead of ending the chain (F)": (
        Words(Advance, "_fenced", "raise Superseded(", "return step.ended() or ("),
    ),
    "deltas are counted (S)": (
        Words(Commit, "_visit_write", '[Equals("chunk", visit.chunk)] if self.streams else []', "[]"),
        Words(VisitWork, "flush", "if visit.chunk > self.visit.chunk:", "if False:"),
    ),
    "what does not fit is pending (E)": (Words(decide._Walk, "_settle", "self._rest.append(", "("),),
    "what is over is replayed (R)": (
        Words(Advance, "_fenced", "return self._settling.replay(step, chain, graph, visit)", "return step.ended()"),
    ),
    "after a lost commit the outs are read again (R)": (
        Words(Settling, "_read_again", "state.certain = False", "pass"),
    ),
    "closing counts visits (X)": (Words(Closing, "close", "len(visits) < run.visits or ", ""),),
    "closing waits for questions (X)": (
        Words(Closing, "close", "or not awaited <= {pause.clarify_id for pause in pauses}", ""),
    ),
    "closing keeps the status of what has ended (X)": (
        Words(Runs, "close_visit", ' if visit.status == "RUNNING" else {}', ""),
    ),
    "closing drops pending edges (X)": (Words(Runs, "close_visit", 'removes=("pending",)', "removes=()"),),
    "redrives have names of their own (D)": (Words(ids, "redriven_chain", "-r{redrives}", "-r"),),
    "readers take contiguous batches only (Q)": (Words(event_log, "contiguous", "if first > last + 1:", "if False:"),),
    "tokens are stored in order (A)": (
        Words(pauses.Pauses, "hold", 'every(Equals("status", "OPEN"), newest)', 'Equals("status", "OPEN")'),
        Words(Asks, "sleep", "if pause.token_order is not None and pause.token_order >= order:", "if pause.token == token:"),
        Words(Asks, "wake_again", "self._chains.stop(visit.owner)", "pass"),
    ),
    "a question has one answer (A)": (
        Words(pauses.Pauses, "answer", 'condition=Equals("status", "OPEN")', "condition=None"),
    ),
    "a state is read with its head": (Words(Runs, "state", 'item["chunk"] < visit.saved', "False"),),
    "what leads to a node is waited for": (
        Words(Settling, "_decide", "if len(found) < len(uuids):", "if False:"),
    ),
    "large values have names of their own": (
        Words(Documents, "pack", "place = ", "place = name or "),
    ),
    "earlier attempts are part of the trace": (Words(Retries, "whole", "if outcome.whole or not work.tries:", "if True:"),),
}
