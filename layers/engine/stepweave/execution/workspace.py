"""The files of a run, as a node sees them (contract §3, Workspace)."""

from collections.abc import Iterable
from typing import Protocol


class Workspace(Protocol):
    """A run's directory of files, shared by all its nodes. Paths are relative and use `/`.

    Every method raises `errors.ValidationFailed` for a path that is not (normalised) inside the directory.
    """

    def paths(self) -> Iterable[tuple[str, int]]:
        """Every file's path and size in bytes, in the order of the paths."""
        ...

    def has(self, path: str) -> bool: ...

    def read(self, path: str) -> bytes | None:
        """The file's content; None when there is no such file."""
        ...

    def write(self, path: str, content: bytes) -> None: ...
