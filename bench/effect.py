"""A node type with the least of an effect: what it costs is what the engine costs, without the agent library."""

from stepweave.execution.outcome import Outcome, succeeded
from stepweave.execution.work import Work
from stepweave.expressions.scope import Scope
from stepweave.graph.model import Node
from stepweave.graph.problem import Problem
from stepweave.graph.spec import Field
from stepweave.nodes.inputs import Inputs


class Effect:
    """Resolves and renders a text, as every node with a prompt does, and gives it back."""

    light = False
    chain = "effect"

    def problems(self, node: Node) -> list[Problem]:  # noqa: ARG002 - none, whatever the node
        return []

    def outputs(self, node: Node) -> tuple[Field, ...]:  # noqa: ARG002 - the same for all
        return (Field("result"),)

    def handles(self, node: Node) -> None:
        """Its edges carry no choice."""

    def run(self, node: Node, scope: Scope, work: Work) -> Outcome:
        inputs = Inputs.of(node, scope)
        text = inputs.render(node.data["text"])
        logs = inputs.logs(work.language, work.clock.now())
        return succeeded("done", {"result": text[:100]}, variables=inputs.variables, logs=logs)
