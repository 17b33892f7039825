"""Conditions and updates of `items` as DynamoDB expressions; every name and value goes in by placeholder."""

from collections.abc import Callable
from typing import Any

from stepweave.items import Absent, Condition, Either, Equals, Every, Less, Present, Update


class Expression:
    """Collects the names and values that one request's expressions refer to."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}
        self._values: dict[str, Any] = {}

    def name(self, attribute: str) -> str:
        return self._names.setdefault(attribute, f"#n{len(self._names)}")

    def value(self, value: Any) -> str:
        placeholder = f":v{len(self._values)}"
        self._values[placeholder] = value
        return placeholder

    def attributes(self, serialize: Callable[[Any], Any]) -> dict[str, Any]:
        """The request's `ExpressionAttributeNames` and `…Values`, left out when empty, as DynamoDB wants it."""
        attributes: dict[str, Any] = {}
        if self._names:
            attributes["ExpressionAttributeNames"] = {placeholder: name for name, placeholder in self._names.items()}
        if self._values:
            attributes["ExpressionAttributeValues"] = {name: serialize(value) for name, value in self._values.items()}
        return attributes


def compile_condition(condition: Condition, expression: Expression) -> str:
    match condition:
        case Equals(attribute, value):
            return f"{expression.name(attribute)} = {expression.value(value)}"
        case Less(attribute, value):
            return f"{expression.name(attribute)} < {expression.value(value)}"
        case Present(attribute):
            return f"attribute_exists({expression.name(attribute)})"
        case Absent(attribute):
            return f"attribute_not_exists({expression.name(attribute)})"
        case Every(conditions):
            return _grouped(" AND ", conditions, expression)
        case Either(conditions):
            return _grouped(" OR ", conditions, expression)


def _grouped(operator: str, conditions: tuple[Condition, ...], expression: Expression) -> str:
    """DynamoDB refuses redundant parentheses, so a group of one gets none of its own."""
    parts = [compile_condition(each, expression) for each in conditions]
    return parts[0] if len(parts) == 1 else "(" + operator.join(parts) + ")"


def compile_update(update: Update, expression: Expression) -> str:
    clauses = []
    if update.sets:
        changes = (f"{expression.name(name)} = {expression.value(value)}" for name, value in update.sets.items())
        clauses.append("SET " + ", ".join(changes))
    if update.adds:
        clauses.append(
            "ADD " + ", ".join(f"{expression.name(name)} {expression.value(n)}" for name, n in update.adds.items())
        )
    if update.removes:
        clauses.append("REMOVE " + ", ".join(expression.name(name) for name in update.removes))
    return " ".join(clauses)
