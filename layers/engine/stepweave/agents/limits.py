"""The limits of an agent: reaching one ends its node with a sentence that names it."""

from stepweave.agents.request import Abilities, NodeStopped
from stepweave.texts import Text


class LimitReached(NodeStopped):
    """The model would go on, and may not."""


def check_limits(abilities: Abilities, turns: int, tokens: int) -> None:
    """Whether the model may be asked once more after `turns` turns that took `tokens`. Raises `LimitReached`."""
    if turns >= abilities.max_steps:
        raise LimitReached(
            Text(
                f"达到 maxSteps（{abilities.max_steps}）次模型调用仍未完成；如确有需要，请调大 maxSteps",
                f"not done after maxSteps ({abilities.max_steps}) requests to the model; raise maxSteps if it needs more",
            )
        )
    limit = abilities.max_total_tokens
    if limit is not None and tokens >= limit:
        raise LimitReached(
            Text(
                f"已使用 {tokens} 个 token，达到 maxTotalTokens（{limit}）；如确有需要，请调大 maxTotalTokens",
                f"{tokens} tokens were used, maxTotalTokens is {limit}; raise it if the node needs more",
            )
        )
