"""What an agent stores to go on from in another process, days later if need be (architecture, agents)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

SHAPE = 1


@dataclass(frozen=True, slots=True)
class OpenQuestion:
    """A call of a tool that waits for a person. `call_id` is the model's, which need not be unique in the visit; `key`
    is ours and is. `question` is the question's JSON. `told`: its answer stands in the transcript."""

    call_id: str
    key: str
    name: str
    arguments: Mapping[str, Any]
    question: Mapping[str, Any]
    told: bool = False


@dataclass(frozen=True, slots=True)
class LoopState:
    """Where an agent stands. `messages` is the conversation with the model up to the last turn that was completed, as
    its `Talk` writes it; None before there was one. `transcript` is what the readers have been told, the part
    of a turn that failed included. `seconds` counts work, not waiting. `given_up` counts the times in a row that the
    platform's time did not suffice for the present turn.
    """

    messages: Any
    transcript: Mapping[str, Any]
    input_tokens: int
    output_tokens: int
    seconds: float
    questions: tuple[OpenQuestion, ...] = field(default=())
    given_up: int = 0

    def to_json(self) -> dict[str, Any]:
        return {
            "v": SHAPE,
            "messages": self.messages,
            "transcript": self.transcript,
            "usage": {"inputTokens": self.input_tokens, "outputTokens": self.output_tokens},
            "seconds": self.seconds,
            "questions": [
                {
                    "callId": question.call_id,
                    "key": question.key,
                    "name": question.name,
                    "arguments": question.arguments,
                    "question": question.question,
                    "told": question.told,
                }
                for question in self.questions
            ],
            "givenUp": self.given_up,
        }

    @staticmethod
    def from_json(state: Mapping[str, Any]) -> "LoopState":
        return LoopState(
            messages=state["messages"],
            transcript=state["transcript"],
            input_tokens=state["usage"]["inputTokens"],
            output_tokens=state["usage"]["outputTokens"],
            seconds=state["seconds"],
            questions=tuple(
                OpenQuestion(
                    each["callId"], each["key"], each["name"], each["arguments"], each["question"], each["told"]
                )
                for each in state["questions"]
            ),
            given_up=state["givenUp"],
        )
