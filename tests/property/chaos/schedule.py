"""A schedule by its number: the same number is always the same workflow, weather and order of steps."""

import random
from collections.abc import Iterator
from contextlib import contextmanager
from random import Random

from stepweave.store import documents

from tests.property.chaos.checks import examine
from tests.property.chaos.weather import FINE, Weather, storm
from tests.property.chaos.workflows import Workflow, workflow
from tests.property.chaos.world import World

SMALLEST_BOUND = 8
"""Own head and body, RUN, events, JOIN#END, and one edge: its join, and a visit with head and body."""


def lived(seed: int, *, weather: Weather | None = None, given: Workflow | None = None, bound: int | None = None) -> World:
    """A world at the end of its schedule; whatever is not given is drawn from the seed."""
    chance = Random(seed)
    drawn = workflow(chance)
    bound = bound or chance.choice([SMALLEST_BOUND, 9, 11, 14, 20, 90])
    weather = weather or storm(chance)
    random.seed(seed)  # the engine spreads its waits by the global generator
    world = World(seed, given or drawn, weather, bound)
    with inline_bytes(chance.choice([300, documents.INLINE_BYTES, documents.INLINE_BYTES])):
        world.live()
        world.wrong = examine(world)
    return world


@contextmanager
def inline_bytes(number: int) -> Iterator[None]:
    """Longer values go to object storage."""
    before = documents.INLINE_BYTES
    documents.INLINE_BYTES = number
    try:
        yield
    finally:
        documents.INLINE_BYTES = before

