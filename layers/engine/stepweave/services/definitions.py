"""Saving and showing workflow definitions (contract §2 and §4): validated, then an immutable version."""

from collections.abc import Iterable, Mapping
from typing import Any

from stepweave import clock as times
from stepweave.clock import Clock
from stepweave.errors import GraphInvalid, ValidationFailed, WorkflowNotFound
from stepweave.graph.model import OUTPUT, USER_INPUT, Definition
from stepweave.graph.problem import Problem, quoted
from stepweave.graph.spec import Field, Specs
from stepweave.graph.validation import accept
from stepweave.nodes.model_data import planner_faults
from stepweave.store.workflows import Workflow, Workflows
from stepweave.texts import Text

SERVER_FIELDS = ("id", "version", "latestVersion")
"""What a definition is shown with beside its own fields; a client may send it back unchanged."""


class Definitions:
    def __init__(self, workflows: Workflows, specs: Specs, clock: Clock) -> None:
        self._workflows = workflows
        self._specs = specs
        self._clock = clock

    def create(self, raw: Mapping[str, Any]) -> Workflow:
        """Version 1 of a new workflow. Raises `GraphInvalid` with every problem, `NameTaken`."""
        definition = accept(_own_fields(raw), self._specs, planner_faults)
        return self._workflows.create(definition, summarise(definition, self._specs), self._moment())

    def update(self, known: Workflow, raw: Mapping[str, Any]) -> Workflow:
        """The next version. The name of a workflow never changes; it may be left out here."""
        fields = {"name": known.name, **_own_fields(raw)}
        if fields["name"] != known.name:
            raise ValidationFailed(
                Text(
                    f"name 必须与路径中的工作流名称 {quoted(known.name)} 一致，名称不可更改",
                    f"name must be that of the workflow in the path, {quoted(known.name)}: it cannot be changed",
                )
            )
        definition = accept(fields, self._specs, planner_faults)
        return self._workflows.add_version(known, definition, summarise(definition, self._specs), self._moment())

    def problems(self, raw: Mapping[str, Any]) -> list[Problem]:
        """What saving would refuse; empty for a definition that can be saved."""
        try:
            accept(_own_fields(raw), self._specs, planner_faults)
        except GraphInvalid as invalid:
            return invalid.problems
        return []

    def show(self, known: Workflow, version: int | None) -> dict[str, Any]:
        """A version as it was saved, the latest by default, with the server's own fields."""
        shown = known.latest if version is None else version
        definition = self._workflows.definition(known.name, shown)
        if definition is None:
            raise WorkflowNotFound(
                Text(
                    f"工作流 {known.name} 没有版本 {shown}，最新版本是 {known.latest}",
                    f"workflow {known.name} has no version {shown}, its latest is {known.latest}",
                )
            )
        return {**definition, "id": known.workflow_id, "version": shown, "latestVersion": known.latest}

    def delete(self, known: Workflow) -> None:
        self._workflows.delete(known)

    def listed(self, search: str, allowed: frozenset[str] | None) -> list[Workflow]:
        """By name; those of `allowed` only (None: all) in whose name, title or description `search` occurs."""
        words = search.strip().casefold()
        return [
            workflow
            for workflow in self._workflows.listed()
            if (allowed is None or workflow.name in allowed) and (not words or words in _searched(workflow))
        ]

    def _moment(self) -> str:
        return times.to_json(self._clock.now())


def summarise(definition: Definition, specs: Specs) -> dict[str, Any]:
    """`inputs` and `outputs` of a workflow, from its `userInput` and `output` nodes; of equal names the first counts."""
    return {
        "inputs": [_input(field) for field in _fields(definition, USER_INPUT, specs)],
        "outputs": [_output(field) for field in _fields(definition, OUTPUT, specs)],
    }


def _fields(definition: Definition, node_type: str, specs: Specs) -> Iterable[Field]:
    spec = specs(node_type)
    fields: dict[str, Field] = {}
    for node in definition.nodes:
        if node.type == node_type and spec is not None:
            for field in spec.outputs(node) or ():
                fields.setdefault(field.name, field)
    return fields.values()


def _input(field: Field) -> dict[str, Any]:
    shown: dict[str, Any] = {"name": field.name, "type": field.type, "required": field.required}
    if field.default is not None:
        shown["default"] = field.default
    return shown | _described(field)


def _output(field: Field) -> dict[str, Any]:
    return {"name": field.name, "type": field.type} | _described(field)


def _described(field: Field) -> dict[str, Any]:
    return {"description": field.description} if field.description else {}


def _own_fields(raw: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in raw.items() if name not in SERVER_FIELDS}


def _searched(workflow: Workflow) -> str:
    return "\n".join((workflow.name, workflow.title or "", workflow.description)).casefold()
