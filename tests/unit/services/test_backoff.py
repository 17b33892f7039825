"""Nobody tries for ever while the store is out of reach (services/backoff.py, store/again.py)."""

import pytest

from stepweave.adapters.memory import MemoryItems
from stepweave.errors import Unavailable
from stepweave.items import Equals, Item, Key, OutcomeUnknown, Update, WriteConflict, WriteRefused
from stepweave.services.backoff import Backoff
from stepweave.store.again import update_again
from tests.unit.services.stage import Clock

KEY = Key("runs", "0000c0de", "RUN")


class Unreliable(MemoryItems):
    """Answers an update only after so many faults; the update has an effect each time all the same."""

    def __init__(self, faults: int, fault: type[Exception]) -> None:
        super().__init__()
        self.left = faults
        self._fault = fault

    def update(self, update: Update) -> Item:
        item = super().update(update)
        self.left -= 1
        if self.left >= 0:
            raise self._fault
        return item


def exhaust(backoff: Backoff) -> None:
    while True:
        backoff.wait()


def test_waits_grow_to_half_a_second_and_end_with_a_word() -> None:
    clock = Clock()
    backoff = Backoff(clock)
    with pytest.raises(Unavailable):
        exhaust(backoff)
    assert max(clock.slept[:3]) < 0.02
    assert 0.3 < max(clock.slept) <= 0.5
    assert 30 < sum(clock.slept) < 100


@pytest.mark.parametrize("fault", [OutcomeUnknown, WriteConflict])
def test_an_update_is_made_until_it_is_known_what_came_of_it(fault: type[Exception]) -> None:
    items = Unreliable(20, fault)
    assert update_again(items, Update(KEY, sets={"closing": False}))["closing"] is False


@pytest.mark.parametrize("fault", [OutcomeUnknown, WriteConflict])
def test_of_a_store_out_of_reach_it_is_said_so(fault: type[Exception]) -> None:
    with pytest.raises(Unavailable):
        update_again(Unreliable(1_000_000, fault), Update(KEY, sets={"closing": False}))


def test_a_refusal_is_the_callers_to_judge() -> None:
    with pytest.raises(WriteRefused):
        update_again(MemoryItems(), Update(KEY, sets={"closing": False}, condition=Equals("open", "1")))
