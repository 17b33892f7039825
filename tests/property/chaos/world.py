"""One schedule: a random run in random weather, one step of one actor at a time, all from one seed."""

from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from random import Random
from typing import Any

from stepweave.errors import RunAlreadyFinished, RunAlreadyStarted
from stepweave.items import Item, Key
from stepweave.runtime.engine import Engine, Ports
from stepweave.services.event_log import Event
from stepweave.store import heads
from tests.property.chaos.actors import Actor, pause
from tests.property.chaos.callbacks import ChaoticCallbacks
from tests.property.chaos.executions import ChaoticChains
from tests.property.chaos.nodes import Types
from tests.property.chaos.people import People
from tests.property.chaos.planners import Wanderer
from tests.property.chaos.processes import Processes
from tests.property.chaos.readers import Reader
from tests.property.chaos.slow_clock import SlowClock
from tests.property.chaos.state_machine import StateMachine
from tests.property.chaos.store import ChaoticItems, SlowBlobs
from tests.property.chaos.weather import FINE, Weather
from tests.property.chaos.workflows import Workflow

RUN_ID = "0000c0de"
INPUTS = {"question": "why"}
_MOST_STEPS = 60_000
_MOST_REVIVALS = 80
_MOST_AT_ONCE = 8


class World:
    """`wrong` gathers what must never happen; an `Examination` adds to it what the end shows.

    `bound` is the number of items a transaction may hold. The weather is bad until `weather.until` steps have passed;
    after that a run must come to its end by itself, with nothing but the redrives and the closing that the sweep does.
    """

    def __init__(self, seed: int, workflow: Workflow, weather: Weather, bound: int) -> None:
        self.chance = Random(seed)
        self.workflow = workflow
        self.weather = weather
        self.wrong: list[str] = []
        self.begun: Counter[str] = Counter()
        self.readers: list[Reader] = []
        self.finished: list[Reader] = []
        self.types = Types(self.chance)
        self.planner = Wanderer(self.chance)
        self.items = ChaoticItems(self.chance, pause, self._became_visible)
        self._clock = SlowClock(pause)
        self._chains = ChaoticChains(self.chance, self._clock, pause)
        self.blobs = SlowBlobs(pause)
        self.callbacks = ChaoticCallbacks(self.chance, pause)
        ports = Ports(self.items, self.blobs, self._chains, self.callbacks, self._clock)
        self._processes = Processes(self.chance, ports, self.types, self.planner, bound)
        self._processes.create(workflow, RUN_ID, INPUTS)
        self.items.chaotic = True
        self.machine = StateMachine(self.chance, self._clock, self._chains, self._processes)
        self.people = People(self.chance, self.items, RUN_ID)
        self._others: list[Actor] = []
        self._last_seq = 0
        self.revivals = 0

    @property
    def run_item(self) -> Item:
        item = self.items.peek(heads.run_key(RUN_ID))
        assert item is not None, "the run was created before anything else"
        return item

    @property
    def is_over(self) -> bool:
        return self.run_item["status"] in ("SUCCESS", "FAILED")

    def live(self) -> None:
        """From the start of the run to its last reader."""
        cancel_at = self.chance.randint(5, self.weather.within) if self.chance.random() < self.weather.cancel else None
        for _ in range(2):
            self._begin_reading(0)
        self._begin("start", self._start)
        for step in range(_MOST_STEPS):
            if step == cancel_at:
                self._begin("cancel", lambda engine: engine.ending.cancel(RUN_ID))
            self._let_happen(step)
            if not self._step():
                break
        else:
            self.wrong.append("never ends")
        self._settle_down()

    def _let_happen(self, step: int) -> None:
        """What comes from outside: the weather, redrives, the sweep, new readers."""
        weather = self.weather if step < self.weather.until else FINE
        self.items.weather = self._chains.weather = self.callbacks.weather = self.machine.weather = weather
        if self.chance.random() < weather.loss:
            self.machine.lose_all()
        if self.chance.random() < weather.reader and len(self.readers) < 4:
            self._begin_reading(self.chance.randint(0, self._last_seq - self.is_over))
        if len(self._others) > _MOST_AT_ONCE:
            return
        if self.chance.random() < weather.redrive:
            self._begin("redrive", lambda engine: engine.redrive.redrive(RUN_ID))
        if self.chance.random() < weather.sweep:
            self._begin("sweep", lambda engine: engine.sweep.look_after(RUN_ID))
        if self.run_item["closing"] and self.chance.random() < 0.01:
            self._begin("close", lambda engine: engine.closing.close(RUN_ID))
        if self.chance.random() < 0.01:
            self._answer()

    def _step(self) -> bool:
        """One step of somebody who can take one; False when all is done, or nothing more will ever happen."""
        executions = [each for each in self._chains.executions.values() if not each.asleep]
        deciding, orphans, others = self.items.deciding, self.machine.orphans, self._others
        number = len(deciding) + len(orphans) + len(others) + len(executions)
        if not number:
            return self._revive()
        if self.readers and self.chance.random() < 0.08:
            self._read(self.chance.choice(self.readers))
            return True
        place = int(self.chance.random() * number)
        if place < len(deciding):
            self.items.go_on(deciding[place])
            return True
        place -= len(deciding)
        if place < len(orphans):
            self.machine.move(orphans, place)
            return True
        place -= len(orphans)
        if place < len(others):
            gone = self.machine.move(others, place)
            if gone is not None and (gone.killed or gone.error is not None or gone.result is False):
                self.machine.deaths += 1  # it may have been about to start a chain, or could not wake it
            return True
        self.machine.drive(executions[place - len(others)])
        return True

    def _revive(self) -> bool:
        """Nobody moves. Either all is done, or people are waited for, or what died is started again by the sweep."""
        if self.is_over and not self.run_item["closing"]:
            return False
        if self.run_item["status"] == "CREATED":
            self._begin("start", self._start)
            return True
        if not self.is_over and self._answer():
            return True
        if not (self.is_over or self.machine.deaths or self._chains.stops or self._chains.lies):
            self.wrong.append("stands still though nothing died")
            return False
        self.revivals += 1
        if self.revivals > _MOST_REVIVALS:
            self.wrong.append("closing does not end" if self.is_over else "redriving does not help")
            return False
        self._clock.pass_by(61)
        self._begin("sweep", lambda engine: engine.sweep.look_after(RUN_ID))
        return True

    def _answer(self) -> bool:
        """Two people answer a question, if there is one."""
        questions = list(self.people.unanswered())
        if not questions:
            return False
        clarify_id = self.chance.choice(questions)
        for _ in range(2):
            self._begin("answer", lambda engine: self.people.answer(engine, clarify_id))
        return True

    def _settle_down(self) -> None:
        """Everything decided becomes visible, everybody reads to the end, whoever is left over dies."""
        self.items.weather = self._chains.weather = self.callbacks.weather = self.machine.weather = FINE
        for transaction in list(self.items.deciding):
            while transaction.changes:
                self.items.show_one(transaction)
        if self.is_over:
            for after in (0, self.chance.randint(0, self._last_seq - 1)):
                self._begin_reading(after)
            for reader in list(self.readers):
                for _ in range(20_000):
                    if reader.actor.done:
                        break
                    self._read(reader)
                else:
                    self.wrong.append("a reader never ends")
        self.sleepers = sum(each.asleep for each in self._chains.executions.values())
        invocations = (each.invocation for each in self._chains.executions.values())
        left = [*self.machine.orphans, *self._others, *(each.actor for each in self.readers)]
        for actor in [*left, *(each for each in invocations if each is not None)]:
            actor.kill()
        self.items.chaotic = False
        self.wrong += self.machine.leaks

    def _begin_reading(self, after: int) -> None:
        limit = self.chance.choice([2, 50])
        self.readers.append(Reader(self._processes.one().events, RUN_ID, after, limit, self._told))

    def _read(self, reader: Reader) -> None:
        reader.actor.resume()
        if reader.actor.done:
            self.readers.remove(reader)
            self.finished.append(reader)
            if reader.actor.error is not None:
                self.wrong.append(f"a reader raised {reader.actor.error!r}")

    def _told(self, event: Event) -> None:
        """An event is told only when the state that it tells is stored, or just becoming visible (law 3)."""
        if event.type == "node_status" and event.data["status"] != "RUNNING":
            key = heads.head_key(RUN_ID, event.data["visitUuid"])
            head = self.items.peek(key)
            if (head is None or head["status"] != event.data["status"]) and key not in self.items.held:
                self.wrong.append(f"told {event.data['status']}, stored {head and head['status']}")

    def _became_visible(self, key: Key, item: Item) -> None:
        if key.sort != heads.RUN:
            return
        if item["running"] < 0:
            self.wrong.append("a negative number of visits is running")
        if item["lastSeq"] < self._last_seq:
            self.wrong.append("the newest event id goes back")
        self._last_seq = item["lastSeq"]

    def _begin(self, kind: str, call: Callable[[Engine], Any]) -> None:
        engine = self._processes.one()
        self._others.append(Actor(lambda: call(engine)))
        self.begun[kind] += 1

    def _start(self, engine: Engine) -> None:
        with suppress(RunAlreadyStarted, RunAlreadyFinished):  # by an earlier call that died before it could say so
            engine.starting.start(engine.runs.get(RUN_ID))
