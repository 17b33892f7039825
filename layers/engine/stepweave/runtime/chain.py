"""The glue of the functions that a chain calls: event in, one service call, next step out."""

import json
import time
from collections.abc import Callable
from typing import Any

from stepweave import clock as times
from stepweave.execution.step import Step
from stepweave.runtime.aws import engine
from stepweave.runtime.logs import logger
from stepweave.texts import Text

_CAUSE_CHARACTERS = 300


def handle_step(function: str, event: dict[str, Any], context: Any) -> dict[str, Any]:
    """One step of a chain. `event` is a step's JSON with `chain`, the execution's name.

    Raises `Superseded` and `Unavailable` for the state machine to call again.
    """
    return _handle(
        function,
        event,
        lambda step: engine().advance.step(step, event["chain"], lambda: context.get_remaining_time_in_millis() / 1000),
    )


def handle_recover(event: dict[str, Any]) -> dict[str, Any]:
    """A step that the platform could not get done; `event` also holds its `error` (`Error`, `Cause`)."""
    return _handle(
        "recover", event, lambda step: engine().advance.recover(step, event["chain"], reason_of(event["error"]))
    )


def handle_ask(event: dict[str, Any]) -> None:
    """A chain has come to a question (`.waitForTaskToken`). `event` is the step with `chain`, the task's `token`, and
    `enteredTime` and `retryCount` of the state, which put the tokens of one question in order (protocol rule A)."""
    step = Step.from_json(event)
    entered = times.from_json(event["enteredTime"])
    order = int(entered.timestamp() * 1000) * 1000 + int(event["retryCount"])
    engine().asks.sleep(step, event["chain"], event["token"], order)
    logger.info("ask", extra={"run_id": step.run_id, "node_id": step.node_id, "chain": event["chain"]})


def reason_of(error: dict[str, Any]) -> Text:
    """What the platform tells of a failed Task, as a reason that people can read."""
    name = str(error.get("Error", "Unknown"))
    cause = str(error.get("Cause", ""))
    try:
        told = json.loads(cause)
        cause = str(told.get("errorMessage", cause)) if isinstance(told, dict) else cause
    except ValueError:
        pass
    if name == "States.Timeout" or "timed out" in cause.lower():
        return Text("执行超出平台的时间限制，多次重试后放弃", "the platform's time limit was passed again and again")
    cause = cause[:_CAUSE_CHARACTERS]
    return Text(
        f"执行进程多次失败（{name}）：{cause}", f"the process that ran it failed again and again ({name}): {cause}"
    )


def _handle(function: str, event: dict[str, Any], work: Callable[[Step], Step]) -> dict[str, Any]:
    step = Step.from_json(event)
    began = time.perf_counter()
    told = {"run_id": step.run_id, "node_id": step.node_id, "visit_uuid": step.visit_uuid, "chain": event["chain"]}
    try:
        following = work(step)
    except Exception as error:
        logger.exception(f"{function} failed", extra=told | {"error": type(error).__name__})
        raise
    milliseconds = round((time.perf_counter() - began) * 1000, 1)
    logger.info(function, extra=told | {"next": following.kind, "next_node": following.node_id, "ms": milliseconds})
    return following.to_json()
