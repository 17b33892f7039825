"""The head of a run: the small item that orders every commit (protocol.md §1)."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from stepweave import clock as times
from stepweave.texts import DEFAULT_LANGUAGE, Language

RunStatus = Literal["CREATED", "RUNNING", "SUCCESS", "FAILED"]
FailStrategy = Literal["abort", "skip"]

CANCELLED = "CANCELLED"

FILES_KEPT = timedelta(hours=720)
"""How long a run's files stay where its `ttlHours` does not say (contract §4)."""


@dataclass(frozen=True, slots=True)
class Run:
    """A run as its head tells it; inputs, definition and outputs are kept elsewhere.

    `rev` counts commits and guards each of them, `last_seq` is the newest event id, `last_sort` the newest `sortOrder`,
    `visits` the number of visits made so far, `running` those of them that have not ended. `closing` holds from the end
    of the run until no visit is left open (rule X), and until the callback of one that `calls_back` is queued. `redrives`
    counts redrives, `stalled` those of them since the run last moved, `redriven_rev` is where it stood at the newest.
    `fail_strategy`, when given, overrides the nodes' (contract §3). `ttl_hours` is how long the files stay after the end.
    """

    run_id: str
    workflow: str
    workflow_id: int
    version: int
    status: RunStatus
    created_at: str
    rev: int = 0
    last_seq: int = 0
    last_sort: int = 0
    visits: int = 0
    running: int = 0
    closing: bool = False
    redrives: int = 0
    stalled: int = 0
    redriven_rev: int = 0
    fail_strategy: FailStrategy | None = None
    language: Language = DEFAULT_LANGUAGE
    started_at: str | None = None
    ended_at: str | None = None
    ttl_hours: float | None = None
    error: str | None = None
    failed_node: str | None = None
    calls_back: bool = False

    @property
    def is_over(self) -> bool:
        return self.status in ("SUCCESS", "FAILED")

    @property
    def files_expire_at(self) -> datetime | None:
        """When the files go: counted from the end, from the creation of a run that was never started; None while it
        runs, however long."""
        if self._rests_since is None:
            return None
        return self._rests_since + (timedelta(hours=self.ttl_hours) if self.ttl_hours is not None else FILES_KEPT)

    def records_expire_at(self, kept: timedelta) -> datetime | None:
        """When the records go, counted in the same way; never before the files."""
        if self._rests_since is None or self.files_expire_at is None:
            return None
        return max(self._rests_since + kept, self.files_expire_at)

    @property
    def _rests_since(self) -> datetime | None:
        """When it ended, or was made if it was never started; None while it runs."""
        since = self.ended_at if self.is_over else self.created_at if self.status == "CREATED" else None
        return times.from_json(since) if since is not None else None
