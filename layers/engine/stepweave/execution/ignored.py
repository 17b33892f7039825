"""Which files of a run are its own affair and are never listed or downloaded (contract §3, `.agentignore`)."""

import re
from collections.abc import Callable
from fnmatch import fnmatchcase

AGENTIGNORE = ".agentignore"
MOST_BYTES = 64 * 1024
"""What of an `.agentignore` is read."""

_FOLDERS = frozenset({".hermes"})
_NAMES = ("*.log", "*.tmp", ".DS_Store", "Thumbs.db")
_MOST_RULES = 200
# `[[:alpha:]]` and its like, which git knows and the library does not translate.
_STRANGE_CLASS = re.compile(r"\[[^\]]*(\[|--|&&|~~|\|\|)")


class Ignored:
    """The rules of one workspace: those that always hold, and those of its `.agentignore`, which can add to them but
    take nothing away."""

    def __init__(self, matches_own: Callable[[str], bool] | None = None) -> None:
        self._matches_own = matches_own

    @classmethod
    def of(cls, text: str) -> "Ignored":
        """The rules of an `.agentignore` (gitignore syntax); as git does, a line that means nothing is passed over.

        Matching is done by RE2: no pattern can make it hang. Of more rules than it takes together, the first hold.
        """
        rules = [line for line in text.splitlines()[:_MOST_RULES] if line.strip() and _compile([line]) is not None]
        while rules:
            compiled = _compile(rules)
            if compiled is not None:
                return cls(compiled)
            rules = rules[: len(rules) // 2]
        return cls()

    def matches(self, path: str) -> bool:
        """Whether the file at this normalised path is ignored, by its own name or by that of a folder above it."""
        *folders, name = path.split("/")
        return (
            not _FOLDERS.isdisjoint(folders)
            or any(fnmatchcase(part, pattern) for part in (*folders, name) for pattern in _NAMES)
            or (self._matches_own is not None and self._matches_own(path))
        )


def _compile(rules: list[str]) -> Callable[[str], bool] | None:
    """None when one of the rules is none, or when they are too much together."""
    import re2  # few workspaces have rules of their own
    from pathspec import GitIgnoreSpec
    from pathspec.patterns.gitignore import GitIgnorePatternError

    if any(_STRANGE_CLASS.search(rule) for rule in rules):
        return None
    try:
        return GitIgnoreSpec.from_lines(rules, backend="re2").match_file
    except (GitIgnorePatternError, re.error, re2.error):
        return None
