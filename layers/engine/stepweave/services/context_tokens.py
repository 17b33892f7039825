"""Context tokens (contract §6): made for a visit while it runs, renewed meanwhile, worth nothing the moment it ends.

Whether a token is good is read from the visit's own head: it must run, wait for nobody, and still be in the invocation
that the token was made in. So no way a visit can end needs to know of tokens; removing them is mere tidiness.
"""

import hashlib
import hmac
from collections import defaultdict
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from threading import Lock

from stepweave import ids
from stepweave.clock import Clock
from stepweave.errors import Unavailable
from stepweave.execution.run import Run
from stepweave.execution.visit import Visit
from stepweave.items import OutcomeUnknown, WriteConflict
from stepweave.store.runs import Runs
from stepweave.store.tokens import ContextToken, Tokens

TRUSTED_SECONDS = 1.0
"""How long a token counts without looking again, with the process that made it and runs its visit; with no other."""

_CLEANED_AT_ONCE = 500


@dataclass(frozen=True, slots=True)
class ContextRules:
    """The settings `hermes.context-query.*`: `ttl` of a token, the pause between clean-ups, live tokens a visit."""

    enabled: bool = True
    ttl: timedelta = timedelta(seconds=120)
    cleanup_interval: timedelta = timedelta(seconds=60)
    most_a_visit: int = 4


@dataclass(frozen=True, slots=True)
class Grant:
    """What a good token stands for: a visit that runs. What it may see of its run never changes while it does."""

    run: Run
    visit: Visit


@dataclass(slots=True)
class _Own:
    grant: Grant | None = None
    read_at: float = 0.0


class ContextTokens:
    """Thread-safe. Only hashes are kept, and only hashes are compared."""

    def __init__(self, tokens: Tokens, runs: Runs, clock: Clock, rules: ContextRules) -> None:
        self._tokens = tokens
        self._runs = runs
        self._clock = clock
        self._rules = rules
        self._lock = Lock()
        self._own: dict[str, _Own] = {}
        self._live: dict[tuple[str, int], list[str]] = defaultdict(list)
        self._renewed_at: dict[tuple[str, int], float] = {}
        self._cleaned_at: float | None = None

    def issue(self, visit: Visit) -> str:
        """A new token, for the invocation that has begun `visit`; one too many ends the visit's oldest.

        Raises `Unavailable`.
        """
        secret = ids.new_context_token()
        token = ContextToken(
            _hash(secret), visit.run_id, visit.visit_uuid, visit.attempt, self._clock.now() + self._rules.ttl
        )
        try:
            self._tokens.add(token)
        except OutcomeUnknown as error:
            raise Unavailable("a context token could not be stored") from error
        key = (visit.visit_uuid, visit.attempt)
        with self._lock:
            self._own[token.token_hash] = _Own()
            live = self._live[key]
            live.append(token.token_hash)
            self._renewed_at.setdefault(key, self._clock.monotonic())
            surplus = live[: -self._rules.most_a_visit]
        for token_hash in surplus:
            self._end(key, token_hash)
        return secret

    def revoke(self, visit: Visit, secret: str) -> None:
        """The token is not needed any more. That it may not be removed from the table now does no harm."""
        self._end((visit.visit_uuid, visit.attempt), _hash(secret))

    def renew(self, visit: Visit) -> None:
        """Called again and again while the visit runs: its tokens live on. What the store refuses is tried again."""
        key = (visit.visit_uuid, visit.attempt)
        if key not in self._live:
            return
        now = self._clock.monotonic()
        with self._lock:
            if key not in self._live or now - self._renewed_at[key] < self._rules.ttl.total_seconds() / 4:
                return
            self._renewed_at[key] = now
            live = list(self._live[key])
        for token_hash in live:
            with suppress(WriteConflict, OutcomeUnknown, Unavailable):
                if not self._tokens.renew(token_hash, self._clock.now() + self._rules.ttl):
                    self._forget(key, token_hash)

    def recognise(self, given: Sequence[str], *, own_only: bool = False) -> Grant | None:
        """What the token stands for, of all that a request carries: it must be one. None: it is no good.

        `own_only`: only tokens that this process has made are any good, and one that was a second ago still is.
        """
        if len(given) != 1 or not ids.CONTEXT_TOKEN.fullmatch(given[0]):
            return None
        token_hash = _hash(given[0])
        return self._recall(token_hash) if own_only else self._read(token_hash)

    def _recall(self, token_hash: str) -> Grant | None:
        now = self._clock.monotonic()
        with self._lock:
            own = self._own.get(token_hash)
        if own is None:
            return None
        if own.grant is None or now - own.read_at >= TRUSTED_SECONDS:
            own.grant, own.read_at = self._read(token_hash), now
        return own.grant

    def clean(self) -> int:
        """For the sweep: removes what has expired, when the last time is long enough ago; gives the number."""
        now = self._clock.monotonic()
        if self._cleaned_at is not None and now - self._cleaned_at < self._rules.cleanup_interval.total_seconds():
            return 0
        self._cleaned_at = now
        return self._tokens.remove_expired(self._clock.now(), _CLEANED_AT_ONCE)

    def _read(self, token_hash: str) -> Grant | None:
        token = self._tokens.find(token_hash)
        if token is None or not hmac.compare_digest(token.token_hash, token_hash):
            return None
        if token.expires_at <= self._clock.now():
            return None
        run, visit, _ = self._runs.read(token.run_id, token.visit_uuid, ())
        goes_on = not run.is_over and visit.status == "RUNNING" and visit.waiting is None
        return Grant(run, visit) if goes_on and visit.attempt == token.attempt else None

    def _end(self, key: tuple[str, int], token_hash: str) -> None:
        self._forget(key, token_hash)
        with suppress(OutcomeUnknown, WriteConflict, Unavailable):
            self._tokens.remove(token_hash)

    def _forget(self, key: tuple[str, int], token_hash: str) -> None:
        with self._lock:
            self._own.pop(token_hash, None)
            live = self._live.get(key, [])
            if token_hash in live:
                live.remove(token_hash)
            if not live:
                self._live.pop(key, None)
                self._renewed_at.pop(key, None)


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()
