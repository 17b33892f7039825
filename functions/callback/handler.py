"""Callbacks: tells receivers that runs have ended, signed, again and again until they take it (contract §4)."""

from typing import Any

from stepweave.runtime.callbacks import handle_callbacks


def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    return handle_callbacks(event)
