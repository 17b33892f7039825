"""A chain has come to a question: its task token is kept with it, or it is woken at once (protocol rule A)."""

from typing import Any

from stepweave.runtime.chain import handle_ask


def handler(event: dict[str, Any], context: Any) -> None:
    handle_ask(event)
