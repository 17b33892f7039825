"""Taking times: contestants take turns, so that a busy moment of the machine hits all of them alike."""

import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(slots=True)
class Times:
    """Seconds of wall clock and of this process's CPU, one of each a turn."""

    wall: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)

    def take(self, work: Callable[[], object]) -> None:
        cpu, wall = time.process_time(), time.perf_counter()
        work()
        self.wall.append(time.perf_counter() - wall)
        self.cpu.append(time.process_time() - cpu)


@dataclass(frozen=True, slots=True)
class Contestant:
    """`prepare` is done before each turn and does not count."""

    run: Callable[[], object]
    prepare: Callable[[], object] = lambda: None


def take_turns(contestants: Mapping[str, Contestant], turns: int, warm_up: int = 3) -> dict[str, Times]:
    """Each contestant once a round, beginning with another one each round; the warm-up rounds do not count."""
    times = {name: Times() for name in contestants}
    names = list(contestants)
    for turn in range(-warm_up, turns):
        start = turn % len(names)
        for name in names[start:] + names[:start]:
            contestants[name].prepare()
            (times[name] if turn >= 0 else Times()).take(contestants[name].run)
    return times


def median_ms(seconds: Sequence[float], each: int = 1) -> float:
    """The median in milliseconds, divided among `each`."""
    return statistics.median(seconds) * 1000 / each


def percentile_ms(seconds: Sequence[float], percent: float) -> float:
    """The smallest value that at least `percent` of all do not pass: of few values the 99th is the largest."""
    ordered = sorted(seconds)
    rank = max(1, -(-len(ordered) * percent // 100))
    return ordered[int(rank) - 1] * 1000


def spread(seconds: Sequence[float]) -> float:
    """How far apart the middle half of the values lies, as a part of the median: the noise of a figure."""
    low, _, high = statistics.quantiles(seconds, n=4)
    return (high - low) / statistics.median(seconds)
