"""`userInput`: where a run begins (contract §2). Its variables come from the run's inputs, with their defaults."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated, Any

from pydantic import AfterValidator, ValidationInfo, field_validator
from pydantic import Field as Shape

from stepweave.execution.outcome import PROCESSED, Outcome, failed, succeeded
from stepweave.expressions.conversion import accept
from stepweave.expressions.paths import MISSING
from stepweave.expressions.preconditions import Files, file_problem, type_problem
from stepweave.expressions.scope import SECTIONS, Scope
from stepweave.graph import shape
from stepweave.graph.locating import node_problem
from stepweave.graph.model import USER_INPUT, Node
from stepweave.graph.node_data import FieldName, FieldType
from stepweave.graph.problem import Problem, quoted
from stepweave.graph.shape import DataModel, Fault
from stepweave.graph.spec import Field
from stepweave.nodes.naming import repeated
from stepweave.texts import DEFAULT_LANGUAGE, Language, Text


def _open(name: str) -> str:
    if name in SECTIONS:
        raise shape.refuse(Text("是引擎保留的名称，请改名", "is reserved for the engine: rename it"))
    return name


class Variable(DataModel):
    """One of `variables[]`. Without a type it takes any value."""

    name: Annotated[FieldName, AfterValidator(_open)]
    type: FieldType | None = None
    required: bool = False
    default: Any = None
    description: str = ""

    @field_validator("default")
    @classmethod
    def _fits(cls, default: Any, info: ValidationInfo) -> Any:
        declared = info.data.get("type")
        if default is not None and accept(default, declared) is MISSING:
            raise shape.refuse(Text(f"不是 {declared} 类型，请更正", f"is not of type {declared}: correct it"))
        return default

    @property
    def field(self) -> Field:
        return Field(self.name, self.type or "string", self.required, self.default, self.description)


class UserInputData(DataModel):
    variables: list[Variable] = Shape(default_factory=list)


class UserInput:
    light = True
    chain = "flow"

    def problems(self, node: Node) -> list[Problem]:
        _, faults = shape.read(UserInputData, node.data)
        return [node_problem(node.id, fault.below("data")) for fault in (*faults, *_repeated(node))]

    def outputs(self, node: Node) -> tuple[Field, ...]:
        return tuple(variable.field for variable in _variables(node))

    def handles(self, node: Node) -> None:  # noqa: ARG002 - no branches, whatever the node
        return None

    def run(self, node: Node, scope: Scope, language: Language = DEFAULT_LANGUAGE) -> Outcome:
        """The declared variables that have a value; files were checked when the run started."""
        values, problems = _take(node, scope.inputs, None)
        if problems:
            return failed(Text.join(problems).to(language), variables=values)
        return succeeded(PROCESSED.to(language), values, variables=values)


def input_problems(nodes: Iterable[Node], inputs: Mapping[str, Any], files: Files | None = None) -> list[Text]:
    """Everything that keeps a run with these inputs from starting, each text naming its variable (contract §4, start).

    `files` are the paths of the run's files; None where they are not known, then no `filePath` is looked up.
    """
    texts = [text for node in nodes if node.type == USER_INPUT for text in _take(node, inputs, files)[1]]
    return list(dict.fromkeys(texts))


def _take(node: Node, inputs: Mapping[str, Any], files: Files | None) -> tuple[dict[str, Any], list[Text]]:
    values: dict[str, Any] = {}
    problems: list[Text] = []
    for variable in _variables(node):
        given = inputs.get(variable.name)
        value = variable.default if given is None else given
        if value is None:
            if variable.required:
                problems.append(_missing(variable))
            continue
        accepted = accept(value, variable.type)
        if accepted is MISSING:
            problems.append(type_problem(variable.name, str(variable.type), value))
            continue
        values[variable.name] = accepted
        problem = file_problem(variable.name, accepted, files) if variable.type == "filePath" else None
        if problem is not None:
            problems.append(problem)
    return values, problems


def _variables(node: Node) -> list[Variable]:
    data, _ = shape.read(UserInputData, node.data)
    return data.variables if data else []


def _missing(variable: Variable) -> Text:
    return Text(
        f"缺少必填输入 {quoted(variable.name)}，请在 variables 中提供",
        f"required input {quoted(variable.name)} is missing: give it in variables",
    )


def _repeated(node: Node) -> Iterator[Fault]:
    text = Text("与前面的变量重名，请改名", "repeats the name of an earlier one: rename it")
    return (Fault(("variables", index, "name"), text) for index in repeated(node.data.get("variables"), "name"))
