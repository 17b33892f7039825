"""A node type that streams as fast as a model speaks, and says when it said what."""

import time

from stepweave.execution.outcome import Outcome, succeeded
from stepweave.execution.work import Work
from stepweave.expressions.scope import Scope
from stepweave.graph.model import Node
from stepweave.graph.problem import Problem
from stepweave.graph.spec import Field
from stepweave.nodes.inputs import Inputs

DELTAS, SECONDS = 2_000, 5.0


class Streaming:
    """`DELTAS` deltas at equal distances in `SECONDS`, each the moment at which it was due: what the engine holds up
    while it writes counts as age."""

    light = False
    chain = "stream"

    def problems(self, node: Node) -> list[Problem]:  # noqa: ARG002 - none, whatever the node
        return []

    def outputs(self, node: Node) -> tuple[Field, ...]:
        return (Field(node.id),)

    def handles(self, node: Node) -> None:
        """Its edges carry no choice."""

    def run(self, node: Node, scope: Scope, work: Work) -> Outcome:
        inputs = Inputs.of(node, scope)
        began = time.time()
        for number in range(DELTAS):
            due = began + number * SECONDS / DELTAS
            time.sleep(max(0.0, due - time.time()))
            work.emit("thinking", f"{due:.4f} ")
        return succeeded("done", {node.id: DELTAS}, variables=inputs.variables)
