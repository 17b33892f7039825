"""How bad a schedule is: the odds of everything that can go wrong."""

from dataclasses import dataclass, replace
from random import Random
from typing import Any


@dataclass(frozen=True, slots=True)
class Weather:
    """`unknown`: a write whose outcome nobody tells. `slow`: a transaction that takes long to become visible. `busy`: a
    call refused for load. `death`: an invocation is lost at
    this step, of those `overtime` live on unheard. `twin`: a step is invoked twice. `loss`: all executions end at once.
    `redrive`, `sweep`, `reader`: one more of them begins. `lie`: a living execution is called dead. `amnesia`: a warm process is
    replaced. `cancel`: of a schedule, not of a step, and `within` its first steps. After `until` steps the weather is fine.
    """

    unknown: float = 0.0
    slow: float = 0.25
    busy: float = 0.0
    death: float = 0.0
    overtime: float = 0.4
    twin: float = 0.0
    loss: float = 0.0
    redrive: float = 0.0
    sweep: float = 0.0
    lie: float = 0.0
    amnesia: float = 0.0
    cancel: float = 0.0
    within: int = 600
    reader: float = 0.004
    until: int = 0


FINE = Weather()


def storm(chance: Random) -> Weather:
    """What protocol-model.py uses, and a store that refuses for load."""
    return Weather(
        unknown=chance.choice([0, 0.05]),
        busy=chance.choice([0, 0, 0.01]),
        death=0.015,
        twin=0.06,
        loss=0.0015,
        redrive=0.004,
        sweep=0.003,
        lie=0.05,
        amnesia=0.3,
        cancel=0.2,
        until=chance.choice([200, 800, 2000, 4000]),
    )


def worse(weather: Weather, **odds: Any) -> Weather:
    return replace(weather, **odds)
