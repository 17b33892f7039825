"""Keeping what models and tools say at a bearable size (contract §3, §5): cut where it is told, never where it is not."""

import json
from typing import Any

_SHORTEST = 100
_MARK = "…"


def bounded(value: Any, characters: int) -> Any:
    """`value`, of any JSON, when its text has no more than `characters`; else the same with its strings shortened until
    it fits, else the beginning of its text."""
    if len(to_text(value)) <= characters:
        return value
    if isinstance(value, str):
        return _cut(value, characters)
    longest = characters // 2
    while longest >= _SHORTEST:
        shortened = _shorten(value, longest)
        if len(to_text(shortened)) <= characters:
            return shortened
        longest //= 2
    return _cut(to_text(value), characters)


def to_text(value: Any) -> str:
    """Text as it is, everything else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def _shorten(value: Any, longest: int) -> Any:
    match value:
        case str():
            return _cut(value, longest)
        case dict():
            return {name: _shorten(part, longest) for name, part in value.items()}
        case list() | tuple():
            return [_shorten(part, longest) for part in value]
        case _:
            return value


def _cut(text: str, characters: int) -> str:
    return text if len(text) <= characters else text[: characters - len(_MARK)] + _MARK
