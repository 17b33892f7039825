"""Callbacks in bad weather: the queue refuses for load, or takes a run and its answer is lost."""

from collections.abc import Callable
from dataclasses import replace
from random import Random

from stepweave.adapters.memory import MemoryCallbacks
from stepweave.errors import Unavailable
from tests.property.chaos.weather import FINE, Weather
from tests.property.chaos.workflows import Workflow, workflow


def calling_back(chance: Random) -> Workflow:
    """A workflow whose run is to be told of when it has ended."""
    return replace(workflow(chance), calls_back=True)


class ChaoticCallbacks(MemoryCallbacks):
    def __init__(self, chance: Random, pause: Callable[[], None]) -> None:
        super().__init__()
        self._chance = chance
        self._pause = pause
        self.weather: Weather = FINE

    def send(self, run_id: str) -> None:
        self._pause()
        busy = self._chance.random() < self.weather.busy
        if busy and self._chance.random() < 0.5:
            raise Unavailable("too many callbacks")
        super().send(run_id)
        if busy:
            raise Unavailable("queued, but the answer was lost")
