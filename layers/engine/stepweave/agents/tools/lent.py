"""What the engine lends to the tools of one agent."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from stepweave.agents.tools.files import Files
from stepweave.web.transport import GuardedTransport

Todos = Sequence[Mapping[str, str]]
"""The whole list `[{text, status}]`."""


@dataclass(frozen=True, slots=True)
class Lent:
    """The files that they may see, the way to the network, and the reader's ear."""

    files: Files
    transport: GuardedTransport
    todo: Callable[[Todos], None]
