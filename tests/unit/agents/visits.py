"""Plays the engine for one visit of a node: invocation after invocation, with what was saved and answered in between."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from stepweave.execution.outcome import Asked, Outcome, Result, Unfinished
from stepweave.execution.pause import Question
from stepweave.graph.model import Node
from tests.builders.scopes import WrittenScope
from tests.unit.agents.work import RecordingWork


class Killed(Exception):
    """The process dies here."""


@dataclass
class VisitPlayer:
    """`answer` gives the person's answer to a question. `works` are the working conditions of the invocations, made by
    `work`; each may be told to die. What an invocation saved before it died counts, what it streamed does too.
    """

    spec: Any
    node: Node
    answer: Callable[[Question], Any] = lambda question: "yes"
    work: Callable[[], RecordingWork] = RecordingWork
    scope: WrittenScope = field(default_factory=WrittenScope)
    works: list[RecordingWork] = field(default_factory=list)
    asked: list[tuple[str, Question]] = field(default_factory=list)
    saved: Any = None
    answers: dict[str, Any] = field(default_factory=dict)
    tries: int = 0

    def invoke(self) -> Result:
        """One invocation, with what it leaves taken over for the next. Raises `Killed`."""
        work = self.work()
        work.saved, work.answers, work.tries = self.saved, dict(self.answers), self.tries
        self.works.append(work)
        try:
            result: Result = self.spec.run(self.node, self.scope, work)
        finally:
            if work.saves:
                self.saved = json.loads(work.saves[-1])
        match result:
            case Asked(question, call_id, state):
                self.saved = _stored(state)
                self.asked.append((call_id, question))
                self.answers[call_id] = self.answer(question)
            case Unfinished(state):
                self.saved = _stored(state)
            case Outcome(retryable=True):
                self.tries += 1
        return result

    def play(self, most: int = 30) -> Outcome:
        """To the end, over questions and retries; at most three attempts."""
        for _ in range(most):
            try:
                result = self.invoke()
            except Killed:
                continue
            if isinstance(result, Outcome) and not (result.retryable and self.tries < 3):
                return result
        raise AssertionError(f"the node has not ended after {most} invocations")

    def events(self) -> list[tuple[str, str, Any]]:
        """What all invocations streamed."""
        return [event for work in self.works for event in work.events]

    def streamed(self, kind: str = "thinking") -> list[str]:
        return [content for event, content, _ in self.events() if event == kind]

    def kinds(self) -> list[str]:
        return [kind for kind, _, _ in self.events()]


def agent_node(*turns: list[Mapping[str, Any]], **data: Any) -> Node:
    """An agent that plays a script; keyword arguments are its further data."""
    told = {"model": "scripted:inline", "instructions": "be good", "prompt": "go", "script": list(turns), **data}
    return Node(id="work", type="agent", data=told)


def tool(name: str, **args: Any) -> dict[str, Any]:
    return {"tool": {"name": name, "args": args}}


def _stored(state: Mapping[str, Any]) -> Any:
    return json.loads(json.dumps(state, allow_nan=False))
