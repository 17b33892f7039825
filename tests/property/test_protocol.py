"""The run protocol on the real engine, over a store, a clock and a state machine as bad as AWS may be (chaos/).

`protocol.md` describes the rules and names the model that they were found with; this is the same test of the code.
STEPWEAVE_SCHEDULES sets how many schedules are tried: a long run is `STEPWEAVE_SCHEDULES=100000 pytest -n auto …`.
"""

import os

import pytest

from tests.property.chaos.callbacks import calling_back
from tests.property.chaos.mutations import LEFT_OUT, LeftOut, mutated
from tests.property.chaos.palettes import palette
from tests.property.chaos.schedule import SMALLEST_BOUND, lived
from tests.property.chaos.weather import FINE

SCHEDULES = int(os.environ.get("STEPWEAVE_SCHEDULES", "150"))
_BLOCK = 25
_MOST_TRIED = 400


def blocks(number: int) -> list[range]:
    """Seeds in blocks, each a test of its own, for many processes to share."""
    return [range(first, min(first + _BLOCK, number)) for first in range(0, number, _BLOCK)]


@pytest.mark.parametrize("seeds", blocks(SCHEDULES), ids=str)
def test_every_run_ends_right_whatever_happens_to_it(seeds: range) -> None:
    wrong = {seed: found for seed in seeds if (found := lived(seed).wrong)}
    assert not wrong


@pytest.mark.parametrize("seeds", blocks(SCHEDULES // 3), ids=str)
def test_every_agentic_run_ends_right_with_one_visit_for_one_decision(seeds: range) -> None:
    wrong = {seed: found for seed in seeds if (found := lived(seed, draw=palette).wrong)}
    assert not wrong


@pytest.mark.parametrize("seeds", blocks(SCHEDULES // 5), ids=str)
def test_a_transaction_of_eight_items_is_enough_for_every_run(seeds: range) -> None:
    wrong = {seed: found for seed in seeds if (found := lived(seed, bound=SMALLEST_BOUND).wrong)}
    assert not wrong


@pytest.mark.parametrize("seeds", blocks(SCHEDULES // 5), ids=str)
def test_who_wants_to_be_told_of_the_end_is_told_whatever_happens(seeds: range) -> None:
    wrong = {seed: found for seed in seeds if (found := lived(seed, draw=calling_back).wrong)}
    assert not wrong


@pytest.mark.parametrize("seeds", blocks(SCHEDULES // 5), ids=str)
def test_without_faults_nothing_needs_to_be_started_again_and_no_effect_happens_twice(seeds: range) -> None:
    worlds = {seed: lived(seed, weather=FINE) for seed in seeds}
    wrong = {seed: world.wrong for seed, world in worlds.items() if world.wrong}
    assert not wrong
    assert not any(world.begun["sweep"] for world in worlds.values() if world.run_item["status"] == "SUCCESS")


def test_a_schedule_is_the_same_whenever_it_is_tried() -> None:
    first, second = lived(7), lived(7)
    assert first.items.counts == second.items.counts
    assert first.machine.counts == second.machine.counts
    assert first.run_item == second.run_item


@pytest.mark.parametrize("left_out", LEFT_OUT.values(), ids=LEFT_OUT.keys())
def test_a_rule_that_is_left_out_is_missed(left_out: LeftOut) -> None:
    missed_in = None
    with mutated(*left_out.words):
        for seed in range(left_out.seed, left_out.seed + _MOST_TRIED):
            if lived(seed, weather=left_out.weather, draw=left_out.draw).wrong:
                missed_in = seed
                break
    assert missed_in is not None, f"{_MOST_TRIED} schedules went well without the rule"
    assert not lived(missed_in, weather=left_out.weather, draw=left_out.draw).wrong
