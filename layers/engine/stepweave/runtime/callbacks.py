"""The glue of the `callback` function: messages of the queue in, those to be tried again out."""

import json
from contextlib import suppress
from functools import cache, partial
from typing import Any

from stepweave.errors import Unavailable
from stepweave.execution.callback import wait_after
from stepweave.runtime.aws import engine, settings
from stepweave.runtime.logs import logger
from stepweave.services.delivery import Delivery
from stepweave.store.callbacks import Callbacks
from stepweave.store.keys import Keys
from stepweave.web.posting import post


def handle_callbacks(event: dict[str, Any]) -> dict[str, Any]:
    """`event` is SQS's. A message that is not done with is put off, and named in the answer so that the queue keeps it;
    once it has been received as often as the queue allows, it is a dead letter."""
    failed = [record["messageId"] for record in event["Records"] if not _is_done(record)]
    return {"batchItemFailures": [{"itemIdentifier": message_id} for message_id in failed]}


def _is_done(record: dict[str, Any]) -> bool:
    run_id = json.loads(record["body"])["runId"]
    number = int(record["attributes"]["ApproximateReceiveCount"])
    attempt = _delivery().attempt(run_id)
    told = {"run_id": run_id, "delivery": attempt.delivery, "attempt": number, "why": attempt.why}
    logger.info(f"callback {attempt.outcome}", extra=told)
    if attempt.outcome != "failed":
        return True
    with suppress(Unavailable):  # then it comes again when the queue thinks that this invocation has died
        engine().ports.callbacks.postpone(record["receiptHandle"], wait_after(number) or 0)
    return False


@cache
def _delivery() -> Delivery:
    built = engine()
    return Delivery(
        runs=built.store,
        results=built.results,
        callbacks=Callbacks(built.ports.items),
        keys=Keys(built.ports.items),
        clock=built.ports.clock,
        post=partial(post, private_hosts=settings().callback_private_hosts),
    )
