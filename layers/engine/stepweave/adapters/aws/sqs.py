"""`CallbackQueue` on SQS."""

import json
from collections.abc import Callable
from functools import cached_property
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from stepweave.errors import Unavailable


class SqsCallbacks:
    """`connect` makes the client when there is the first message to send: most processes never have one."""

    def __init__(self, connect: Callable[[], Any], queue_url: str) -> None:
        self._connect = connect
        self._queue = queue_url

    def send(self, run_id: str) -> None:
        try:
            self._client.send_message(QueueUrl=self._queue, MessageBody=json.dumps({"runId": run_id}))
        except (ClientError, BotoCoreError) as error:
            raise Unavailable(f"the callback of run {run_id} could not be queued: {error}") from error

    def postpone(self, receipt: str, seconds: int) -> None:
        try:
            self._client.change_message_visibility(
                QueueUrl=self._queue, ReceiptHandle=receipt, VisibilityTimeout=seconds
            )
        except (ClientError, BotoCoreError) as error:
            raise Unavailable(f"a callback could not be put off: {error}") from error

    @cached_property
    def _client(self) -> Any:
        return self._connect()
