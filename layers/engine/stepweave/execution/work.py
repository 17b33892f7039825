"""What the engine lends a node with an effect while it runs: a stream to the readers, time, and its own past."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import Any, Literal, Protocol

from stepweave.clock import Clock
from stepweave.execution.bridge import Bridge
from stepweave.execution.context_query import ContextQuery
from stepweave.execution.cost import Price
from stepweave.execution.pause import Answer
from stepweave.execution.skill import Skills
from stepweave.execution.workspace import Workspace
from stepweave.texts import Language

StreamKind = Literal[
    "thinking", "status", "step", "tool_progress", "tool_call", "tool_result", "todo_update", "clarify_request"
]


class RunEnded(Exception):
    """The run has ended meanwhile (abort, cancel): the node must stop at once; nothing it does counts any more."""


class Models(Protocol):
    """Opens models by their `provider:model` names, with the deployment's settings; implemented in agents."""

    def open(self, name: str, play: Any) -> Any:
        """The model, for the agent loop. `play` is what a scripted model must know, an `agents.script.Play`."""
        ...

    def price(self, name: str) -> Price | None:
        """What the model's tokens cost; None where the deployment's price table does not say."""
        ...


class Work(Protocol):
    """One visit's working conditions; implemented by services.

    `tries` counts the attempts of this visit that failed before (0 at first), `language` is that of stored texts,
    `trace_limit` the bytes that each field of a stored trace may have. `private_hosts`: tools may also call hosts that
    are not public. `bridge` is where agents run; None: in this process. `saved` is what an earlier invocation of this
    visit saved, None at first; `answers` are those people gave to its questions, by the call that asked.
    """

    clock: Clock
    language: Language
    tries: int
    models: Models
    trace_limit: int
    workspace: Workspace
    skills: Skills
    private_hosts: bool
    bridge: Bridge | None

    @property
    def context_query(self) -> Callable[[], AbstractContextManager[ContextQuery]] | None:
        """Opens what a model needs to ask what came before, for as long as the context is open, which must not be
        longer than the invocation (contract §6). It blocks a moment, may be called in a thread of its own, and raises
        `Unavailable`. None: context queries are switched off.
        """
        ...

    @property
    def saved(self) -> Mapping[str, Any] | None: ...

    @property
    def answers(self) -> Mapping[str, Answer]: ...

    def save(self, state: Mapping[str, Any]) -> None:
        """Stores what the node has done so far (JSON), together with what it streamed: whoever makes the next
        invocation of this visit goes on from there, after a kill too. Raises `RunEnded`, `Superseded`.
        """
        ...

    def emit(self, kind: StreamKind, content: str, *, tool_name: str | None = None, data: Any = None) -> None:
        """Streams a `node_stream` event (contract §5). Gathers; may write. Raises `RunEnded`, `Superseded`."""
        ...

    def tick(self) -> None:
        """Writes what has been gathered for long enough. Whoever waits calls this every 50 ms. Raises like `emit`."""
        ...

    def remaining(self) -> float:
        """Seconds until the platform kills the process."""
        ...
