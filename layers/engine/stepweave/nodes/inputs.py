"""What one node resolved of its world (contract §3), the same for every node type: declared inputs and references."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from stepweave.execution import log
from stepweave.expressions import templates
from stepweave.expressions.envelopes import data_of
from stepweave.expressions.paths import MISSING
from stepweave.expressions.preconditions import Files, check
from stepweave.expressions.resolution import FLAT, Found, Resolver
from stepweave.expressions.scope import Scope
from stepweave.expressions.templates import Template
from stepweave.graph.model import Node
from stepweave.graph.node_data import InputField
from stepweave.graph.problem import quoted
from stepweave.texts import Text


class Inputs:
    """The inputs of one visit; made by `of`, then asked by the node for as much as it needs.

    `variables` holds exactly what was resolved: each declared input by its name, each reference as it is written.
    `problems` are the preconditions that fail: the node must not run, and tells all of them (`failure`).
    """

    def __init__(self, resolver: Resolver, files: Files | None = None) -> None:
        self._resolver = resolver
        self._files = files
        self.problems: list[Text] = []
        self.variables: dict[str, Any] = {}
        self._unresolved: dict[str, Text] = {}

    @classmethod
    def of(cls, node: Node, scope: Scope) -> "Inputs":
        """Resolves `data.inputs[]`. Raises nothing of its own; what `scope` raises while it reads goes through.

        The run's files are only asked about. A flat scope (setting `workflow.workspace.legacy-flat-inject`) has
        `{nodeId}__{var}` of every predecessor spread into the variables, and so reads all of them.
        """
        inputs = cls(Resolver(scope), scope.files)
        if scope.flat:
            inputs.variables.update(_spread(scope))
        inputs.declare(node.common.inputs)
        return inputs

    def declare(self, declarations: Iterable[InputField]) -> dict[str, Any]:
        """Resolves declarations and holds them against their types; gives those that have a value."""
        checked = check(declarations, self._resolver, self._files)
        self.problems += checked.problems
        self.variables.update(checked.values)
        return checked.values

    @property
    def warnings(self) -> list[Text]:
        """Names with two sources and references that resolve to nothing, each once."""
        return [*self._resolver.warnings, *self._unresolved.values()]

    def render(self, template: str | Template) -> str:
        """The text of a template; what it refers to joins the variables, what resolves to nothing warns."""
        text, _ = templates.render(template, self._look_up)
        return text

    def value(self, side: Any) -> Any:
        """The value that a template or a literal stands for: a lone reference keeps its type, and is None where it
        resolves to nothing. Templates inside arrays and objects are rendered too; other values stand for themselves.
        """
        if isinstance(side, list):
            return [self.value(element) for element in side]
        if isinstance(side, dict):
            return {name: self.value(part) for name, part in side.items()}
        if not isinstance(side, str):
            return side
        template = templates.parse(side)
        if template.lone is None:
            return self.render(template)
        value = self._look_up(template.lone.name)
        return None if value is MISSING else value

    def failure(self) -> Text | None:
        """Every failed precondition in one message; None when the node may run."""
        return Text.join(self.problems) if self.problems else None

    def logs(self, language: str, moment: datetime | None = None) -> tuple[log.LogEntry, ...]:
        """The warnings as entries of the node's log."""
        return tuple(log.entry("WARN", moment, warning.to(language)) for warning in self.warnings)

    def _look_up(self, reference: str) -> Any:
        finding = self._resolver.reference(reference)
        if isinstance(finding, Found):
            self.variables[reference] = finding.value
            return finding.value
        self._unresolved[reference] = Text(
            f"引用 {quoted(reference)} 没有找到值，按空处理",
            f"nothing was found for the reference {quoted(reference)}: it is empty",
        )
        return MISSING


def _spread(scope: Scope) -> dict[str, Any]:
    return {
        f"{node_id}{FLAT}{name}": value
        for node_id in scope.predecessors()
        for name, value in data_of(scope.envelope(node_id)).items()
    }
