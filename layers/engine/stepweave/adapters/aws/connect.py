"""Clients of AWS, or of the emulator when `AWS_ENDPOINT_URL` is set; made once a process.

They are botocore's: what boto3 has beyond it is used nowhere, and a cold start would feel it.
"""

from typing import Any

import botocore.session
from botocore.config import Config

from stepweave.adapters.aws.dynamodb import DynamoItems
from stepweave.adapters.aws.parsing import read_attributes_quickly
from stepweave.adapters.aws.s3 import S3Blobs
from stepweave.adapters.aws.sqs import SqsCallbacks
from stepweave.adapters.aws.stepfunctions import StepFunctionsChains
from stepweave.items import Table
from stepweave.settings import Settings

# Short time-outs and few tries of the SDK's own: what stays unanswered is asked again by the protocol, which knows more.
_CONFIG = Config(
    connect_timeout=2,
    read_timeout=10,
    retries={"mode": "standard", "total_max_attempts": 4},
    max_pool_connections=50,
)

# Requests are made of keys and items that the engine has made: DynamoDB itself checks them, botocore need not.
DYNAMODB_CONFIG = _CONFIG.merge(Config(parameter_validation=False))

# The newest signature and the region's own host, which presigned addresses need everywhere but in us-east-1.
S3_CONFIG = _CONFIG.merge(Config(signature_version="s3v4", s3={"addressing_style": "virtual"}))


class Connection:
    """`options` go to every client: region and credentials; by default those of the environment."""

    def __init__(
        self,
        settings: Settings,
        endpoint_url: str | None = None,
        botocore_session: botocore.session.Session | None = None,
        **options: Any,
    ) -> None:
        self._settings = settings
        self._endpoint_url = endpoint_url
        self._session = botocore_session or botocore.session.Session()
        self._options = options
        read_attributes_quickly(self._session)

    def items(self) -> DynamoItems:
        given = self._settings
        tables: dict[Table, str] = {
            "workflows": given.workflows_table,
            "runs": given.runs_table,
            "visits": given.visits_table,
            "events": given.events_table,
            "tokens": given.tokens_table,
        }
        if given.api_keys_table is not None:
            tables["apiKeys"] = given.api_keys_table
        if given.chats_table is not None:
            tables["chats"] = given.chats_table
        return DynamoItems(self._client("dynamodb", DYNAMODB_CONFIG), tables)

    def blobs(self) -> S3Blobs:
        return S3Blobs(self._client("s3", S3_CONFIG), self._settings.data_bucket)

    def chains(self) -> StepFunctionsChains:
        return StepFunctionsChains(self._client("stepfunctions"), self._settings.state_machine_arn)

    def callbacks(self) -> SqsCallbacks:
        return SqsCallbacks(lambda: self._client("sqs"), self._settings.callback_queue_url)

    def _client(self, service: Any, config: Config = _CONFIG) -> Any:
        return self._session.create_client(service, config=config, endpoint_url=self._endpoint_url, **self._options)


def read_secret(name: str) -> str:
    """The text of a secret in Secrets Manager."""
    client: Any = botocore.session.Session().create_client("secretsmanager", config=_CONFIG)
    return str(client.get_secret_value(SecretId=name)["SecretString"])
