"""Making sure that a definition is JSON that can be stored, sent and walked, before anything looks into it."""

import math
from typing import Any

from stepweave.graph.shape import Fault, Path
from stepweave.texts import Text

MAX_DEPTH = 100
MAX_VALUES = 500_000
_MAX_BITS = 1024  # what a double can hold; larger whole numbers break readers in other languages


def copy_json(raw: Any) -> tuple[Any, list[Fault]]:
    """A deep copy of `raw` that is JSON for certain, and what had to be replaced to make it so.

    Not JSON: other Python values, keys that are no strings, NaN and infinities, characters that UTF-8 does not
    have (lone surrogates). What is nested deeper than `MAX_DEPTH` or comes after the first `MAX_VALUES` values is
    not looked at, so that the work is bounded whatever comes in.
    """
    copier = _Copier()
    copied = copier.copy(raw, ())
    if copier.is_cut:
        text = Text(f"超过 {MAX_VALUES} 个值，请拆分", f"holds more than {MAX_VALUES} values: split it")
        copier.faults.append(Fault((), text, "TOO_LARGE"))
    return copied, copier.faults


class _Copier:
    def __init__(self) -> None:
        self.faults: list[Fault] = []
        self.is_cut = False
        self._values = 0

    def copy(self, value: Any, path: Path) -> Any:
        self._values += 1
        match value:
            case str():
                return self._text(value, path)
            case None | bool():
                return value
            case int():
                return value if value.bit_length() <= _MAX_BITS else self._refuse(path)
            case float():
                return value if math.isfinite(value) else self._refuse(path)
            case dict() | list() if len(path) >= MAX_DEPTH:
                text = Text(
                    f"嵌套超过 {MAX_DEPTH} 层，请简化", f"is nested deeper than {MAX_DEPTH} levels: simplify it"
                )
                self.faults.append(Fault(path, text, "TOO_DEEP"))
                return None
            case dict():
                return self._object(value, path)
            case list():
                return self._array(value, path)
            case _:
                return self._refuse(path)

    def _object(self, value: dict[Any, Any], path: Path) -> dict[str, Any]:
        copied = {}
        for key, item in value.items():
            if self._is_full():
                break
            if isinstance(key, str):
                name = self._text(key, path)
                copied[name] = self.copy(item, (*path, name))
            else:
                self._refuse(path)
        return copied

    def _array(self, value: list[Any], path: Path) -> list[Any]:
        copied = []
        for index, item in enumerate(value):
            if self._is_full():
                break
            copied.append(self.copy(item, (*path, index)))
        return copied

    def _is_full(self) -> bool:
        """Asked before each further value, so that exactly `MAX_VALUES` are still allowed."""
        self.is_cut = self.is_cut or self._values >= MAX_VALUES
        return self.is_cut

    def _text(self, value: str, path: Path) -> str:
        if value.isascii():
            return value
        try:
            value.encode()
        except UnicodeEncodeError:
            self._refuse(path)
            return value.encode(errors="replace").decode()
        return value

    def _refuse(self, path: Path) -> None:
        """The value stands as null from here on, which every reader takes for an absent one."""
        text = Text("含有 JSON 不能表示的值，请更正", "holds something that is not JSON: correct it")
        self.faults.append(Fault(path, text, "BAD_VALUE"))
