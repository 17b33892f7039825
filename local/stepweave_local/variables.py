"""`--var`: what a person writes on a command line, read as the types that the workflow declares."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from stepweave.graph.spec import Field
from stepweave.texts import Text
from stepweave_local.command_error import CommandError

_WANTED = {
    "number": Text("一个数字", "a number"),
    "boolean": Text("true 或 false", "true or false"),
    "array": Text('JSON 数组，例如 \'["a", "b"]\'', 'a JSON array like \'["a", "b"]\''),
    "object": Text("JSON 对象，例如 '{\"a\": 1}'", "a JSON object like '{\"a\": 1}'"),
}


@dataclass(slots=True)
class Given:
    """The variables of a run; `files` are those that a `filePath` variable names with `@`; `unknown` are not declared."""

    values: dict[str, Any] = field(default_factory=dict)
    files: list[Path] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)


def declared_in(definition: Mapping[str, Any]) -> list[Field]:
    """The inputs that a definition declares, read leniently: whether it is valid is for the server to say."""
    graph = definition.get("graphData")
    nodes = graph.get("nodes") if isinstance(graph, dict) else None
    variables: list[Any] = []
    for node in nodes if isinstance(nodes, list) else []:
        data = node.get("data") if isinstance(node, dict) and node.get("type") == "userInput" else None
        found = data.get("variables") if isinstance(data, dict) else None
        variables += found if isinstance(found, list) else []
    return declared_fields(variables)


def declared_fields(variables: Iterable[Any]) -> list[Field]:
    """Inputs as the API lists them."""
    return [
        Field(str(one["name"]), str(one.get("type") or "string"), bool(one.get("required")), one.get("default"))
        for one in variables
        if isinstance(one, dict) and "name" in one
    ]


def read_variables(assignments: Sequence[str], declared: Sequence[Field]) -> Given:
    """The values of `k=v`, `k=@file` and `k:=json`. Raises `CommandError` that tells everything wrong at once."""
    types = {one.name: one.type for one in declared}
    given, problems = Given(), list[Text]()
    for assignment in assignments:
        try:
            _take(assignment, types, given)
        except CommandError as error:
            problems.append(error.text)
    problems += _missing(declared, given)
    if problems:
        raise CommandError(Text.join(problems, "\n", "\n"))
    return given


def _take(assignment: str, types: Mapping[str, str], given: Given) -> None:
    name, separator, written = assignment.partition("=")
    is_json = name.endswith(":")
    name = name.removesuffix(":").strip()
    if not separator or not name:
        raise CommandError(
            Text(
                f"--var {assignment}：请写成 名称=值，或 名称:=JSON。",
                f"--var {assignment}: write it as name=value, or name:=JSON.",
            )
        )
    declared = types.get(name)
    if declared is None:
        given.unknown.append(name)
    if is_json:
        given.values[name] = _json(name, _contents(name, written) if written.startswith("@") else written)
    elif written.startswith("@@"):
        given.values[name] = _typed(name, written[1:], declared)
    elif written.startswith("@") and declared == "filePath":
        file = Path(written[1:])
        given.files.append(file)
        given.values[name] = file.name
    elif written.startswith("@"):
        given.values[name] = _typed(name, _contents(name, written), declared)
    else:
        given.values[name] = _typed(name, written, declared)


def _typed(name: str, written: str, declared: str | None) -> Any:
    if declared not in _WANTED:  # strings, paths, and what the workflow does not know
        return written
    from stepweave.expressions.conversion import convert  # these bring pydantic, which few calls need
    from stepweave.expressions.paths import MISSING

    value = convert(written, declared)
    if value is MISSING:
        wanted = _WANTED[declared]
        raise CommandError(
            Text(
                f"--var {name}：该变量的类型是 {declared}，请给出{wanted.zh}。",
                f"--var {name}: it is declared as {declared}: give {wanted.en}.",
            )
        )
    return value


def _json(name: str, written: str) -> Any:
    try:
        return json.loads(written)
    except ValueError as error:
        raise CommandError(
            Text(
                f"--var {name}:=… 不是有效的 JSON（{error}）：文本请写成 {name}=…。",
                f"--var {name}:=… is no valid JSON ({error}): write {name}=… for text.",
            )
        ) from error


def _contents(name: str, written: str) -> str:
    file = Path(written[1:])
    try:
        return file.read_text("utf-8")
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "UTF-8"
        raise CommandError(
            Text(
                f"--var {name}：无法读取文件 {file}（{reason}）；以 @ 开头的文本请写成 @@…。",
                f"--var {name}: the file {file} cannot be read ({reason}); write @@… for text that begins with @.",
            )
        ) from error


def _missing(declared: Iterable[Field], given: Given) -> list[Text]:
    """One text for all required variables without a value, with the names that may have been meant."""
    missing = [one for one in declared if one.required and one.default is None and given.values.get(one.name) is None]
    if not missing:
        return []
    asked = " ".join(f"--var {one.name}=…" for one in missing)
    names = "、".join(f"{one.name}（{one.type}）" for one in missing)
    names_en = ", ".join(f"{one.name} ({one.type})" for one in missing)
    typos = [
        (name, near[0]) for name in given.unknown if (near := get_close_matches(name, [m.name for m in missing], 1))
    ]
    hint_zh = "".join(f"（{name} 是否应为 {meant}？）" for name, meant in typos)
    hint_en = "".join(f" ({name}: did you mean {meant}?)" for name, meant in typos)
    return [
        Text(
            f"缺少必填变量 {names}：请加上 {asked}。{hint_zh}",
            f"Required variables are missing: {names_en}. Add {asked}.{hint_en}",
        )
    ]
