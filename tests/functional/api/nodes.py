"""Node types that the API's tests need beside the real ones: one that asks a person, one that gives much."""

from typing import Any

from stepweave.execution import log
from stepweave.execution.outcome import Asked, Outcome, succeeded
from stepweave.execution.pause import Question
from stepweave.execution.work import Work
from stepweave.expressions.scope import Scope
from stepweave.graph.model import Node
from stepweave.graph.spec import Field, NodeSpec
from stepweave.nodes.table import spec_of


class _Type:
    light = True
    chain = "flow"

    def problems(self, node: Node) -> list[Any]:
        return []

    def outputs(self, node: Node) -> tuple[Field, ...]:
        return (Field("result"),)

    def handles(self, node: Node) -> None:
        return None


class Asker(_Type):
    """Asks `data.ask` and gives the answer."""

    light = False
    chain = "asker"

    def run(self, node: Node, scope: Scope, work: Work) -> Outcome | Asked:
        if "ask" in work.answers:
            return succeeded("answered", {"result": work.answers["ask"]})
        return Asked(Question.from_json(node.data["ask"]), "ask", {})


class Much(_Type):
    """Gives `data.bytes` of text (of `data.letter`), and `data.entries` log entries of a kilobyte each."""

    def run(self, node: Node, scope: Scope, language: str) -> Outcome:
        text = node.data.get("letter", "x") * node.data["bytes"]
        entries = [
            log.entry("INFO", None, f"{number} ".ljust(1000, "-")) for number in range(node.data.get("entries", 0))
        ]
        return succeeded("much", {"result": text}, logs=tuple(entries))


_TYPES: dict[str, NodeSpec] = {"asker": Asker(), "much": Much()}


def specs(name: str) -> NodeSpec | None:
    return _TYPES.get(name) or spec_of(name)
