"""Types of variables (contract §2), which value goes where one is declared, and reading values out of a model's text.

Two rules that must not be mixed: `accept` is for values of people and nodes and coerces almost nothing (contract §3,
preconditions); `convert` is for the answers of models, which write numbers as text.
"""

import json
import math
import re
from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from typing import Any

from stepweave.expressions.paths import MISSING, Missing
from stepweave.expressions.templates import to_text
from stepweave.graph.json_value import copy_json

_NUMBER = re.compile(r"\s*[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?\s*")
_WHOLE = re.compile(r"\s*[+-]?[0-9]{1,4000}\s*")  # Python reads no whole number of more than 4300 digits


def type_of(value: Any) -> str:
    """The declared type that a JSON value fits by itself; `null` for none. A `filePath` is a string like any other."""
    match value:
        case None | Missing.MISSING:
            return "null"
        case bool():
            return "boolean"
        case int() | float():
            return "number"
        case str():
            return "string"
        case Mapping():
            return "object"
        case list() | tuple():
            return "array"
        case _:
            return "unknown"


def fits(value: Any, declared: str) -> bool:
    """Whether the value is of the declared type as it stands."""
    return type_of(value) == ("string" if declared == "filePath" else declared)


def accept(value: Any, declared: str | None) -> Any:
    """The value as the declared type has it, or MISSING where it is not compatible.

    Compatible are the same type, a number or boolean as string, a string as `filePath`; nothing else is coerced.
    None: no type is declared, and every value is accepted.
    """
    if declared is None or fits(value, declared):
        return value
    if declared == "string" and type_of(value) in ("number", "boolean"):
        return to_text(value)
    return MISSING


def number_of(value: Any) -> Decimal | None:
    """The number that a number or a numeric string stands for, exactly; None for everything else."""
    if isinstance(value, int) and not isinstance(value, bool):
        return Decimal(value)
    if isinstance(value, float):
        return Decimal(repr(value)) if math.isfinite(value) else None
    if isinstance(value, str) and _NUMBER.fullmatch(value):
        try:
            return Decimal(value.strip())
        except InvalidOperation:  # an exponent beyond anything that can be held
            return None
    return None


def boolean_of(value: Any) -> bool | None:
    """True and false, also written out as text; None for everything else."""
    if isinstance(value, bool):
        return value
    word = value.strip().lower() if isinstance(value, str) else None
    return {"true": True, "false": False}.get(word) if word else None


def convert(value: Any, declared: str) -> Any:
    """A value out of a model's answer as the declared type has it, or MISSING where it does not convert.

    `"3.5"` is 3.5 for number (whole numbers stay whole), `"true"` is true for boolean, JSON text is read for array
    and object; `string` takes everything else as JSON text.
    """
    if value is None:
        return MISSING
    if fits(value, declared):
        return value
    match declared:
        case "string":
            return to_text(value)
        case "number":
            return _read_number(value)
        case "boolean":
            return MISSING if (truth := boolean_of(value)) is None else truth
        case "array" | "object" if isinstance(value, str):
            read = load_json(value)
            return read if fits(read, declared) else MISSING
        case _:
            return MISSING


def load_json(text: str) -> Any:
    """The value of JSON text, or MISSING; also where it is nested too deeply to be stored and sent on.

    What JSON does not have (NaN, infinities) is not let in, halves of characters are replaced.
    """
    try:
        read = json.loads(text, parse_constant=_refuse_constant, parse_float=_read_float)
    except (ValueError, RecursionError):
        return MISSING
    value, faults = copy_json(read)
    return MISSING if any(fault.code in ("TOO_DEEP", "TOO_LARGE") for fault in faults) else value


def _read_number(value: Any) -> Any:
    if not isinstance(value, str) or not _NUMBER.fullmatch(value):
        return MISSING
    if _WHOLE.fullmatch(value):
        return int(value)
    number = float(value)
    return number if math.isfinite(number) else MISSING


def _read_float(text: str) -> float | str:
    """A number beyond what a double holds stays the text that it is."""
    number = float(text)
    return number if math.isfinite(number) else text


def _refuse_constant(name: str) -> Any:
    raise ValueError(name)
