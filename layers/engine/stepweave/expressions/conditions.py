"""Conditions (contract §2): one table of operators, each a plain function of two values of any type. Nothing raises
but a pattern that cannot be used, and no pattern can hang (RE2).
"""

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal

import re2

from stepweave.errors import StepweaveError
from stepweave.expressions.conversion import boolean_of, number_of
from stepweave.expressions.paths import MISSING
from stepweave.expressions.templates import to_text
from stepweave.graph.problem import quoted
from stepweave.texts import Text


@dataclass(frozen=True, slots=True)
class Comparison:
    """`left` and `right` as the definition has them: templates, or (mostly on the right) values."""

    left: Any
    operator: str
    right: Any = None


@dataclass(frozen=True, slots=True)
class Branch:
    """Holds when all (`AND`) or any (`OR`) of its comparisons do; the first branch that holds wins."""

    id: str
    logic: Literal["AND", "OR"]
    conditions: tuple[Comparison, ...]


class PatternInvalid(StepweaveError):
    """The right side of `matches` is not a regular expression that RE2 knows."""


def evaluate(branches: Sequence[Branch], else_branch: str | None, value: Callable[[Any], Any]) -> str | None:
    """The branch to take; None where none holds and there is no `else_branch`.

    `value` gives what a side stands for, null or MISSING included. It is asked for no more than the choice needs.
    Raises `PatternInvalid`.
    """
    for branch in branches:
        judge = any if branch.logic == "OR" else all
        if judge(_holds(comparison, value) for comparison in branch.conditions):
            return branch.id
    return else_branch


def holds(left: Any, name: str, right: Any = None) -> bool:
    """Whether the operator of that name holds for two values. Raises `PatternInvalid`."""
    sides = (left,) if name in UNARY else (left, right)
    if any(side is None or side is MISSING for side in sides):
        return name in HOLDS_WITHOUT_A_SIDE
    return OPERATORS[name](left, right)


def compile_pattern(pattern: str) -> Any:
    """The pattern, ready to search bytes. Raises `PatternInvalid`, with the reason in RE2's words."""
    options = re2.Options()
    options.log_errors = False  # the fault is told by the node, not on stderr
    try:
        return re2.compile(_bytes(pattern), options=options)
    except re2.error as fault:
        reason = b"".join(fault.args).decode(errors="replace")
        raise PatternInvalid(
            Text(
                f"正则表达式 {quoted(pattern)} 无法使用（{reason}）：请改用 RE2 语法",
                f"the pattern {quoted(pattern)} cannot be used ({reason}): write it in RE2 syntax",
            )
        ) from fault


def _holds(comparison: Comparison, value: Callable[[Any], Any]) -> bool:
    right = None if comparison.operator in UNARY else value(comparison.right)
    return holds(value(comparison.left), comparison.operator, right)


def _equal(left: Any, right: Any) -> bool:
    """As numbers where both are; a boolean also equals its name; otherwise the same JSON value."""
    if isinstance(left, bool) or isinstance(right, bool):
        return bool(_boolean_name(left) == _boolean_name(right))
    if (numbers := _numbers(left, right)) is not None:
        return numbers[0] == numbers[1]
    if isinstance(left, list | tuple) and isinstance(right, list | tuple):
        return len(left) == len(right) and all(map(_equal, left, right))
    if isinstance(left, Mapping) and isinstance(right, Mapping):
        return left.keys() == right.keys() and all(_equal(left[key], right[key]) for key in left)
    return type(left) is type(right) and bool(left == right)


def _boolean_name(value: Any) -> Any:
    return to_text(value) if isinstance(value, bool) else value


def _numbers(left: Any, right: Any) -> tuple[Decimal, Decimal] | None:
    numbers = number_of(left), number_of(right)
    return None if numbers[0] is None or numbers[1] is None else (numbers[0], numbers[1])


def _ordered(compare: Callable[[Any, Any], bool]) -> Callable[[Any, Any], bool]:
    """Numbers by size, text by code point; anything else has no order, and nothing holds."""

    def test(left: Any, right: Any) -> bool:
        if (numbers := _numbers(left, right)) is not None:
            return compare(*numbers)
        return isinstance(left, str) and isinstance(right, str) and compare(left, right)

    return test


def _contains(whole: Any, part: Any) -> bool:
    """An array has an equal element; text has the text."""
    if isinstance(whole, list | tuple):
        return any(_equal(element, part) for element in whole)
    return _on_text(lambda text, piece: piece in text)(whole, part)


def _on_text(compare: Callable[[str, str], bool]) -> Callable[[Any, Any], bool]:
    """Numbers and booleans stand as text here; objects and arrays do not, and nothing holds."""

    def test(left: Any, right: Any) -> bool:
        plain = all(isinstance(side, str | bool | int | float) for side in (left, right))
        return plain and compare(to_text(left), to_text(right))

    return test


def _is_empty(value: Any) -> bool:
    """Text, array or object without anything in it; numbers and booleans are never empty."""
    return isinstance(value, str | list | tuple | Mapping) and len(value) == 0


def _matches(text: str, pattern: str) -> bool:
    return compile_pattern(pattern).search(_bytes(text)) is not None


def _bytes(text: str) -> bytes:
    return text.encode(errors="replace")


OPERATORS: Mapping[str, Callable[[Any, Any], bool]] = {
    "eq": _equal,
    "ne": lambda left, right: not _equal(left, right),
    "gt": _ordered(operator.gt),
    "gte": _ordered(operator.ge),
    "lt": _ordered(operator.lt),
    "lte": _ordered(operator.le),
    "contains": _contains,
    "notContains": lambda left, right: not _contains(left, right),
    "startsWith": _on_text(str.startswith),
    "endsWith": _on_text(str.endswith),
    "in": lambda left, right: _contains(right, left),
    "notIn": lambda left, right: not _contains(right, left),
    "isEmpty": lambda left, _: _is_empty(left),
    "isNotEmpty": lambda left, _: not _is_empty(left),
    "isTrue": lambda left, _: boolean_of(left) is True,
    "isFalse": lambda left, _: boolean_of(left) is False,
    "matches": _on_text(_matches),
}
"""The operators by name. Both sides are there: what holds without one is `HOLDS_WITHOUT_A_SIDE`."""

UNARY = frozenset({"isEmpty", "isNotEmpty", "isTrue", "isFalse"})
"""Operators that have no right side."""

HOLDS_WITHOUT_A_SIDE = frozenset({"isEmpty", "ne", "notContains", "notIn"})
"""The operators that hold where a side is missing or null; no other does (contract §2)."""
