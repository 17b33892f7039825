"""`output`: what a run gives (contract §2): the declared outputs only, or every variable where none is declared."""

from typing import Any

from pydantic import Field as Shape

from stepweave.execution import log
from stepweave.execution.outcome import PROCESSED, Outcome, failed, succeeded
from stepweave.expressions.envelopes import data_of
from stepweave.expressions.scope import Scope, open_to_nodes
from stepweave.graph import shape
from stepweave.graph.locating import node_problem
from stepweave.graph.model import Node
from stepweave.graph.node_data import InputField
from stepweave.graph.problem import Problem, quoted
from stepweave.graph.shape import DataModel
from stepweave.graph.spec import Field
from stepweave.nodes.inputs import Inputs
from stepweave.texts import DEFAULT_LANGUAGE, Language, Text


class OutputData(DataModel):
    """Outputs are found as inputs are: by name, or by a mapping where one is given."""

    outputs: list[InputField] = Shape(default_factory=list)


class Output:
    light = True
    chain = "flow"

    def problems(self, node: Node) -> list[Problem]:
        """Faults of the mappings; the rest of `outputs[]` is common data."""
        _, faults = shape.read(OutputData, node.data)
        _, told = node.common_faults
        return [node_problem(node.id, fault.below("data")) for fault in faults if fault not in told]

    def outputs(self, node: Node) -> tuple[Field, ...] | None:
        return node.common.output_fields or None

    def handles(self, node: Node) -> None:  # noqa: ARG002 - no branches, whatever the node
        return None

    def run(self, node: Node, scope: Scope, language: Language = DEFAULT_LANGUAGE) -> Outcome:
        """Declared outputs read only the nodes that give them; a declared output that nothing gives is null."""
        inputs = Inputs.of(node, scope)
        outputs = _declared(node)
        if outputs:
            found = inputs.declare(outputs)
            values = {output.name: found.get(output.name) for output in outputs}
            warnings = [_nothing(name) for name, value in values.items() if value is None]
        else:
            values, warnings = _everything(scope)
            values |= inputs.variables
        logs = inputs.logs(language) + tuple(log.entry("WARN", None, text.to(language)) for text in warnings)
        failure = inputs.failure()
        if failure is not None:
            return failed(failure.to(language), variables=inputs.variables, logs=logs)
        return succeeded(PROCESSED.to(language), values, variables=inputs.variables | values, logs=logs)


def _declared(node: Node) -> list[InputField]:
    data, _ = shape.read(OutputData, node.data)
    return data.outputs if data else []


def _everything(scope: Scope) -> tuple[dict[str, Any], list[Text]]:
    """Initial inputs, then predecessors, farthest first; a value over another one warns, null is over nothing."""
    values = dict(open_to_nodes(scope.inputs))
    givers: dict[str, str] = {}
    warnings: list[Text] = []
    for node_id in reversed(scope.predecessors()):
        if scope.declared(node_id) == frozenset():
            continue
        for name, value in data_of(scope.envelope(node_id)).items():
            earlier = values.get(name)
            if value is None and name in values:
                continue
            if earlier is not None and earlier != value:
                warnings.append(_overwritten(name, node_id, givers.get(name)))
            values[name] = value
            givers[name] = node_id
    return values, warnings


def _overwritten(name: str, node_id: str, earlier: str | None) -> Text:
    zh, en = (f"节点 {quoted(earlier)}", f"node {quoted(earlier)}") if earlier else ("运行输入", "the run's inputs")
    return Text(
        f"变量 {quoted(name)} 有多个来源：取节点 {quoted(node_id)} 的值，覆盖{zh}的值；如需指定，请声明 outputs",
        f"{quoted(name)} comes from more than one place: node {quoted(node_id)} overwrites {en}; declare outputs to choose",
    )


def _nothing(name: str) -> Text:
    return Text(
        f"声明的输出 {quoted(name)} 没有找到值，按 null 处理",
        f"nothing was found for the declared output {quoted(name)}: it is null",
    )
