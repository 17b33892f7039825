"""Where agents run when they do not run in the engine's own process (contract §2, `hermes.enabled`)."""

from dataclasses import dataclass, field

KEEP_ALIVE_SECONDS = 15.0
"""How often a bridge that has nothing to tell says that it is alive."""


@dataclass(frozen=True, slots=True)
class Bridge:
    """`url` is the bridge's base address; `token` is shown to it, and in no text. `idle_seconds` is how long a stream
    may bring nothing, not even a sign of life, before it counts as broken."""

    url: str
    token: str | None = field(default=None, repr=False)
    idle_seconds: float = 4 * KEEP_ALIVE_SECONDS
