"""The glue of the `sweep` function: a schedule's tick, or an execution that ended in another way than it should."""

from typing import Any

from stepweave.runtime.aws import engine
from stepweave.runtime.logs import logger


def handle_sweep(event: dict[str, Any]) -> dict[str, Any]:
    """`event` is a schedule's, or an EventBridge "Step Functions Execution Status Change"."""
    detail = event.get("detail") or {}
    chain = detail.get("name")
    if chain is None:
        told: dict[str, Any] = {"looked_at": engine().sweep.sweep()}
    else:
        told = {"chain": chain, "restarted": engine().sweep.chain_died(chain)}
    logger.info("sweep", extra=told)
    return told
