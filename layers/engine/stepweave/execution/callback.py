"""Telling a receiver that a run has ended (contract §4, "Callback"): what is kept of it, the signature, the retries."""

import hashlib
import hmac
from dataclasses import dataclass

WAITS = (5, 60, 300, 1800, 7200, 21_600, 39_600)
"""Seconds between two attempts: within 20 hours eight of them. The queue that counts them is made for as many
(template.yaml), and none of its messages can be put off for more than 12 hours at once."""


@dataclass(frozen=True, slots=True)
class NewCallback:
    """What a client asks for: the end of its run is POSTed to `url`, signed with the secret of the key that it showed."""

    url: str
    key_id: str


@dataclass(frozen=True, slots=True)
class Callback:
    """`delivery` names it in every attempt; `delivered_at` is when its receiver took it."""

    run_id: str
    url: str
    key_id: str
    delivery: str
    delivered_at: str | None = None


def wait_after(attempt: int) -> int | None:
    """Seconds until the next attempt, after the `attempt`th (from 1) has failed; None: it was the last."""
    return WAITS[attempt - 1] if attempt <= len(WAITS) else None


def signed_headers(callback: Callback, secret: str, timestamp: int, body: bytes) -> dict[str, str]:
    """What a receiver checks: the HMAC-SHA256 of `timestamp.body`, with `timestamp` in seconds since 1970."""
    signature = hmac.new(secret.encode(), b"%d.%b" % (timestamp, body), hashlib.sha256).hexdigest()
    return {
        "X-Stepweave-Timestamp": str(timestamp),
        "X-Stepweave-Signature": f"sha256={signature}",
        "X-Stepweave-Delivery": callback.delivery,
    }
