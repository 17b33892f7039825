"""Light nodes and scheduling: the first step of every chain (architecture.md, "Functions")."""

from typing import Any

from stepweave.runtime.chain import handle_step


def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    return handle_step("flow", event, context)
