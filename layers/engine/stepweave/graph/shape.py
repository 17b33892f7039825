"""Reading JSON into pydantic models so that one wrong value never hides another (contract §2: every problem is told)."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, ValidationError, model_validator
from pydantic.alias_generators import to_camel
from pydantic_core import ErrorDetails, PydanticCustomError

from stepweave.texts import Text

Path = tuple[str | int, ...]

_SPELLED = 120


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong with the value at `path`; `text` goes on from the path's name: "… must be a string".

    `code` is None where the place decides which problem it is.
    """

    path: Path
    text: Text
    code: str | None = None

    def below(self, *path: str | int) -> "Fault":
        """The same fault, its path counted from further outside."""
        return replace(self, path=(*path, *self.path))


class JsonModel(BaseModel):
    """camelCase in JSON, snake_case in Python; nothing is coerced, unknown fields are kept, instances are frozen."""

    model_config = ConfigDict(strict=True, frozen=True, extra="allow", alias_generator=to_camel)


class DataModel(JsonModel):
    """A model of node data, where editors write `null` for what was left empty: null is as good as absent."""

    @model_validator(mode="before")
    @classmethod
    def _without_nulls(cls, raw: Any) -> Any:
        return {name: value for name, value in raw.items() if value is not None} if isinstance(raw, dict) else raw


def read[M: BaseModel](model: type[M], raw: Any) -> tuple[M | None, list[Fault]]:
    """Every fault of `raw`, and the model without the faulty parts: what has a default falls back to it, an
    element that cannot do without the faulty part is left out; None when nothing is left.

    `raw` is JSON of bounded depth (`json_value.copy_json`) and is not changed.
    """
    faults: list[Fault] | None = None
    while raw is not _GONE:
        try:
            return model.model_validate(raw), faults or []
        except ValidationError as error:
            found = error.errors(include_url=False, include_input=False)
        if faults is None:  # later rounds only tell that what was taken out is missing
            faults = [Fault(detail["loc"], describe(detail)) for detail in found]
        smaller = _without(raw, [_to_take_out(detail) for detail in found])
        raw = smaller if smaller != raw else _GONE
    return None, faults or []


def spell(path: Path) -> str:
    """A path as people write it: `graphData.nodes[3].data`; the middle of a long one is left out."""
    words = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path).removeprefix(".")
    return words if len(words) <= _SPELLED else f"{words[: _SPELLED // 2]}…{words[-_SPELLED // 3 :]}"


def refuse(text: Text) -> PydanticCustomError:
    """What a validator of a model raises; both languages reach the fault. `text` goes on from the field's name."""
    return PydanticCustomError("refused", "{en}", {"zh": text.zh, "en": text.en})


def describe(detail: ErrorDetails) -> Text:
    """A pydantic error in the product's languages, to be read after the name of the place."""
    context: Mapping[str, Any] = detail.get("ctx", {})
    words = _WORDS.get(detail["type"])
    return words(context) if words else Text("的值无效", f"is not valid: {detail['msg']}")


def _fixed(zh: str, en: str) -> Callable[[Mapping[str, Any]], Text]:
    return lambda _: Text(zh, en)


_WORDS: Final[Mapping[str, Callable[[Mapping[str, Any]], Text]]] = {
    "missing": _fixed("缺失，必须填写", "is missing and is needed"),
    "string_type": _fixed("必须是字符串", "must be a string"),
    "bool_type": _fixed("必须是布尔值", "must be true or false"),
    "int_type": _fixed("必须是整数", "must be a whole number"),
    "float_type": _fixed("必须是数字", "must be a number"),
    "list_type": _fixed("必须是数组", "must be an array"),
    "dict_type": _fixed("必须是对象", "must be an object"),
    "model_type": _fixed("必须是对象", "must be an object"),
    "model_attributes_type": _fixed("必须是对象", "must be an object"),
    "literal_error": lambda c: Text(f"必须是 {c['expected'].replace(' or ', ', ')} 之一", f"must be {c['expected']}"),
    "greater_than": lambda c: Text(f"必须大于 {c['gt']}", f"must be greater than {c['gt']}"),
    "greater_than_equal": lambda c: Text(f"不能小于 {c['ge']}", f"must be at least {c['ge']}"),
    "less_than": lambda c: Text(f"必须小于 {c['lt']}", f"must be less than {c['lt']}"),
    "less_than_equal": lambda c: Text(f"不能大于 {c['le']}", f"must be at most {c['le']}"),
    "string_too_short": lambda c: Text(
        f"至少 {c['min_length']} 个字符", f"needs at least {c['min_length']} characters"
    ),
    "string_too_long": lambda c: Text(f"最多 {c['max_length']} 个字符", f"takes at most {c['max_length']} characters"),
    "too_short": lambda c: Text(f"至少 {c['min_length']} 项", f"needs at least {c['min_length']} items"),
    "too_long": lambda c: Text(f"最多 {c['max_length']} 项", f"takes at most {c['max_length']} items"),
    "refused": lambda c: Text(c["zh"], c["en"]),
}

_GONE: Final = object()


def _to_take_out(detail: ErrorDetails) -> Path:
    """A missing field cannot be taken out: the object that needs it goes."""
    return detail["loc"][:-1] if detail["type"] == "missing" else detail["loc"]


def _without(value: Any, paths: Iterable[Path]) -> Any:
    """`value` without what `paths` lead to; a path that leads nowhere changes nothing."""
    deeper: dict[str | int, list[Path]] = defaultdict(list)
    for path in paths:
        if not path:
            return _GONE
        deeper[path[0]].append(path[1:])
    if isinstance(value, dict):
        kept = {key: _without(item, deeper[key]) if key in deeper else item for key, item in value.items()}
        return {key: item for key, item in kept.items() if item is not _GONE}
    if isinstance(value, list):
        items = [_without(item, deeper[index]) if index in deeper else item for index, item in enumerate(value)]
        return [item for item in items if item is not _GONE]
    return value
