"""`condition`: chooses one of its branches, which routes the run by `sourceHandle` (contract §2). It gives no variables."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, ValidationInfo, field_validator
from pydantic import Field as Shape

from stepweave.execution import log
from stepweave.execution.outcome import PROCESSED, Outcome, failed, succeeded
from stepweave.expressions import templates
from stepweave.expressions.conditions import OPERATORS, Branch, Comparison, PatternInvalid, compile_pattern, evaluate
from stepweave.expressions.scope import Scope
from stepweave.graph import shape
from stepweave.graph.locating import node_problem
from stepweave.graph.model import Node
from stepweave.graph.node_data import FieldName
from stepweave.graph.problem import Problem
from stepweave.graph.shape import DataModel, Fault, JsonModel
from stepweave.graph.spec import Field
from stepweave.nodes.inputs import Inputs
from stepweave.nodes.naming import repeated
from stepweave.texts import DEFAULT_LANGUAGE, Language, Text


def _known(operator: str) -> str:
    if operator not in OPERATORS:
        names = ", ".join(OPERATORS)
        raise shape.refuse(Text(f"不是已知的运算符，请选择其一：{names}", f"is no operator: choose one of {names}"))
    return operator


class ComparisonData(JsonModel):
    """One of `conditions[]`. A side may be null: which operators hold then is settled (contract §2)."""

    left: Any
    operator: Annotated[str, AfterValidator(_known)]
    right: Any = None

    @field_validator("right")
    @classmethod
    def _usable_pattern(cls, right: Any, info: ValidationInfo) -> Any:
        """A pattern that is written out is refused when the workflow is saved; one from a template fails the node."""
        if info.data.get("operator") == "matches" and isinstance(right, str) and not templates.parse(right).references:
            try:
                compile_pattern(right)
            except PatternInvalid as error:
                raise shape.refuse(Text(f"：{error.text.zh}", f"does not hold a pattern: {error.text.en}")) from error
        return right


class BranchData(DataModel):
    """One of `branches[]`."""

    id: FieldName
    logic: Literal["AND", "OR"] = "AND"
    conditions: list[ComparisonData] = Shape(min_length=1)


class ConditionData(DataModel):
    branches: list[BranchData] = Shape(default_factory=list)
    else_branch: str = ""

    @property
    def choices(self) -> list[Branch]:
        return [
            Branch(branch.id, branch.logic, tuple(Comparison(c.left, c.operator, c.right) for c in branch.conditions))
            for branch in self.branches
        ]


class Condition:
    light = True
    chain = "flow"

    def problems(self, node: Node) -> list[Problem]:
        _, faults = shape.read(ConditionData, node.data)
        return [node_problem(node.id, fault.below("data")) for fault in (*faults, *_meaning(node.data))]

    def outputs(self, node: Node) -> tuple[Field, ...]:  # noqa: ARG002 - none, whatever the node
        return ()

    def handles(self, node: Node) -> tuple[str, ...]:
        data = _read(node)
        names = [branch.id for branch in data.branches] + ([data.else_branch] if data.else_branch else [])
        return tuple(dict.fromkeys(names))

    def else_branch(self, node: Node) -> str | None:
        """What is taken when no branch holds, and when the node fails under `skip`; None: all its edges are dead."""
        return _read(node).else_branch or None

    def run(self, node: Node, scope: Scope, language: Language = DEFAULT_LANGUAGE) -> Outcome:
        """Reads what the choice needs: a branch after the one that holds is never looked at."""
        inputs = Inputs.of(node, scope)
        failure = inputs.failure()
        branch = None
        if failure is None:
            try:
                branch = evaluate(_read(node).choices, self.else_branch(node), inputs.value)
            except PatternInvalid as error:
                failure = error.text
        logs = inputs.logs(language)
        if failure is not None:
            return failed(failure.to(language), variables=inputs.variables, logs=logs)
        if branch is None:
            logs += (log.entry("WARN", None, _NO_BRANCH.to(language)),)
        return succeeded(
            PROCESSED.to(language),
            {},
            metadata={"selectedBranch": branch},
            variables=inputs.variables,
            logs=logs,
            branch=branch,
        )


_NO_BRANCH = Text(
    "没有分支成立，也没有 elseBranch：其后的节点不会运行",
    "no branch holds and there is no elseBranch: nothing after it runs",
)


def _read(node: Node) -> ConditionData:
    data, _ = shape.read(ConditionData, node.data)
    return data or ConditionData()


def _meaning(data: Mapping[str, Any]) -> Iterator[Fault]:
    """What no single value shows; looks at the data as it is, so that no other fault hides it."""
    if data.get("branches") in (None, []):
        yield Fault(("branches",), Text("至少需要一个分支", "needs one branch at least"))
    for index in repeated(data.get("branches"), "id"):
        text = Text("与前面的分支重复，请改名", "repeats the id of an earlier branch: rename it")
        yield Fault(("branches", index, "id"), text)
