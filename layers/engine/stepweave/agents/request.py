"""What goes into the loop and what comes out of it. Nothing here needs the agent library."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from stepweave.execution.log import LogEntry
from stepweave.graph.spec import Field
from stepweave.texts import Text


@dataclass(frozen=True, slots=True)
class LoopRequest:
    """One call of a model by a node.

    `prompt` and `system` are rendered. `instruction` asks for `fields` in words: it is added to the prompt, unless the
    model has a structured-output mode that can ask for them. `timeout` is in seconds. `script` is for `scripted:` only.
    """

    model: str
    prompt: str
    system: str = ""
    instruction: str = ""
    fields: tuple[Field, ...] = ()
    temperature: float | None = None
    max_tokens: int | None = None
    timeout: float | None = None
    script: Any = None


@dataclass(frozen=True, slots=True)
class ProviderFailed:
    """A model call that came to nothing. `retryable`: the same call may do better later (contract §2, `retry`)."""

    text: Text
    retryable: bool


class ModelRefused(Exception):
    """A model of ours cannot go on: its text is for people as it stands (a missing setting, the words of a script)."""

    def __init__(self, text: Text, *, retryable: bool = False) -> None:
        super().__init__(str(text))
        self.failure = ProviderFailed(text, retryable)


@dataclass(frozen=True, slots=True)
class LoopResult:
    """What a loop came to, also one that failed: then `failure` is set and `text` is empty.

    `thinking` is everything that was streamed as `thinking`, thoughts and text in their order (contract §5), `text` the
    text of the last turn. `cut_short`: the provider ended the last turn before the model had.
    """

    text: str
    thinking: str
    usage: Mapping[str, int]
    tool_calls: tuple[Mapping[str, Any], ...]
    logs: tuple[LogEntry, ...]
    cut_short: Text | None = None
    failure: ProviderFailed | None = None
