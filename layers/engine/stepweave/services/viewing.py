"""View tokens (contract §4): stand for an API key in a browser, for one run and a short time, so that no key need go there."""

from datetime import timedelta

from stepweave import ids
from stepweave.clock import Clock
from stepweave.errors import Unavailable
from stepweave.execution.run import Run
from stepweave.items import OutcomeUnknown
from stepweave.services.keys import hash_secret
from stepweave.store.keys import ApiKey
from stepweave.store.view_tokens import ViewToken, ViewTokens


class Viewing:
    """Only hashes are kept, and only hashes are compared. A token ends by its expiry; there is no other way to end it."""

    def __init__(self, tokens: ViewTokens, clock: Clock) -> None:
        self._tokens = tokens
        self._clock = clock

    def issue(self, key: ApiKey, run: Run, *, seconds: int, may_answer: bool) -> tuple[ViewToken, str]:
        """The token and its secret, which nobody can ask for again. Raises `Unavailable`."""
        secret = ids.new_view_token()
        expires_at = self._clock.now() + timedelta(seconds=seconds)
        token = ViewToken(hash_secret(secret), run.run_id, key.key_id, may_answer, expires_at)
        try:
            self._tokens.add(token)
        except OutcomeUnknown as error:
            raise Unavailable("a view token could not be stored") from error
        return token, secret

    def recognise(self, secret: str) -> ViewToken | None:
        """The token with this secret, while it lives."""
        if not ids.VIEW_TOKEN.fullmatch(secret):
            return None
        token = self._tokens.find(hash_secret(secret))
        return token if token is not None and self._clock.now() < token.expires_at else None
