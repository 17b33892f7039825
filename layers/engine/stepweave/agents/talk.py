"""What the loop needs of a conversation with a model, wherever it is held: in this process, or across a bridge."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from stepweave.agents.state import OpenQuestion
from stepweave.execution.pause import Answer
from stepweave.texts import Text


@dataclass(slots=True)
class Spent:
    """Tokens of all turns up to now."""

    input_tokens: int = 0
    output_tokens: int = 0

    @property
    def total_tokens(self) -> int:
        return self.input_tokens + self.output_tokens


class Talk(Protocol):
    """`turns` counts the turns that the model has completed. In the end there is `text`, or there are `questions`,
    calls that wait for a person. `cut_short`: the provider ended the last turn before the model had.

    What has been said is told to a `Transcript`. When a turn has been completed and before the next begins, the loop is
    called back, with all of this up to date; what it raises ends the conversation.
    """

    turns: int
    text: str
    cut_short: Text | None
    questions: tuple[OpenQuestion, ...]

    @property
    def spent(self) -> Spent: ...

    def resume(self, messages: Any) -> None:
        """Goes on from what `messages_to_json` gave in an earlier invocation; None: from the beginning."""
        ...

    def messages_to_json(self) -> Any:
        """What has been said up to the last turn that was completed; None before there was one."""
        ...

    def open(self) -> tuple[str, ...]:
        """Gets ready, without a request, and gives the secrets that must stand in no message. Raises `NodeStopped`."""
        ...

    async def run(self, answers: Mapping[str, Answer]) -> None:
        """Goes on to the end, with the `answers` to all open questions, by the model's ids of the calls that asked."""
        ...


def is_bridged(messages: Any) -> bool:
    """Whether what `messages_to_json` gave is of a conversation across a bridge; one in this process gives a list."""
    return isinstance(messages, Mapping)
