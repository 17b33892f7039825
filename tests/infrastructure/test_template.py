import json
import os
from typing import Any

import pytest

from stepweave.execution.callback import WAITS
from stepweave.items import INDEXES, SCHEMAS, Index, Table
from stepweave.settings import Settings, variable_of
from stepweave.web.posting import SECONDS
from tests.infrastructure.template import ROOT, functions, resources, statements, template, timeout, variables

ANYWHERE = {
    "logs:CreateLogDelivery",
    "logs:GetLogDelivery",
    "logs:UpdateLogDelivery",
    "logs:DeleteLogDelivery",
    "logs:ListLogDeliveries",
    "logs:PutResourcePolicy",
    "logs:DescribeResourcePolicies",
    "logs:DescribeLogGroups",
}
"""Actions that IAM cannot tie to a resource."""

TABLES: dict[Table, str] = {
    "workflows": "WorkflowsTable",
    "runs": "RunsTable",
    "visits": "VisitsTable",
    "events": "EventsTable",
    "apiKeys": "ApiKeysTable",
    "tokens": "TokensTable",
    "chats": "ChatsTable",
}
ADAPTER = {
    "AWS_LAMBDA_EXEC_WRAPPER": "/opt/bootstrap",
    "AWS_LWA_INVOKE_MODE": "response_stream",
    "AWS_LWA_PORT": "8080",
}
"""What Lambda Web Adapter reads."""

FOLDERS = sorted(path.parent.name for path in (ROOT / "functions").glob("*/handler.py"))


def as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def test_nothing_is_allowed_on_all_resources_but_what_iam_cannot_tie_to_one() -> None:
    everywhere = {
        action
        for statement in statements(template()["Resources"])
        if statement["Effect"] == "Allow" and "*" in as_list(statement["Resource"])
        for action in as_list(statement["Action"])
    }
    assert everywhere <= ANYWHERE


def test_no_statement_allows_every_action_of_a_service() -> None:
    allowed = [s for s in statements(template()["Resources"]) if s["Effect"] == "Allow"]
    assert allowed
    assert not [action for statement in allowed for action in as_list(statement["Action"]) if "*" in action]


def test_every_function_of_the_template_has_a_folder_and_every_folder_a_function() -> None:
    assert sorted(functions()) == FOLDERS


@pytest.mark.parametrize("function", FOLDERS)
def test_a_function_writes_to_a_log_group_whose_entries_expire(function: str) -> None:
    properties = functions()[function]
    group = resources("AWS::Logs::LogGroup")[properties["LoggingConfig"]["LogGroup"]["Ref"]]
    assert group["RetentionInDays"] == {"Ref": "LogRetentionDays"}
    assert group["LogGroupName"]["Fn::Sub"] == f"/aws/lambda/{properties['FunctionName']['Fn::Sub']}"


@pytest.mark.parametrize("function", FOLDERS)
def test_a_function_has_the_settings_without_which_the_engine_does_not_start(function: str) -> None:
    needed = {variable_of(name) for name, field in Settings.model_fields.items() if field.is_required()}
    assert needed <= set(variables(function))


@pytest.mark.parametrize("function", FOLDERS)
def test_a_function_has_no_variable_that_nobody_reads(function: str) -> None:
    read = {variable_of(name) for name in Settings.model_fields} | {"POWERTOOLS_SERVICE_NAME", *ADAPTER}
    assert set(variables(function)) <= read


def test_only_who_asks_for_keys_or_signs_with_their_secrets_knows_their_table() -> None:
    assert [name for name in FOLDERS if "API_KEYS_TABLE" in variables(name)] == ["api", "callback", "stream"]


def test_streams_are_the_same_api_where_the_deployment_has_the_adapter_for_them() -> None:
    stream = template()["Resources"]["StreamFunction"]
    assert stream["Condition"] == template()["Resources"]["StreamLogs"]["Condition"] == "Streams"
    assert stream["Properties"]["Layers"] == [{"Ref": "WebAdapterLayerArn"}]
    assert stream["Properties"]["FunctionUrlConfig"] == {"AuthType": "NONE", "InvokeMode": "RESPONSE_STREAM"}
    assert stream["Properties"]["Policies"] == functions()["api"]["Policies"]
    own = {"POWERTOOLS_SERVICE_NAME": "stream", "STREAM_SECONDS": "870", **ADAPTER}
    assert variables("stream") == variables("api") | own
    assert int(own["STREAM_SECONDS"]) < timeout("stream")
    start = ROOT / "functions/stream" / stream["Properties"]["Handler"]
    assert os.access(start, os.X_OK)


def test_the_queue_of_callbacks_gives_a_message_as_often_as_there_are_attempts() -> None:
    [queue] = [queue for queue in resources("AWS::SQS::Queue").values() if "RedrivePolicy" in queue]
    assert queue["RedrivePolicy"]["maxReceiveCount"] == len(WAITS) + 1
    assert queue["VisibilityTimeout"] >= 6 * timeout("callback")
    assert timeout("callback") > SECONDS
    [event] = functions()["callback"]["Events"].values()
    assert event["Properties"]["FunctionResponseTypes"] == ["ReportBatchItemFailures"]
    assert all(wait < 12 * 3600 for wait in WAITS)


@pytest.mark.parametrize("function", FOLDERS)
def test_a_function_has_a_sample_event(function: str) -> None:
    assert isinstance(json.loads((ROOT / "events" / f"{function}.json").read_text()), dict)


@pytest.mark.parametrize("function", FOLDERS)
def test_a_function_finds_the_engine_in_the_layer(function: str) -> None:
    assert template()["Globals"]["Function"]["Layers"] == [{"Ref": "EngineLayer"}]
    assert functions()[function].get("Layers", []) == ([{"Ref": "WebAdapterLayerArn"}] if function == "stream" else [])
    assert not (ROOT / "functions" / function / "requirements.txt").exists()


@pytest.mark.parametrize("table", TABLES)
def test_a_table_has_the_keys_that_the_engine_uses(table: Table) -> None:
    properties = resources("AWS::DynamoDB::Table")[TABLES[table]]
    schema = SCHEMAS[table]
    assert keys(properties["KeySchema"]) == tuple(filter(None, (schema.partition, schema.sort)))
    types = {each["AttributeName"]: each["AttributeType"] for each in properties["AttributeDefinitions"]}
    assert types[schema.partition] == "S"
    if schema.sort:
        assert types[schema.sort] == ("N" if schema.sort_is_number else "S")


@pytest.mark.parametrize("index", INDEXES, ids=lambda index: index.name)
def test_an_index_has_the_keys_that_the_engine_uses(index: Index) -> None:
    properties = resources("AWS::DynamoDB::Table")[TABLES[index.table]]
    found = {each["IndexName"]: each for each in properties["GlobalSecondaryIndexes"]}
    assert keys(found[index.name]["KeySchema"]) == (index.partition, index.sort)
    assert found[index.name]["Projection"] == {"ProjectionType": "KEYS_ONLY" if index.keys_only else "ALL"}


def keys(schema: list[dict[str, str]]) -> tuple[str, ...]:
    assert [each["KeyType"] for each in schema] == ["HASH", "RANGE"][: len(schema)]
    return tuple(each["AttributeName"] for each in schema)


@pytest.mark.parametrize("table", TABLES.values())
def test_a_table_is_paid_by_use_encrypted_recoverable_and_outlives_the_stack(table: str) -> None:
    properties = resources("AWS::DynamoDB::Table")[table]
    assert properties["BillingMode"] == "PAY_PER_REQUEST"
    assert properties["SSESpecification"] == {"SSEEnabled": True}
    assert properties["PointInTimeRecoverySpecification"] == {"PointInTimeRecoveryEnabled": True}
    assert template()["Resources"][table]["UpdateReplacePolicy"] == "Retain"
    assert template()["Resources"][table]["DeletionPolicy"] == "RetainExceptOnCreate"


@pytest.mark.parametrize("table", ["RunsTable", "ChatsTable"])
def test_idempotency_keys_and_chats_expire_by_themselves(table: str) -> None:
    ttl = resources("AWS::DynamoDB::Table")[table]["TimeToLiveSpecification"]
    assert ttl == {"AttributeName": "expiresAt", "Enabled": True}


def test_context_tokens_expire_by_themselves() -> None:
    ttl = resources("AWS::DynamoDB::Table")["TokensTable"]["TimeToLiveSpecification"]
    assert ttl == {"AttributeName": "deleteAt", "Enabled": True}


def test_the_bucket_is_closed_to_the_public_encrypted_and_free_of_abandoned_uploads() -> None:
    [bucket] = resources("AWS::S3::Bucket").values()
    assert set(bucket["PublicAccessBlockConfiguration"].values()) == {True}
    assert bucket["BucketEncryption"]
    [rule] = bucket["LifecycleConfiguration"]["Rules"]
    assert rule["AbortIncompleteMultipartUpload"]["DaysAfterInitiation"] <= 7


def test_functions_know_the_state_machine_by_the_name_it_has() -> None:
    [machine] = resources("AWS::Serverless::StateMachine").values()
    arn = template()["Globals"]["Function"]["Environment"]["Variables"]["STATE_MACHINE_ARN"]["Fn::Sub"]
    assert arn.endswith(f":stateMachine:{machine['Name']['Fn::Sub']}")


def test_the_sweep_comes_every_minute_and_whenever_an_execution_dies() -> None:
    events = functions()["sweep"]["Events"]
    assert events["EveryMinute"]["Properties"]["ScheduleExpression"] == "rate(1 minute)"
    detail = events["ChainDied"]["Properties"]["Pattern"]["detail"]
    assert detail["status"] == ["FAILED", "TIMED_OUT", "ABORTED"]
    assert detail["stateMachineArn"] == [{"Ref": "RunStateMachine"}]


def test_no_query_string_is_logged_because_a_view_token_may_stand_in_it() -> None:
    [stage] = resources("AWS::ApiGatewayV2::Stage").values()
    log = json.loads(stage["AccessLogSettings"]["Format"])
    assert "$context.path" in log.values()
    assert not [value for value in log.values() if "query" in value.lower()]
