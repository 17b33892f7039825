"""Node types whose outcome tells everything that went into it, so that a wrong or a missing input shows.

A value is a checksum over the node and over everything it could see: ids, statuses and values of its predecessors.
"""

import json
import zlib
from collections import Counter
from collections.abc import Iterable, Mapping
from random import Random
from typing import Any

from stepweave.execution import log
from stepweave.execution.outcome import Asked, Outcome, Result, Unfinished, failed, succeeded
from stepweave.execution.pause import Question
from stepweave.execution.trace import trace
from stepweave.expressions.scope import Scope
from stepweave.graph.model import Node
from stepweave.graph.spec import Field, NodeSpec
from stepweave.services.visit_work import VisitWork

Seen = tuple[str, int, Any]


def value_of(node_id: str, inputs: Mapping[str, Any], seen: Iterable[Seen]) -> int:
    return zlib.crc32(json.dumps([node_id, dict(inputs), sorted(seen)]).encode())


class _Type:
    light = True
    chain = "flow"

    def problems(self, node: Node) -> list[Any]:
        return []

    def outputs(self, node: Node) -> tuple[Field, ...]:
        return (Field("value", "number"),)

    def handles(self, node: Node) -> tuple[str, ...] | None:
        return None

    def _value(self, node: Node, scope: Scope) -> int:
        seen: list[Seen] = []
        if node.data["reads"]:
            for predecessor in scope.predecessors():
                envelope = scope.envelope(predecessor)
                assert envelope is not None, f"{node.id} is reached from {predecessor}, which left nothing"
                seen.append((predecessor, envelope["status"], envelope["data"].get("value")))
        return value_of(node.id + node.data.get("instruction", ""), scope.inputs, seen)

    def _outcome(self, node: Node, value: int, **rest: Any) -> Outcome:
        """Log entries have no time, as those of pure nodes: whoever stores the visit fills it in."""
        rest = {"variables": {"value": value}, "logs": (log.entry("INFO", None, f"{node.id} ran"),)} | rest
        if node.data["fails"]:
            return failed(f"{node.id} failed as told", **rest)
        return succeeded("", {"value": value, node.id: value}, **rest)


class Light(_Type):
    def run(self, node: Node, scope: Scope, language: str) -> Outcome:
        return self._outcome(node, self._value(node, scope))


class Choice(_Type):
    def handles(self, node: Node) -> tuple[str, ...]:
        return tuple(node.data["branches"])

    def else_branch(self, node: Node) -> str | None:
        branch: str | None = node.data["else"]
        return branch

    def run(self, node: Node, scope: Scope, language: str) -> Outcome:
        return self._outcome(node, self._value(node, scope), branch=node.data["takes"])


class Effect(_Type):
    """Plays `data.script`: `say` streams a piece after a while, `ask` asks a person, `save` ends the invocation in the
    middle. `began` counts how often a node ran; a piece names the node, the attempt, which of these runs says it, and
    its place in the script.
    """

    light = False
    chain = "effect"

    def __init__(self, chance: Random) -> None:
        self._chance = chance
        self.began: Counter[str] = Counter()

    def run(self, node: Node, scope: Scope, work: VisitWork) -> Result:
        self.began[node.id] += 1
        run = self.began[node.id]
        value = self._value(node, scope)
        saved = work.saved or {"place": 0, "said": ""}
        said = saved["said"]
        for place, act in list(enumerate(node.data["script"]))[saved["place"] :]:
            if act == "say":
                work.clock.sleep(self._chance.choice([0, 0.03, 0.12, 0.2]))
                piece = f"{node.id} {work.visit.attempt} {run} {place};"
                said += piece
                work.emit("thinking" if self._chance.random() < 0.8 else "tool_progress", piece)
                continue
            state = {"place": place + 1, "said": said}
            if act == "save":
                return Unfinished(state)
            return Asked(Question(f"{node.id} at {place}"), str(place), state)
        for place, act in enumerate(node.data["script"]):
            assert act != "ask" or str(place) in work.answers, f"{node.id} goes on without the answer of {place}"
        logs = (log.entry("INFO", None, f"run {run}"),)
        rest = {"trace": trace(said or "nothing;"), "logs": logs, "whole": work.saved is not None}
        rest["variables"] = {"value": value, **work.answers}
        if work.tries < node.data["flaky"]:
            return failed(f"{node.id} is flaky", retryable=True, **rest)
        return self._outcome(node, value, **rest)


class OffCanvas(Effect):
    """What a planner has done beside the palette: the script is the planner's."""

    def run(self, node: Node, scope: Scope, work: VisitWork) -> Result:
        return super().run(node.model_copy(update={"data": {**_PLAIN, **node.data}}), scope, work)


_PLAIN = {"reads": True, "fails": False, "flaky": 0}


class Types:
    """The node table of one world."""

    def __init__(self, chance: Random) -> None:
        self.effect = OffCanvas(chance)
        self._types: dict[str, NodeSpec] = {
            "userInput": Light(),
            "light": Light(),
            "output": Light(),
            "choice": Choice(),
            "effect": self.effect,
            "smartAction": self.effect,
        }

    def __call__(self, type_name: str) -> NodeSpec | None:
        return self._types.get(type_name)
