"""Where agents run when they do not run in the engine's own process (contract §2, `hermes.enabled`)."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Bridge:
    """`url` is the bridge's base address; `token` is shown to it, and in no text. `idle_seconds` is how long a stream
    may bring nothing, not even a sign of life, before it counts as broken."""

    url: str
    token: str | None = field(default=None, repr=False)
    idle_seconds: float = 60.0
