"""Upkeep: runs whose execution died, closing runs, what has expired (protocol rules D and X).

Called every minute, and by an EventBridge rule as soon as an execution ends in another way than by succeeding.
"""

from typing import Any

from stepweave.runtime.upkeep import handle_sweep


def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    return handle_sweep(event)
