"""A repeated request finds what the first one made (contract §4, `Idempotency-Key`): one item, written with the run."""

import hashlib
from dataclasses import dataclass
from datetime import datetime, timedelta

from stepweave.items import Item, Less, Put, either, missing

KEPT = timedelta(hours=24)
SHAPE = 1


@dataclass(frozen=True, slots=True)
class Once:
    """`caller` is the API key's id, `token` what the client sent, `fingerprint` stands for the whole request."""

    caller: str
    token: str
    fingerprint: str


def reservation(once: Once, run_id: str, now: datetime) -> Put:
    """Says that this token made this run. Refused while an earlier one holds; the refusal shows it.

    `expiresAt` is in seconds, so that the table's own expiry may take the item away.
    """
    name = hashlib.sha256(f"{once.caller}\n{once.token}".encode()).hexdigest()
    item: Item = {
        "runId": f"once#{name}",
        "sk": "ONCE",
        "v": SHAPE,
        "run": run_id,
        "fingerprint": once.fingerprint,
        "expiresAt": int((now + KEPT).timestamp()),
    }
    return Put("runs", item, either(missing("runs"), Less("expiresAt", int(now.timestamp()))))
