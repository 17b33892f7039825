"""What the engine needs from the world. Each has two real implementations: AWS and memory."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

from stepweave.items import Index, Item, Key, Table, Update, Write


class ItemStore(Protocol):
    """Tables of items. Reads are strongly consistent, except through an index.

    Writes raise `WriteRefused` (a condition failed), `WriteConflict`, `OutcomeUnknown`; anything raises
    `errors.Unavailable` when the store refuses for load after the client's own retries.
    """

    def get(self, key: Key) -> Item | None: ...

    def get_many(self, keys: Sequence[Key]) -> dict[Key, Item]:
        """The items that exist, whatever their number; not a snapshot."""
        ...

    def query(
        self,
        table: Table,
        partition: str,
        *,
        prefix: str | None = None,
        after: int | str | None = None,
        limit: int | None = None,
        descending: bool = False,
        names: Sequence[str] = (),
    ) -> list[Item]:
        """Items of one partition in the order of their sort key: those beginning with `prefix`, those beyond `after`.
        `names`: these attributes are enough, with those of the key."""
        ...

    def query_index(
        self,
        index: Index,
        partition: str,
        *,
        up_to: str | None = None,
        after: Item | None = None,
        limit: int | None = None,
        descending: bool = False,
    ) -> list[Item]:
        """Items by a secondary index; `up_to` bounds its sort key, `after` is the last item of the page before."""
        ...

    def update(self, update: Update) -> Item:
        """Carries out one update and gives the item as it stands afterwards."""
        ...

    def put(self, table: Table, item: Item) -> None: ...

    def delete(self, key: Key) -> None: ...

    def transact(self, writes: Sequence[Write], *, token: str | None = None) -> None:
        """All or nothing, at most 100 writes and 4 MB. To others it becomes visible item by item."""
        ...


class BlobWriter(Protocol):
    def write(self, content: bytes) -> None: ...


class BlobStore(Protocol):
    """Object storage: names are paths (`runs/{runId}/…`), values are bytes; a name is written as a whole.

    Whatever its size, a blob takes a bounded part of memory in `open` and `writer`. Everything raises
    `errors.Unavailable` when the store cannot be reached or refuses for load.
    """

    def put(self, name: str, content: bytes, content_type: str = "application/octet-stream") -> None: ...

    def get(self, name: str) -> bytes | None: ...

    def size(self, name: str) -> int | None:
        """In bytes; None when there is no such blob."""
        ...

    def open(self, name: str) -> Iterator[bytes] | None:
        """The content piece by piece, read as it is asked for; None when there is no such blob.

        Raises `errors.Unavailable` when the blob is written over meanwhile: no mixture is given.
        """
        ...

    def writer(self, name: str, content_type: str = "application/octet-stream") -> AbstractContextManager[BlobWriter]:
        """Takes the content piece by piece. The blob is there once the `with` ends well; else it stays as it was."""
        ...

    def list(self, prefix: str) -> Iterable[tuple[str, int]]:
        """Names under a prefix with their sizes in bytes, in the order of their names."""
        ...

    def delete(self, names: Sequence[str]) -> None: ...

    def upload_url(self, name: str, size: int, seconds: int) -> str:
        """Where anybody may PUT this blob, of exactly this size, for so long."""
        ...

    def download_url(self, name: str, seconds: int, disposition: str | None = None) -> str:
        """Where anybody may GET this blob for so long; `disposition` is the answer's Content-Disposition."""
        ...


class CallbackQueue(Protocol):
    """Runs whose end somebody wants to be told (docs/callbacks.md): each comes out at least once, in no order."""

    def send(self, run_id: str) -> None:
        """Raises `errors.Unavailable`."""
        ...

    def postpone(self, receipt: str, seconds: int) -> None:
        """A message that was received comes again after so long, instead of after the queue's own time.

        Raises `errors.Unavailable`.
        """
        ...


class Chains(Protocol):
    """Executions of the state machine (architecture.md, "A run is a set of chains")."""

    def start(self, name: str, step: dict[str, Any]) -> None:
        """Starts a chain; a name that exists already counts as started."""
        ...

    def is_running(self, name: str) -> bool | None:
        """Whether the execution has not ended; None when there is none of that name. Eventually consistent: one that
        was started within the last minute may not be seen yet."""
        ...

    def wake(self, token: str, step: dict[str, Any]) -> bool:
        """Lets the chain that waits for `token` go on with `step`; False when nothing waits for it (any more)."""
        ...

    def stop(self, name: str) -> None:
        """Ends an execution if it is running."""
        ...
