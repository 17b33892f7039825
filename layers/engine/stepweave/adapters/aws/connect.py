"""Clients of AWS, or of the emulator when `AWS_ENDPOINT_URL` is set; made once a process."""

from typing import Any

import boto3
import botocore.session
from botocore.config import Config

from stepweave.adapters.aws.dynamodb import DynamoItems
from stepweave.adapters.aws.parsing import read_attributes_quickly
from stepweave.adapters.aws.s3 import S3Blobs
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

# The newest signature and the region's own host, which presigned addresses need everywhere but in us-east-1.
# Requests are made of keys and items that the engine has made: DynamoDB itself checks them, botocore need not.
DYNAMODB_CONFIG = _CONFIG.merge(Config(parameter_validation=False))

S3_CONFIG = _CONFIG.merge(Config(signature_version="s3v4", s3={"addressing_style": "virtual"}))


class Connection:
    """`options` go to the session: region, credentials, a profile; by default those of the environment."""

    def __init__(
        self,
        settings: Settings,
        endpoint_url: str | None = None,
        botocore_session: botocore.session.Session | None = None,
        **options: Any,
    ) -> None:
        self._settings = settings
        self._endpoint_url = endpoint_url
        underneath = botocore_session or botocore.session.Session()
        read_attributes_quickly(underneath)
        self._session = boto3.Session(botocore_session=underneath, **options)

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

    def _client(self, service: Any, config: Config = _CONFIG) -> Any:
        return self._session.client(service, config=config, endpoint_url=self._endpoint_url)


def read_secret(name: str) -> str:
    """The text of a secret in Secrets Manager."""
    return str(boto3.client("secretsmanager", config=_CONFIG).get_secret_value(SecretId=name)["SecretString"])
