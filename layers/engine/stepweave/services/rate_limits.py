"""How many requests a key may make in a minute (contract §4, `RATE_LIMITED`), counted over all processes.

A process takes requests from the common counter by the handful and gives them out itself, so that a busy key costs a
write for many requests, not for each; an idle one costs one a minute. What a process has taken and not given out when
the minute ends is lost: a key never gets more than its limit, and at the very end may get a little less.
"""

import math
from collections import OrderedDict
from dataclasses import dataclass
from threading import Lock

from stepweave.clock import Clock
from stepweave.errors import RateLimited, Unavailable
from stepweave.items import OutcomeUnknown, WriteConflict
from stepweave.store.counters import Counters
from stepweave.texts import Text

WINDOW_SECONDS = 60

_HANDFUL = 100
"""The part of the limit, one in so many, that a process takes at once at most."""

_REMEMBERED = 1_000


@dataclass(frozen=True, slots=True)
class Allowance:
    """What `RateLimit-*` tells, and whether the request was within it; `remaining` as far as this process knows, `reset`
    in seconds."""

    limit: int
    remaining: int
    reset: int
    granted: bool = True


@dataclass(slots=True)
class _Lease:
    """What a process has taken of a window: `left` is not given out yet, `size` was taken at once. `spent`: there is
    no more."""

    window: int
    left: int = 0
    size: int = 0
    taken: int = 0
    spent: bool = False


class RequestLimit:
    """Thread-safe. `limit` 0: none. A store that cannot count now lets requests through."""

    def __init__(self, counters: Counters, clock: Clock, limit: int) -> None:
        self._counters = counters
        self._clock = clock
        self._limit = limit
        self._most = max(1, limit // _HANDFUL)
        self._leases: OrderedDict[str, _Lease] = OrderedDict()
        self._lock = Lock()

    def admit(self, name: str) -> Allowance | None:
        """Counts a request of `name`; None where nothing is limited."""
        if not self._limit:
            return None
        now = self._clock.now().timestamp()
        window = int(now // WINDOW_SECONDS)
        reset = math.ceil((window + 1) * WINDOW_SECONDS - now)
        with self._lock:
            lease = self._lease_of(name, window)
            if lease.left:
                lease.left -= 1
                return self._allowance(lease, reset)
            wanted = 0 if lease.spent else min(self._most, max(1, 2 * lease.size))
        if wanted:
            try:
                granted = self._counters.take(name, window, wanted, self._limit, int(now) + 2 * WINDOW_SECONDS)
            except (WriteConflict, OutcomeUnknown, Unavailable):
                return None
            with self._lock:
                lease.size = wanted
                lease.spent = granted < wanted
                lease.taken += granted
                if granted:
                    lease.left += granted - 1
                    return self._allowance(lease, reset)
        return Allowance(self._limit, 0, reset, granted=False)

    def _lease_of(self, name: str, window: int) -> _Lease:
        lease = self._leases.get(name)
        if lease is None or lease.window != window:
            lease = self._leases[name] = _Lease(window)
            if len(self._leases) > _REMEMBERED:
                self._leases.popitem(last=False)
        self._leases.move_to_end(name)
        return lease

    def _allowance(self, lease: _Lease, reset: int) -> Allowance:
        return Allowance(self._limit, max(0, self._limit - lease.taken + lease.left), reset)


def too_many(allowance: Allowance) -> RateLimited:
    return RateLimited(
        Text(
            f"请求过于频繁（每分钟最多 {allowance.limit} 次），请在 {allowance.reset} 秒后重试",
            f"too many requests (at most {allowance.limit} a minute): try again in {allowance.reset} seconds",
        ),
        retry_after=allowance.reset,
    )
