"""The form of a script for the scripted model (contract §8). Pure: the model that plays it is `scripted.py`."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from stepweave.graph.shape import Fault, Path
from stepweave.texts import Text

Step = Mapping[str, Any]
Script = Sequence[Sequence[Step]]

_LONGEST_DELAY_MS = 24 * 3600 * 1000
_REFERENCE = re.compile(r"\$(prompt|system|tool|answer)")


@dataclass(frozen=True, slots=True)
class Play:
    """One visit's performance of a script.

    `prompt` is the rendered user prompt before any instruction is added, `system` the rendered system prompt, `tries`
    the attempts of this visit that failed before. `first` is the turn that the first request plays.
    """

    script: Script
    prompt: str
    system: str = ""
    tries: int = 0
    first: int = 0

    def turn(self, number: int) -> list[tuple[int, Step]] | None:
        """The steps for request `number` (from 0) that are still to play, each with its place in the turn.

        Every attempt that failed before failed at one error step, in the order of the script; a turn goes on after
        the last of its own that has had its effect. None: the script has run out.
        """
        number += self.first
        if number >= len(self.script):
            return None
        errors = [
            (turn, place)
            for turn, steps in enumerate(self.script)
            for place, step in enumerate(steps)
            if "error" in step
        ]
        behind = [place for turn, place in errors[: self.tries] if turn == number]
        start = max(behind) + 1 if behind else 0
        return list(enumerate(self.script[number]))[start:]


def fill(value: Any, words: Mapping[str, str]) -> Any:
    """`value` with `$prompt`, `$system`, `$tool` and `$answer` replaced in its strings.

    What is put in is never looked at again: a prompt that speaks of `$system` stays as it is.
    """
    match value:
        case str():
            return _REFERENCE.sub(lambda found: words[found[1]], value)
        case Mapping():
            return {name: fill(part, words) for name, part in value.items()}
        case list() | tuple():
            return [fill(part, words) for part in value]
        case _:
            return value


def script_problems(script: Any) -> list[Fault]:
    """Everything about a script that cannot be played, with paths that count from the script; empty when it can."""
    if not isinstance(script, list):
        return _must((), "轮次的数组，每一轮是步骤的数组", "an array of turns, each an array of steps")
    faults: list[Fault] = []
    for number, turn in enumerate(script):
        if not isinstance(turn, list):
            faults += _must((number,), "步骤的数组", "an array of steps")
            continue
        for place, step in enumerate(turn):
            faults += _step((number, place), step)
    return faults


def _must(path: Path, zh: str, en: str) -> list[Fault]:
    return [Fault(path, Text(f"必须是{zh}", f"must be {en}"))]


def _step(path: Path, step: Any) -> list[Fault]:
    kinds = [kind for kind in _KINDS if kind in step] if isinstance(step, Mapping) else []
    if len(kinds) != 1:
        return _must(
            path,
            f"恰好有一种步骤的对象：{'、'.join(_KINDS)}",
            f"an object with exactly one of the steps {', '.join(_KINDS)}",
        )
    kind = kinds[0]
    allowed = {kind, "retryable"} if kind == "error" else {kind}
    strange = [
        Fault((*path, key), Text(f"不属于步骤 {kind}，请删除", f"does not belong to a {kind} step: remove it"))
        for key in step
        if key not in allowed
    ]
    return strange + _flag((*path, "retryable"), step.get("retryable")) + _KINDS[kind]((*path, kind), step[kind])


def _text(path: Path, value: Any) -> list[Fault]:
    return [] if isinstance(value, str) else _must(path, "字符串", "a string")


def _flag(path: Path, value: Any) -> list[Fault]:
    return [] if value is None or isinstance(value, bool) else _must(path, "布尔值", "true or false")


def _delay(path: Path, value: Any) -> list[Fault]:
    fits = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= _LONGEST_DELAY_MS
    return [] if fits else _must(path, "毫秒数，从 0 到一天", "a number of milliseconds, from 0 to a day")


def _object(path: Path, value: Any) -> list[Fault]:
    return [] if isinstance(value, Mapping) else _must(path, "对象", "an object")


def _tool(path: Path, value: Any) -> list[Fault]:
    if not isinstance(value, Mapping) or not isinstance(value.get("name"), str) or not value["name"].strip():
        return _must(path, "带有工具名 name 的对象", "an object with the name of a tool")
    return _object((*path, "args"), value.get("args", {}))


def _ask(path: Path, value: Any) -> list[Fault]:
    if not isinstance(value, Mapping) or not isinstance(value.get("question"), str):
        return _must(path, "带有 question 的对象", "an object with a question")
    faults = _text((*path, "placeholder"), value.get("placeholder", ""))
    for flag in ("allowCustom", "multiple"):
        faults += _flag((*path, flag), value.get(flag))
    return faults + _rows((*path, "options"), value.get("options", []), "label", "value")


def _todo(path: Path, value: Any) -> list[Fault]:
    return _rows(path, value, "text", "status")


def _rows(path: Path, value: Any, *columns: str) -> list[Fault]:
    fits = isinstance(value, list) and all(
        isinstance(row, Mapping) and all(isinstance(row.get(column), str) for column in columns) for row in value
    )
    if fits:
        return []
    return _must(
        path, f"对象的数组，含字符串 {'、'.join(columns)}", f"an array of objects with the strings {', '.join(columns)}"
    )


_KINDS: dict[str, Callable[[Path, Any], list[Fault]]] = {
    "thinking": _text,
    "text": _text,
    "tool": _tool,
    "ask": _ask,
    "todo": _todo,
    "delayMs": _delay,
    "error": _text,
    "decide": _object,
}
