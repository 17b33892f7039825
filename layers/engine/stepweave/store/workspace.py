"""The files of runs in object storage, which is their truth (contract §3, Workspace)."""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager

from stepweave.errors import ValidationFailed
from stepweave.execution.ignored import AGENTIGNORE, MOST_BYTES, Ignored
from stepweave.execution.workspace import normal_path
from stepweave.ports import BlobStore, BlobWriter


class RunFiles:
    """`Workspace` (execution) of one run, and what only the engine does with it."""

    def __init__(self, blobs: BlobStore, run_id: str) -> None:
        self._blobs = blobs
        self._place = f"runs/{run_id}/workspace/"

    def paths(self) -> list[tuple[str, int]]:
        """Files that are ignored can be read, but are not told of."""
        found = [(name.removeprefix(self._place), size) for name, size in self._blobs.list(self._place)]
        ignored = self._ignored() if any(path == AGENTIGNORE for path, _ in found) else Ignored()
        return [(path, size) for path, size in found if not ignored.matches(path)]

    def has(self, path: str) -> bool:
        return self._blobs.size(self._name(path)) is not None

    def __contains__(self, path: object) -> bool:
        """As `has`, for what somebody calls a path: one that cannot be of this directory is not in it."""
        try:
            return isinstance(path, str) and self.has(path)
        except ValidationFailed:
            return False

    def read(self, path: str) -> bytes | None:
        return self._blobs.get(self._name(path))

    def open(self, path: str) -> Iterator[bytes] | None:
        """The content piece by piece; None when there is no such file."""
        return self._blobs.open(self._name(path))

    def write(self, path: str, content: bytes) -> None:
        self._blobs.put(self._name(path), content)

    def writer(self, path: str) -> AbstractContextManager[BlobWriter]:
        """Takes a file piece by piece; it is there once the `with` ends well."""
        return self._blobs.writer(self._name(path))

    def upload_url(self, path: str, size: int, seconds: int) -> str:
        return self._blobs.upload_url(self._name(path), size, seconds)

    def delete(self, paths: Sequence[str]) -> None:
        self._blobs.delete([self._name(path) for path in paths])

    def clear(self) -> None:
        """Deletes every file, the ignored ones too."""
        self._blobs.delete([name for name, _ in self._blobs.list(self._place)])

    def _ignored(self) -> Ignored:
        content = b""
        for piece in self.open(AGENTIGNORE) or ():
            content += piece
            if len(content) >= MOST_BYTES:
                break
        return Ignored.of(content[:MOST_BYTES].decode(errors="replace"))

    def _name(self, path: str) -> str:
        return self._place + normal_path(path)


class Workspaces:
    """The files of any run."""

    def __init__(self, blobs: BlobStore) -> None:
        self._blobs = blobs

    def of(self, run_id: str) -> RunFiles:
        return RunFiles(self._blobs, run_id)
