"""What must hold before a node runs (contract §3): every problem is told, not only the first."""

import posixpath
from collections.abc import Container, Iterable
from dataclasses import dataclass, field
from typing import Any

from stepweave.expressions.conversion import accept, type_of
from stepweave.expressions.paths import MISSING
from stepweave.expressions.resolution import Finding, Found, Resolver
from stepweave.graph.node_data import InputField
from stepweave.graph.problem import quoted
from stepweave.texts import Text

Files = Container[str]
"""Paths of a run's files, relative and normalised; asked only about the paths that inputs name."""


@dataclass(frozen=True, slots=True)
class Checked:
    """Declared inputs by name as their types have them, those that are missing left out; and what is wrong."""

    values: dict[str, Any] = field(default_factory=dict)
    problems: list[Text] = field(default_factory=list)


def check(declarations: Iterable[InputField], resolver: Resolver, files: Files | None) -> Checked:
    """Resolves the declared inputs and binds each in `resolver`, so that its name means this value from now on.

    `files` of None: not known here, a `filePath` is taken as it is.
    """
    checked = Checked()
    for declaration in declarations:
        finding = _judge(declaration, resolver.declared(declaration), files, checked.problems)
        resolver.bind(declaration.name, finding)
        if isinstance(finding, Found):
            checked.values[declaration.name] = finding.value
    return checked


def type_problem(name: str, declared: str, value: Any, source: str | None = None) -> Text:
    """A value does not go where its name is declared to have another type."""
    zh, en = (f"（来自节点 {quoted(source)}）", f" (from node {quoted(source)})") if source else ("", "")
    return Text(
        f"{quoted(name)} 的类型应为 {declared}，实际的值{zh}为 {type_of(value)}",
        f"{quoted(name)} must be of type {declared}, its value{en} is of type {type_of(value)}",
    )


def file_problem(name: str, path: Any, files: Files | None) -> Text | None:
    """A `filePath` that names no file of the run; None where it does, or where the files are not known."""
    if files is None or path in files or posixpath.normpath(path) in files:
        return None
    return Text(
        f"{quoted(name)} 指向的文件 {quoted(path)} 不在运行的工作区中，请上传该文件或更正路径",
        f"{quoted(name)} names {quoted(path)}, which is no file in the run's workspace: upload it or correct the path",
    )


def _judge(declaration: InputField, finding: Finding, files: Files | None, problems: list[Text]) -> Finding:
    if not isinstance(finding, Found):
        if declaration.required:
            problems.append(_missing(declaration))
        return MISSING
    declared = declaration.type if "type" in declaration.model_fields_set else None
    value = accept(finding.value, declared)
    if value is MISSING:
        problems.append(type_problem(declaration.name, declaration.type, finding.value, finding.source))
        return finding
    problem = file_problem(declaration.name, value, files) if declaration.type == "filePath" else None
    if problem is not None:
        problems.append(problem)
    return Found(value, finding.source)


def _missing(declaration: InputField) -> Text:
    name, kind, node_id = quoted(declaration.name), declaration.type, declaration.source_node_id
    if declaration.is_mapped:
        field = ".".join(filter(None, (declaration.source_field, declaration.source_path)))
        return Text(
            f"缺少必填输入 {name}（{kind}）：映射的节点 {quoted(node_id)} 没有给出 {quoted(field)}",
            f"required input {name} ({kind}) is missing: node {quoted(node_id)}, which it is mapped to, gave no {quoted(field)}",
        )
    return Text(
        f"缺少必填输入 {name}（{kind}）：运行输入和前序节点都没有给出它",
        f"required input {name} ({kind}) is missing: neither the run's inputs nor an earlier node gives it",
    )
