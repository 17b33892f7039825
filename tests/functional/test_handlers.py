"""Each function's handler takes its sample event (events/), on tables that moto plays; `sam local invoke` uses the same."""

import importlib
import json
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import boto3
import pytest
from moto import mock_aws

from stepweave import ids
from stepweave.execution.callback import WAITS, NewCallback
from stepweave.items import SCHEMAS
from stepweave.runtime import aws, callbacks
from stepweave.services.definitions import Definitions
from stepweave.services.keys import ApiKeys
from stepweave.services.runs import NewRun
from stepweave.store.keys import Keys
from tests.contract.conftest import definition as table_definition
from tests.functional.api.definitions import definition, scripted
from tests.functional.processes import one_process
from tests.functional.receiver import receiver

ROOT = Path(__file__).parents[2]
RUN_ID = "1a2b3c4d"
CONTEXT = SimpleNamespace(
    get_remaining_time_in_millis=lambda: 30_000,
    function_name="f",
    memory_limit_in_mb=1024,
    invoked_function_arn="arn:aws:lambda:us-east-1:123456789012:function:f",
    aws_request_id="request",
)
MACHINE = "arn:aws:states:us-east-1:123456789012:stateMachine:run"


@pytest.fixture(autouse=True)
def deployed(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A stack in moto, with one run that has started: `in → node-1 → out`."""
    environment = {
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_DEFAULT_REGION": "us-east-1",
        "DATA_BUCKET": "data",
        "STATE_MACHINE_ARN": MACHINE,
        "API_KEYS_TABLE": "test-apiKeys",
        "CALLBACK_PRIVATE_HOSTS": "true",
        "CALLBACK_QUEUE_URL": "https://sqs.us-east-1.amazonaws.com/123456789012/callbacks",
    } | {f"{table.upper()}_TABLE": f"test-{table}" for table in SCHEMAS if table != "apiKeys"}
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    with mock_aws(), one_process():
        for table in SCHEMAS:
            boto3.client("dynamodb").create_table(**table_definition(table))
        boto3.client("s3").create_bucket(Bucket="data")
        role = "arn:aws:iam::123456789012:role/run"
        chain = json.dumps({"StartAt": "End", "States": {"End": {"Type": "Succeed"}}})
        boto3.client("stepfunctions").create_state_machine(name="run", definition=chain, roleArn=role)
        forget()
        yield
    forget()


def forget() -> None:
    for made in (aws.engine, aws.settings, callbacks._delivery):
        made.cache_clear()


def start_run() -> None:
    engine = aws.engine()
    nodes = {"in": {"type": "userInput"}, "node-1": scripted("said"), "out": {"type": "output"}}

    workflow = Definitions(engine.workflows, engine.specs, engine.ports.clock).create(
        definition("sample", nodes, [("in", "node-1"), ("node-1", "out")])
    )
    run = engine.runs.create(workflow, _nothing(), run_id=RUN_ID)
    engine.starting.start(run)


def _nothing() -> Any:

    return NewRun({}, "en")


def call(function: str, **changes: Any) -> Any:
    event = json.loads((ROOT / "events" / f"{function}.json").read_text()) | changes
    return importlib.import_module(f"functions.{function}.handler").handler(event, CONTEXT)


def test_a_chain_goes_from_the_start_through_its_node_to_the_end() -> None:
    start_run()
    chain = ids.first_chain(RUN_ID)
    first = call("flow", nodeId="", visitUuid=ids.visit_uuid(RUN_ID, "", 1), chain=chain)
    assert (first["kind"], first["nodeId"]) == ("llm", "node-1")
    last = call("llm", **first, chain=chain)
    assert last["kind"] == "end"
    run = aws.engine().runs.get(RUN_ID)
    assert run.status == "SUCCESS"
    assert aws.engine().events.read(RUN_ID, 0, 100)[-1].data["output"]["data"] == {"result": "said"}


def test_a_step_that_the_platform_gave_up_on_fails_the_run_with_its_reason() -> None:
    start_run()
    chain = ids.first_chain(RUN_ID)
    first = call("flow", nodeId="", visitUuid=ids.visit_uuid(RUN_ID, "", 1), chain=chain)
    assert call("recover", **{k: first[k] for k in ("visitUuid", "nodeId", "kind")}, chain=chain)["kind"] == "end"
    run = aws.engine().runs.get(RUN_ID)
    assert run.status == "FAILED"
    assert run.failed_node == "node-1"


@pytest.mark.parametrize("function", ["flow", "llm", "agent", "smart_action", "planner", "recover"])
def test_a_step_of_a_run_that_is_not_there_ends_its_chain(function: str) -> None:
    assert call(function)["kind"] == "end"


def test_the_sweep_takes_a_tick_and_the_death_of_a_chain() -> None:
    start_run()
    assert call("sweep", detail={}) == {"looked_at": 0}
    died = call("sweep", detail={"name": ids.first_chain(RUN_ID), "status": "FAILED"})
    assert died["chain"] == ids.first_chain(RUN_ID)


def test_a_question_of_a_visit_that_is_not_there_wakes_its_chain_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    woken: list[dict[str, Any]] = []
    monkeypatch.setattr(aws.engine().ports.chains, "wake", lambda token, step: woken.append({"token": token, **step}))
    call("ask_for")
    assert [(each["token"], each["kind"]) for each in woken] == [("a-task-token", "end")]


def test_a_callback_of_a_run_that_is_not_there_is_done_with() -> None:
    assert call("callback") == {"batchItemFailures": []}


def test_a_callback_that_nobody_takes_is_put_off_and_stays_in_the_queue() -> None:
    queues = boto3.client("sqs")
    queue = queues.create_queue(QueueName="callbacks", Attributes={"VisibilityTimeout": "600"})["QueueUrl"]
    with receiver(503) as server:
        run_id = end_run(f"{server.base_url}/ended")
        [message] = received(queue)
        record = {
            "messageId": message["MessageId"],
            "receiptHandle": message["ReceiptHandle"],
            "body": message["Body"],
            "attributes": {"ApproximateReceiveCount": str(len(WAITS) + 1)},
        }
        answer = call("callback", Records=[record])
        assert json.loads(message["Body"]) == {"runId": run_id}
        assert answer == {"batchItemFailures": [{"itemIdentifier": message["MessageId"]}]}
        assert [told.json["runId"] for told in server.told] == [run_id]
    assert received(queue), "after the last attempt the queue sees at once that it was the last"
    gone = {**record, "receiptHandle": "of nobody"}
    assert call("callback", Records=[gone]) == answer, "a message that cannot be put off comes again all the same"


def end_run(callback_url: str) -> str:
    engine = aws.engine()
    made = ApiKeys(Keys(engine.ports.items), engine.ports.clock).create("k", ["run"], None)
    nodes = {"in": {"type": "userInput"}, "node-1": scripted("said"), "out": {"type": "output"}}
    workflow = Definitions(engine.workflows, engine.specs, engine.ports.clock).create(
        definition("sample", nodes, [("in", "node-1"), ("node-1", "out")])
    )
    new = NewRun({}, "en", callback=NewCallback(callback_url, made.key.key_id))
    run_id = engine.runs.create(workflow, new, run_id=RUN_ID).run_id
    engine.ending.cancel(run_id)
    return run_id


def received(queue: str) -> list[Any]:
    messages: list[Any] = boto3.client("sqs").receive_message(QueueUrl=queue).get("Messages", [])
    return messages


def test_the_api_answers_through_mangum() -> None:
    answer = call("api")
    assert answer["statusCode"] == 401
    assert json.loads(answer["body"])["code"] == "UNAUTHORIZED"
