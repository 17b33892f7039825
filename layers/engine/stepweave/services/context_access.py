"""Lends a visit that runs the means to ask what came before: a router on loopback and a token for it (contract §6)."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

from stepweave.execution.context_query import ContextQuery
from stepweave.execution.visit import Visit
from stepweave.services.context_tokens import ContextTokens

Serve = Callable[[], AbstractContextManager[str]]
"""Serves the router on loopback while the context is open, and gives its base URL."""


class ContextAccess:
    def __init__(self, tokens: ContextTokens, serve: Serve) -> None:
        self._tokens = tokens
        self._serve = serve

    @contextmanager
    def open(self, visit: Visit) -> Iterator[ContextQuery]:
        """While it is open, queries are answered; nothing listens and no token is known afterwards. Raises
        `Unavailable`."""
        with self._serve() as base_url:
            token = self._tokens.issue(visit)
            try:
                yield ContextQuery(base_url, token, visit.run_id, visit.visit_uuid)
            finally:
                self._tokens.revoke(visit, token)

    def renew(self, visit: Visit) -> None:
        """To be called again and again while the visit runs; costs nothing where nothing is open."""
        self._tokens.renew(visit)
