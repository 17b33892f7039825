"""A step failed after the platform's retries: the visit fails, or is settled, and the chain goes on (protocol rule V)."""

from typing import Any

from stepweave.runtime.chain import handle_recover


def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    return handle_recover(event)
