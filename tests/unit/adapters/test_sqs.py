"""The queue of callbacks on SQS, as moto plays it."""

import json
from collections.abc import Iterator
from typing import Any

import boto3
import pytest
from moto import mock_aws

from stepweave.adapters.aws.sqs import SqsCallbacks
from stepweave.errors import Unavailable


@pytest.fixture
def sqs(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "test")
    with mock_aws():
        yield boto3.client("sqs", region_name="us-east-1")


def test_a_run_comes_out_as_it_went_in_and_again_when_its_time_has_come(sqs: Any) -> None:
    url = sqs.create_queue(QueueName="callbacks")["QueueUrl"]
    queue = SqsCallbacks(lambda: sqs, url)
    queue.send("0000c0de")
    [message] = sqs.receive_message(QueueUrl=url)["Messages"]
    assert json.loads(message["Body"]) == {"runId": "0000c0de"}
    assert "Messages" not in sqs.receive_message(QueueUrl=url)
    queue.postpone(message["ReceiptHandle"], 0)
    assert sqs.receive_message(QueueUrl=url)["Messages"][0]["MessageId"] == message["MessageId"]


def test_a_queue_that_is_not_there_is_unavailable(sqs: Any) -> None:
    queue = SqsCallbacks(lambda: sqs, "https://sqs.us-east-1.amazonaws.com/123456789012/none")
    with pytest.raises(Unavailable, match="0000c0de"):
        queue.send("0000c0de")
    with pytest.raises(Unavailable):
        queue.postpone("receipt", 5)


def test_no_client_is_made_before_there_is_something_to_send() -> None:
    SqsCallbacks(lambda: pytest.fail("too early"), "url")
