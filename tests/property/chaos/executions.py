"""The executions of the state machine, and what is known of them from outside."""

from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any

from stepweave.errors import Unavailable
from tests.property.chaos.actors import Actor
from tests.property.chaos.slow_clock import SlowClock
from tests.property.chaos.weather import FINE, Weather


@dataclass(slots=True, eq=False)
class Execution:
    """One running execution: the step it is at, and the invocation whose answer it waits for. With a `token` it is at
    a question, `asleep` once the token has been taken care of.
    """

    name: str
    step: dict[str, Any]
    began: float
    recovering: bool = False
    tries: int = 0
    wakes: float = 0.0
    invocation: Actor | None = None
    token: str | None = None
    asleep: bool = False


class ChaoticChains:
    """`Chains` that are described as eventually consistent as AWS allows, and now and then wrongly.

    `unheard` are invocations that go on though nobody waits for their answer any more.
    """

    def __init__(self, chance: Random, clock: SlowClock, pause: Callable[[], None]) -> None:
        self._chance = chance
        self._clock = clock
        self._pause = pause
        self._ended: dict[str, float] = {}
        self.executions: dict[str, Execution] = {}
        self.weather: Weather = FINE
        self.lies = 0
        self.stops = 0
        self.unheard: list[Actor] = []

    def start(self, name: str, step: dict[str, Any]) -> None:
        self._pause()
        busy = self._chance.random() < self.weather.busy
        if busy and self._chance.random() < 0.5:
            raise Unavailable("too many executions are started")
        if name not in self.executions and name not in self._ended:
            self.executions[name] = Execution(name, step, self._clock.monotonic())
        if busy:
            raise Unavailable("started, but the answer was lost")

    def is_running(self, name: str) -> bool | None:
        self._pause()
        now = self._clock.monotonic()
        execution = self.executions.get(name)
        if execution is not None:
            if self._chance.random() < self.weather.lie:
                self.lies += 1
                return False
            if now - execution.began < 60 and self._chance.random() < 0.1:
                self.lies += 1
                return None
            return True
        if name not in self._ended:
            return None
        return now - self._ended[name] < 60 and self._chance.random() < 0.1

    def wake(self, token: str, step: dict[str, Any]) -> bool:
        self._pause()
        busy = self._chance.random() < self.weather.busy
        if busy and self._chance.random() < 0.5:
            raise Unavailable("too many tokens are called")
        woken = next((each for each in self.executions.values() if each.token == token), None)
        if woken is not None:
            if woken.invocation is not None:  # the one that took care of the token goes on unheard
                self.unheard.append(woken.invocation)
            woken.step, woken.token, woken.asleep, woken.invocation, woken.tries = step, None, False, None, 0
        if busy:
            raise Unavailable("called, but the answer was lost")
        return woken is not None

    def stop(self, name: str) -> None:
        self._pause()
        self.stops += name in self.executions
        self.end(name)

    def end(self, name: str) -> None:
        """The execution is over, its name stays taken; what it waited for goes on unheard."""
        execution = self.executions.pop(name, None)
        if execution is not None:
            self._ended[name] = self._clock.monotonic()
            if execution.invocation is not None:
                self.unheard.append(execution.invocation)
