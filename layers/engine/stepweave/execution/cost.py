"""What a model's tokens cost, where the deployment has a price table (`metadata.cost`)."""

from collections.abc import Mapping
from dataclasses import dataclass

_PER = 1_000_000
_DIGITS = 9  # one token of the cheapest models is still more than nothing


@dataclass(frozen=True, slots=True)
class Price:
    """Of a million tokens that the model reads, and of a million that it writes, in the currency of the table."""

    input: float
    output: float


def cost(price: Price, usage: Mapping[str, int]) -> float:
    """What `usage` (`inputTokens`, `outputTokens`) costs."""
    total = price.input * usage["inputTokens"] + price.output * usage["outputTokens"]
    return round(total / _PER, _DIGITS)
