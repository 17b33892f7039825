"""The rules of protocol.md, each taken out by itself: a few words of the engine's source replaced by others.

The words must be there exactly once, so that whoever changes the engine learns that a rule has moved.
"""

import inspect
import textwrap
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from random import Random
from types import ModuleType
from typing import Any
from unittest.mock import patch

from stepweave import ids
from stepweave.scheduling import agentic, decide
from stepweave.services import event_log
from stepweave.services.advance import Advance
from stepweave.services.asks import Asks
from stepweave.services.closing import Closing
from stepweave.services.retries import Retries
from stepweave.services.settling import Settling
from stepweave.services.visit_work import VisitWork
from stepweave.store import commit
from stepweave.store.commit import Commit
from stepweave.store.documents import Documents
from stepweave.store.pauses import Pauses
from stepweave.store.runs import Runs
from tests.property.chaos.callbacks import calling_back
from tests.property.chaos.palettes import palette
from tests.property.chaos.weather import FINE, Weather
from tests.property.chaos.workflows import Workflow, workflow


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
        exec(
            compile(source.replace(self.before, self.after), f"<mutated {self.name}>", "exec"),
            function.__globals__,
            made,
        )
        return made[self.name]


@contextmanager
def mutated(*words: Words) -> Iterator[None]:
    with ExitStack() as stack:
        for each in words:
            stack.enter_context(patch.object(each.owner, each.name, each.changed()))
        yield


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A rule as the words that it is made of, the weather in which it is missed (None: drawn), and a schedule in which
    it was missed once; a change of the engine makes other schedules, so that the ones after it may be needed too.
    `draw` draws the workflow."""

    words: tuple[Words, ...]
    weather: Weather | None
    seed: int
    draw: Callable[[Random], Workflow] = workflow


_CROWD = Weather(twin=0.5, slow=0.9, overtime=1, death=0.01, until=4000)
_TWINS = Weather(twin=0.4, overtime=1, until=5000)
_SLOW = Weather(slow=0.8)
_FOG = Weather(unknown=0.3, until=5000)
_FOG_AND_CANCEL = Weather(unknown=0.3, slow=0.5, cancel=0.3, until=3000)
_CANCEL = Weather(unknown=0.05, death=0.005, cancel=1, until=5000)
_BUSY = Weather(busy=0.2, until=5000)
_NIGHT = Weather(death=0.05, overtime=0.5, sweep=0.01, until=3000)

LEFT_OUT = {
    "C: every commit is guarded by RUN.rev": LeftOut(
        (Words(Commit, "_run_write", 'Equals("rev", self.run.rev), ', ""),), _CROWD, 500001
    ),
    "C: there is no commit after the run's end": LeftOut(
        (
            Words(Commit, "_run_write", ', Equals("status", "RUNNING"))', ")"),
            Words(Settling, "end", "if state.run.is_over:", "if False:"),
        ),
        _CANCEL,
        500002,
    ),
    "C: joins are conditioned on their own version": LeftOut(
        (Words(Commit, "writes", 'Equals("ver", join.version) if join.version else missing("runs")', "None"),),
        _CROWD,
        500001,
    ),
    "B: attempts fence beside owners": LeftOut(
        (
            Words(commit, "still_mine", 'Equals("attempt", visit.attempt), ', ""),
            Words(VisitWork, "_look", " or visit.attempt != self.visit.attempt", ""),
            Words(Settling, "_read_again", " or visit.attempt != before.attempt", ""),
        ),
        _CROWD,
        500006,
    ),
    "F: an overtaken twin raises, instead of ending the chain": LeftOut(
        (Words(Advance, "_fenced", "raise Superseded(", "return step.ended() or ("),), _TWINS, 500002
    ),
    "S: deltas are counted": LeftOut(
        (
            Words(Commit, "_visit_write", '[Equals("chunk", visit.chunk)] if self.streams else []', "[]"),
            Words(VisitWork, "flush", "if visit.chunk > self.visit.chunk:", "if False:"),
        ),
        _FOG,
        500009,
    ),
    "S: earlier attempts are part of the trace": LeftOut(
        (Words(Retries, "whole", "if outcome.whole or not work.tries:", "if True:"),), None, 500015
    ),
    "E: what does not fit into a transaction is pending": LeftOut(
        (Words(decide._Walk, "_settle", "self._rest.append(", "("),), _SLOW, 500002
    ),
    "E: what a decision read was visible": LeftOut(
        (Words(Settling, "_decide", "if len(found) < len(uuids):", "if False:"),), _CROWD, 6
    ),
    "R: what is over is replayed": LeftOut(
        (Words(Advance, "_fenced", "return self._settling.replay(step, chain, graph, visit)", "return step.ended()"),),
        _CROWD,
        500002,
    ),
    "R: after a lost commit the visits made ready are read again": LeftOut(
        (Words(Settling, "_read_again", "state.certain = False", "pass"),), _FOG_AND_CANCEL, 500001
    ),
    "A: tokens are stored in order": LeftOut(
        (
            Words(Pauses, "hold", 'every(Equals("status", "OPEN"), newest)', 'Equals("status", "OPEN")'),
            Words(
                Asks,
                "sleep",
                "if pause.token_order is not None and pause.token_order >= order:",
                "if pause.token == token:",
            ),
            Words(Asks, "wake_again", "self._chains.stop(visit.owner)", "pass"),
        ),
        _NIGHT,
        500106,
    ),
    "A: a question has one answer": LeftOut(
        (Words(Pauses, "answer", 'condition=Equals("status", "OPEN")', "condition=None"),), None, 500002
    ),
    "A: a state is read as its head tells": LeftOut(
        (Words(Runs, "state", 'item["chunk"] < visit.saved', "False"),), None, 500075
    ),
    "X: closing counts to nVisits": LeftOut(
        (Words(Closing, "close", "len(visits) < run.visits or ", ""),), _CANCEL, 500140
    ),
    "X: closing waits for the questions of visits": LeftOut(
        (Words(Closing, "close", "or not awaited <= {pause.clarify_id for pause in pauses}", ""),), _CANCEL, 500040
    ),
    "X: closing keeps the status of a visit with pending edges": LeftOut(
        (Words(Runs, "close_visit", ' if visit.status == "RUNNING" else {}', ""),), _CANCEL, 500001
    ),
    "D: each redrive has names of its own": LeftOut(
        (Words(ids, "redriven_chain", "-r{redrives}", "-r"),), None, 500005
    ),
    "Q: readers take contiguous batches only": LeftOut(
        (Words(event_log, "contiguous", "if first > last + 1:", "if False:"),), _SLOW, 500006
    ),
    "AGENTIC: the planner's visits are numbered by the visits before them": LeftOut(
        (Words(agentic._Turn, "_ask", "Place(total(self._ledger), 1, self._ledger)", "Place(1, 1, self._ledger)"),),
        FINE,
        1,
        palette,
    ),
    "AGENTIC: the planner is asked when all inputs have run": LeftOut(
        (Words(agentic._Turn, "_open", "if not self._rest:", "if True:"),), FINE, 9, palette
    ),
    "AGENTIC: a visit leaves the ledger with itself in it": LeftOut(
        (Words(agentic._Turn, "_leave", "self._ledger = after(", "("),), FINE, 1, palette
    ),
    "AGENTIC: a decision that is final ends the run after its visit": LeftOut(
        (Words(agentic._Turn, "_go_on", "elif is_final:", "elif False:"),), FINE, 2, palette
    ),
    "AGENTIC: an overtaken planner commits nothing": LeftOut(
        (
            Words(commit, "still_mine", 'Equals("attempt", visit.attempt), ', ""),
            Words(VisitWork, "_look", " or visit.attempt != self.visit.attempt", ""),
            Words(Settling, "_read_again", " or visit.attempt != before.attempt", ""),
        ),
        _CROWD,
        10,
        palette,
    ),
    "AGENTIC: a lost answer of a commit that decided is looked up": LeftOut(
        (Words(Settling, "_read_again", "state.certain = False", "pass"),), _FOG_AND_CANCEL, 1, palette
    ),
    "AGENTIC: a visit that a decision chose is started again by who finds it over": LeftOut(
        (Words(Advance, "_fenced", "return self._settling.replay(step, chain, graph, visit)", "return step.ended()"),),
        _CROWD,
        1,
        palette,
    ),
    "X: a queue that does not take a callback is asked again": LeftOut(
        (Words(Closing, "_queue_callback", "return False", "return True"),), _BUSY, 0, calling_back
    ),
    "Q: a large batch has a place of its own": LeftOut(
        (Words(Documents, "pack", "place = ", "place = name or "),), None, 500002
    ),
}
