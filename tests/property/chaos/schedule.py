"""A schedule by its number: the same number is always the same workflow, weather and order of steps."""

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from random import Random

from stepweave.services import settling
from stepweave.store import documents
from tests.property.chaos.checks import DagExamination
from tests.property.chaos.checks_agentic import AgenticExamination
from tests.property.chaos.weather import Weather, storm
from tests.property.chaos.workflows import Workflow, workflow
from tests.property.chaos.world import World

SMALLEST_BOUND = 8
"""Own head and body, RUN, events, JOIN#END, and one edge: its join, and a visit with head and body."""


def lived(
    seed: int,
    *,
    weather: Weather | None = None,
    draw: Callable[[Random], Workflow] = workflow,
    bound: int | None = None,
) -> World:
    """A world at the end of its schedule; whatever is not given is drawn from the seed."""
    chance = Random(seed)
    drawn = draw(chance)
    bound = bound or chance.choice([SMALLEST_BOUND, 9, 11, 14, 20, 90])
    weather = weather or storm(chance)
    random.seed(seed)  # the engine spreads its waits by the global generator
    world = World(seed, drawn, weather, bound)
    with small_numbers(chance):
        world.live()
        world.wrong = (AgenticExamination if drawn.is_agentic else DagExamination).of(world)
    return world


@contextmanager
def small_numbers(chance: Random) -> Iterator[None]:
    """In some schedules almost every value goes to object storage, and every few steps a chain hands over."""
    before = documents.INLINE_BYTES, settling.HAND_OVER_STEPS
    documents.INLINE_BYTES = chance.choice([300, before[0], before[0]])
    settling.HAND_OVER_STEPS = chance.choice([3, before[1], before[1]])
    try:
        yield
    finally:
        documents.INLINE_BYTES, settling.HAND_OVER_STEPS = before
