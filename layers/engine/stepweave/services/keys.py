"""API keys: made, listed, revoked, and recognised (contract §4). Shown once, stored hashed."""

import hashlib
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from threading import Lock

from stepweave import clock as times
from stepweave import ids
from stepweave.clock import Clock
from stepweave.errors import NotFound, ValidationFailed
from stepweave.items import WriteRefused
from stepweave.store.keys import ApiKey, Keys, Scope
from stepweave.texts import Text

TRUSTED = timedelta(seconds=5)
"""How long a key that was looked up counts without looking again; revoking acts within this time."""

MOST_KEYS = 2_000
_REMEMBERED = 1_000
_LONGEST_SECRET = 200


@dataclass(frozen=True, slots=True)
class MadeKey:
    """A new key. Its secret, and the one that callbacks of its runs are signed with, are not to be had again."""

    key: ApiKey
    secret: str
    callback_secret: str


class ApiKeys:
    """Thread-safe. Only the hash of a secret is compared, so the time that a comparison takes tells nothing of it."""

    def __init__(self, keys: Keys, clock: Clock, trusted: timedelta = TRUSTED) -> None:
        self._keys = keys
        self._clock = clock
        self._trusted = trusted.total_seconds()
        self._known: OrderedDict[str, tuple[float, ApiKey]] = OrderedDict()
        self._lock = Lock()

    def create(self, name: str, scopes: Sequence[Scope], workflows: Sequence[str] | None) -> MadeKey:
        """`workflows` binds it to these names."""
        if "admin" in scopes and workflows is not None:
            raise ValidationFailed(
                Text(
                    "workflows：管理密钥（scope admin）不能绑定工作流",
                    "workflows: a key of scope admin cannot be bound to workflows",
                )
            )
        if self._keys.count() >= MOST_KEYS:
            raise ValidationFailed(
                Text(
                    f"已有 {MOST_KEYS} 个密钥，请先吊销不用的密钥",
                    f"there are {MOST_KEYS} keys: revoke those that nobody uses first",
                )
            )
        while True:
            secret, callback_secret = ids.new_api_key(), ids.new_callback_secret()
            key = ApiKey(
                key_id=ids.new_key_id(),
                key_hash=hash_secret(secret),
                name=name,
                scopes=tuple(dict.fromkeys(scopes)),
                workflows=tuple(dict.fromkeys(workflows)) if workflows is not None else None,
                created_at=times.to_json(self._clock.now()),
                signs=True,
            )
            try:
                self._keys.add(key, callback_secret)
                return MadeKey(key, secret, callback_secret)
            except WriteRefused:
                continue  # the id is taken

    def recognise(self, secret: str) -> ApiKey | None:
        """The key with this secret, as it stood at most `TRUSTED` ago."""
        if not 0 < len(secret) <= _LONGEST_SECRET:
            return None
        key_hash = hash_secret(secret)
        now = self._clock.monotonic()
        with self._lock:
            seen = self._known.get(key_hash)
        if seen is not None and now - seen[0] < self._trusted:
            return seen[1]
        key = self._keys.find(key_hash)
        with self._lock:
            self._known.pop(key_hash, None)
            if key is not None:
                self._known[key_hash] = (now, key)
                if len(self._known) > _REMEMBERED:
                    self._known.popitem(last=False)
        return key

    def listed(self) -> list[ApiKey]:
        return self._keys.listed()

    def revoke(self, key_id: str) -> None:
        if not self._keys.remove(key_id):
            raise NotFound(Text(f"密钥 {key_id} 不存在", f"there is no key {key_id}"))
        with self._lock:
            for key_hash in [known for known, (_, key) in self._known.items() if key.key_id == key_id]:
                del self._known[key_hash]


def hash_secret(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()
