"""What a model inside a visit needs to ask what came before (contract §6)."""

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class ContextQuery:
    """The router's base URL, on loopback, and the visit's token for it, which is never logged, stored or shown."""

    base_url: str
    token: str = field(repr=False)
    run_id: str
    visit_uuid: str

    def masked(self, text: str) -> str:
        """The text with no more of the token than its beginning: whoever may have put it there, nobody else sees it."""
        return text.replace(self.token, f"{self.token[:4]}***")

    def to_json(self) -> dict[str, Any]:
        """As a bridge is told (seed §5.1)."""
        return {
            "base_url": self.base_url,
            "token": self.token,
            "run_id": self.run_id,
            "visit_uuid": self.visit_uuid,
        }
