"""Paths into values: `a.b[0].c`, read exactly or ignoring case, `-` and `_`, and JMESPath (contract §3). Never raises.

Null is missing everywhere: a path that ends at null finds nothing.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from enum import Enum
from typing import Any, Final

import jmespath


class Missing(Enum):
    """The one value that says that there is no value."""

    MISSING = "missing"

    def __repr__(self) -> str:
        return "MISSING"


MISSING: Final = Missing.MISSING

Step = str | int

_STEP = re.compile(r"(?:^|(?!^)\.)([^.\[\]]+)|\[(-?[0-9]{1,9})\]")
_JMESPATH_FAULTS = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)


def steps_of(path: str) -> tuple[Step, ...] | None:
    """`a.b[0]` as `("a", "b", 0)`; None for text that is not such a path. A negative index counts from the end."""
    steps: list[Step] = []
    position = 0
    while position < len(path):
        match = _STEP.match(path, position)
        if match is None:
            return None
        key, index = match.groups()
        steps.append(key if key is not None else int(index))
        position = match.end()
    return tuple(steps) or None


def read_path(value: Any, path: str) -> Any:
    """The value at `path`, or MISSING."""
    steps = steps_of(path)
    return MISSING if steps is None else walk(value, steps)


def walk(value: Any, steps: Sequence[Step]) -> Any:
    """The value that the steps lead to exactly, or MISSING."""
    for step in steps:
        value = _child(value, step)
        if value is MISSING:
            return MISSING
    return MISSING if value is None else value


def walk_loosely(value: Any, steps: Sequence[Step]) -> Any:
    """As `walk`, with names ignoring case, `-` and `_`; an exact name goes before one that is merely alike."""
    ahead = [(value, 0)]
    while ahead:
        value, taken = ahead.pop()
        if taken == len(steps):
            if value is not None:
                return value
            continue
        ahead.extend((child, taken + 1) for child in reversed(list(_children(value, steps[taken]))))
    return MISSING


def plain(name: str) -> str:
    """What is left of a name when case, `-` and `_` do not count: equal for names that are alike."""
    return name.casefold().replace("-", "").replace("_", "")


def find_alike(values: Mapping[str, Any], name: str) -> Any:
    """The first value whose name is alike, or MISSING. A name of nothing but `-` and `_` is like no other."""
    wanted = plain(name)
    if not wanted:
        return MISSING
    return next((v for key, v in values.items() if v is not None and plain(str(key)) == wanted), MISSING)


def search(value: Any, expression: str) -> Any:
    """The value that a JMESPath expression selects, or MISSING, also where it is faulty or does not apply."""
    try:
        found = jmespath.search(expression, value)
    except _JMESPATH_FAULTS:
        return MISSING
    return MISSING if found is None else found


def _child(value: Any, step: Step) -> Any:
    if isinstance(step, str):
        return value[step] if isinstance(value, Mapping) and step in value else MISSING
    if isinstance(value, list | tuple) and -len(value) <= step < len(value):
        return value[step]
    return MISSING


def _children(value: Any, step: Step) -> Iterator[Any]:
    exact = _child(value, step)
    if exact is not MISSING:
        yield exact
    if isinstance(step, str) and isinstance(value, Mapping) and plain(step):
        yield from (child for key, child in value.items() if key != step and plain(str(key)) == plain(step))
