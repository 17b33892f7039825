"""One step of a chain: what a state machine execution carries. Ids only, never data (architecture law 1)."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

END = "end"
WAIT = "wait"
ASK = "ask"


@dataclass(frozen=True, slots=True)
class Step:
    """`kind` names the state that does the step: a node type's chain (`flow`, `llm`, …), `wait` or `end`.

    A waiting step (`wait` for `seconds`, `ask` for a person) goes on as `then`. `steps` counts the steps of this execution, so that a long
    chain hands over to a new one before the history limit.
    """

    run_id: str
    visit_uuid: str
    node_id: str
    kind: str
    steps: int = 0
    seconds: int = 0
    then: str = ""

    def to_json(self) -> dict[str, Any]:
        step: dict[str, Any] = {
            "runId": self.run_id,
            "visitUuid": self.visit_uuid,
            "nodeId": self.node_id,
            "kind": self.kind,
            "steps": self.steps,
        }
        if self.then:
            step["then"] = self.then
        return step | ({"seconds": self.seconds} if self.kind == WAIT else {})

    @staticmethod
    def from_json(step: Mapping[str, Any]) -> "Step":
        steps = int(step.get("steps", 0))
        return Step(step["runId"], step["visitUuid"], step["nodeId"], step["kind"], steps, then=step.get("then", ""))

    def ended(self) -> "Step":
        return replace(self, kind=END, then="")

    def asking(self) -> "Step":
        """The chain sleeps on a question, and goes on with this step."""
        return replace(self, kind=ASK, then=self.kind, steps=self.steps + 1)

    def later(self, seconds: int) -> "Step":
        """The same step again, after a wait."""
        return replace(self, kind=WAIT, seconds=seconds, then=self.kind, steps=self.steps + 1)
