"""Telling a receiver that a run has ended (contract §4, "Callback"): one attempt, as often as a message asks for it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from stepweave import clock as times
from stepweave.clock import Clock
from stepweave.execution.callback import Callback, signed_headers
from stepweave.execution.run import Run
from stepweave.services.results import RunResults
from stepweave.services.wire import encode
from stepweave.store.callbacks import Callbacks
from stepweave.store.keys import Keys
from stepweave.store.runs import Runs
from stepweave.web.addresses import AddressRefused

Post = Callable[[str, Mapping[str, str], bytes], int]
"""POSTs a body and gives the status of the answer; raises `AddressRefused`, and `NotTaken` where no answer came."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """`needless`: there is nobody to tell, or it was told before; `failed`: to be tried again. `why` is for the log."""

    outcome: Literal["delivered", "needless", "failed"]
    why: str
    delivery: str | None = None


class Delivery:
    def __init__(
        self, *, runs: Runs, results: RunResults, callbacks: Callbacks, keys: Keys, clock: Clock, post: Post
    ) -> None:
        self._runs = runs
        self._results = results
        self._callbacks = callbacks
        self._keys = keys
        self._clock = clock
        self._post = post

    def attempt(self, run_id: str) -> Attempt:
        """Tells the receiver of the run. Nothing unsigned is ever sent: without its key there is nobody to tell."""
        run, callback = self._runs.get(run_id), self._callbacks.find(run_id)
        if run is None or callback is None:
            return Attempt("needless", "there is no such run any more")
        if callback.delivered_at is not None:
            return Attempt("needless", "delivered before", callback.delivery)
        secret = self._keys.callback_secret(callback.key_id)
        if secret is None:
            return Attempt("needless", f"the key {callback.key_id} has been revoked", callback.delivery)
        return self._tell(callback, secret, self._body(run))

    def _tell(self, callback: Callback, secret: str, body: bytes) -> Attempt:
        from stepweave.web.posting import NotTaken  # the HTTP client comes with the first callback

        now = self._clock.now()
        headers = {"Content-Type": "application/json", "User-Agent": "stepweave"}
        headers |= signed_headers(callback, secret, int(now.timestamp()), body)
        try:
            status = self._post(callback.url, headers, body)
        except (AddressRefused, NotTaken) as error:
            return Attempt("failed", str(error), callback.delivery)
        if not 200 <= status < 300:
            return Attempt("failed", f"the receiver answered {status}", callback.delivery)
        self._callbacks.delivered(callback.run_id, times.to_json(now))
        return Attempt("delivered", f"the receiver answered {status}", callback.delivery)

    def _body(self, run: Run) -> bytes:
        kind = "workflow_complete" if run.status == "SUCCESS" else "workflow_error"
        return encode({"type": kind, **self._results.brief(run)})
