"""What goes into the loop and what comes out of it. Nothing here needs the agent library."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from stepweave.execution.log import LogEntry
from stepweave.execution.skill import Skill
from stepweave.graph.spec import Field
from stepweave.texts import Text


@dataclass(frozen=True, slots=True)
class McpServer:
    """A server of tools by its address; `name` comes before the names of its tools."""

    name: str
    url: str
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Abilities:
    """What a model may do beside answering: `tools` by name, those of `servers`, read the files of its `skill`, ask a
    person where it `asks` (`clarify`; it is an agent then), and ask what came `before` it (contract §6). `max_steps` bounds the requests to the
    model over the whole visit, `max_total_tokens` what it reads and writes."""

    tools: tuple[str, ...] = ()
    servers: tuple[McpServer, ...] = ()
    skill: Skill | None = None
    asks: bool = True
    before: bool = True
    max_steps: int = 20
    max_total_tokens: int | None = None


Judge = Callable[[str], Text | None]
"""What is wrong with a model's final answer, told to it as it stands; None: nothing."""

MOST_REFUSALS = 3
"""How often a refused answer is asked for again (contract §2, AGENTIC)."""


@dataclass(frozen=True, slots=True)
class LoopRequest:
    """What a node wants of a model: one call, or with `abilities` as many as it takes.

    `prompt` and `system` are rendered. `instruction` asks for `fields` in words: it is added to the prompt, unless the
    model has a structured-output mode that can ask for them. `timeout` bounds the seconds of work, over all invocations.
    A final answer that the `judge` refuses is asked for again, `MOST_REFUSALS` times; then it stands. `opening` is what the
    node's log begins with. `script` is for `scripted:` only, and `first_turn` where it begins.
    """

    model: str
    prompt: str
    system: str = ""
    instruction: str = ""
    fields: tuple[Field, ...] = ()
    temperature: float | None = None
    max_tokens: int | None = None
    timeout: float | None = None
    opening: tuple[LogEntry, ...] = ()
    abilities: Abilities | None = None
    judge: Judge | None = None
    script: Any = None
    first_turn: int = 0


@dataclass(frozen=True, slots=True)
class ProviderFailed:
    """A model call that came to nothing. `retryable`: the same call may do better later (contract §2, `retry`)."""

    text: Text
    retryable: bool


class NodeStopped(Exception):
    """The node cannot go on: the text is for people as it stands."""

    def __init__(self, text: Text, *, retryable: bool = False) -> None:
        super().__init__(str(text))
        self.failure = ProviderFailed(text, retryable)


class ModelRefused(NodeStopped):
    """A model of ours cannot go on (a missing setting, the words of a script)."""


@dataclass(frozen=True, slots=True)
class LoopResult:
    """What a loop came to, also one that failed: then `failure` is set and `text` is empty.

    `thinking` is everything that was streamed as `thinking`, thoughts and text in their order (contract §5), `text` the
    text of the last turn. `usage`, `steps` (turns the model has taken) and `seconds` of work count over all invocations.
    `cut_short`: the provider ended the last turn before the model had.
    """

    text: str
    thinking: str
    usage: Mapping[str, int]
    tool_calls: tuple[Mapping[str, Any], ...]
    logs: tuple[LogEntry, ...]
    steps: int = 0
    seconds: float = 0.0
    cut_short: Text | None = None
    failure: ProviderFailed | None = None
