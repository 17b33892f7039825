"""One decision of the planner of an AGENTIC run (contract §2)."""

from typing import Any

from stepweave.runtime.chain import handle_step


def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    return handle_step("planner", event, context)
