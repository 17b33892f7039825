"""What drives chains: takes each execution's next step, hears of its invocations, loses some of them."""

from collections import Counter
from random import Random

from stepweave.errors import StepweaveError
from stepweave.execution.step import ASK, END, WAIT, Step
from stepweave.texts import Text
from tests.property.chaos.actors import Actor
from tests.property.chaos.executions import ChaoticChains, Execution
from tests.property.chaos.processes import Processes
from tests.property.chaos.slow_clock import SlowClock
from tests.property.chaos.weather import FINE, Weather

GIVEN_UP = Text("平台放弃了这一步", "the platform gave this step up")
_TRIES = 3


class StateMachine:
    """`orphans` are invocations that go on though nobody waits for them: past their time, doubled, or of an execution
    that is gone. `deaths` counts what only the sweep can mend.
    """

    def __init__(self, chance: Random, clock: SlowClock, chains: ChaoticChains, processes: Processes) -> None:
        self._chance = chance
        self._clock = clock
        self._chains = chains
        self._processes = processes
        self.weather: Weather = FINE
        self.orphans = chains.unheard
        self._tokens = 0
        self.deaths = 0
        self.counts: Counter[str] = Counter()
        self.leaks: list[str] = []

    def drive(self, execution: Execution) -> None:
        """Begins the execution's step, or goes on with the invocation that does it."""
        invocation = execution.invocation
        if invocation is None:
            self._clock.reach(execution.wakes)
            invocation = execution.invocation = self._invoke(execution)
            if execution.token is None and self._chance.random() < self.weather.twin:
                self.orphans.append(self._invoke(execution))
                self.counts["twin"] += 1
        if self._chance.random() < self.weather.death:
            execution.invocation = None
            self._lose(invocation)
            self._try_again(execution)
            return
        invocation.resume()
        if invocation.done and execution.invocation is invocation:
            execution.invocation = None
            self._hear(execution, invocation)

    def lose_all(self) -> None:
        """Every execution is gone; some of their invocations live on."""
        self.counts["loss"] += 1
        for execution in list(self._chains.executions.values()):
            if execution.invocation is not None:
                self._lose(execution.invocation)
                execution.invocation = None
            self._end(execution)

    def move(self, group: list[Actor], place: int) -> Actor | None:
        """An actor that no execution waits for takes a step, or dies; gives it when it is through."""
        actor = group[place]
        if not actor.done:
            if self._chance.random() < self.weather.death:
                self.kill(actor)
            else:
                actor.resume()
        if not actor.done:
            return None
        del group[place]
        if actor.error is not None:
            self.repeats(actor.error)
        return actor

    def kill(self, actor: Actor) -> None:
        actor.kill()
        self.counts["kill"] += 1
        if self._chance.random() < self.weather.amnesia:
            self._processes.forget_one()

    def repeats(self, error: Exception) -> bool:
        """Whether an error says that the call is to be made again, which costs the step nothing."""
        if isinstance(error, StepweaveError) and error.retryable:
            self.counts[type(error).__name__] += 1
            return True
        self.leaks.append(f"an invocation raised {error!r}")
        return False

    def _invoke(self, execution: Execution) -> Actor:
        self.counts["invocation"] += 1
        advance = self._processes.one().advance
        step, chain = Step.from_json(execution.step), execution.name
        if step.kind == ASK and not execution.recovering:
            self._tokens += 1
            token = execution.token = f"token {self._tokens}"
            asks, order = self._processes.one().asks, self._tokens
            return Actor(lambda: asks.sleep(step, chain, token, order))
        if execution.recovering:
            return Actor(lambda: advance.recover(step, chain, GIVEN_UP))
        return Actor(lambda: advance.step(step, chain, lambda: 900.0))

    def _hear(self, execution: Execution, invocation: Actor) -> None:
        if invocation.error is not None:
            execution.token = None
            if not self.repeats(invocation.error):
                self._try_again(execution)
            return
        if execution.token is not None:
            execution.asleep = True
            return
        step: Step = invocation.result
        execution.tries, execution.recovering = 0, False
        if step.kind == END:
            self._chains.end(execution.name)
            return
        execution.step = step.to_json()
        if step.kind == WAIT:
            execution.step["kind"] = step.then
            execution.wakes = self._clock.monotonic() + step.seconds
            self.counts["wait"] += 1

    def _lose(self, invocation: Actor) -> None:
        if self._chance.random() < self.weather.overtime:
            self.orphans.append(invocation)
            self.counts["overtime"] += 1
        else:
            self.kill(invocation)

    def _try_again(self, execution: Execution) -> None:
        execution.tries += 1
        execution.token = None
        if execution.tries < _TRIES:
            return
        if execution.recovering or self._chance.random() < 0.3:
            self._end(execution)
        else:
            execution.recovering, execution.tries = True, 0
            self.counts["recover"] += 1

    def _end(self, execution: Execution) -> None:
        self._chains.end(execution.name)
        self.deaths += 1
