"""The same tests on every implementation of a port: memory, and AWS as moto plays it in process."""

from collections.abc import Iterator
from functools import cache
from typing import Any

import botocore.session
import pytest
from moto import mock_aws

from stepweave.adapters.aws.connect import DYNAMODB_CONFIG, S3_CONFIG
from stepweave.adapters.aws.dynamodb import DynamoItems
from stepweave.adapters.aws.parsing import read_attributes_quickly
from stepweave.adapters.aws.s3 import S3Blobs
from stepweave.adapters.memory import MemoryBlobs, MemoryItems
from stepweave.items import INDEXES, SCHEMAS, Table
from stepweave.ports import BlobStore, ItemStore

REGION = "us-east-1"


_CONFIGS = {"dynamodb": DYNAMODB_CONFIG, "s3": S3_CONFIG}


@cache
def client_of(service: str) -> Any:
    """One for all tests: what a client is made from takes longer to read than most tests take."""
    session = botocore.session.Session()
    read_attributes_quickly(session)
    return session.create_client(
        service,
        region_name=REGION,
        aws_access_key_id="test",
        aws_secret_access_key="test",
        config=_CONFIGS[service],
    )


@pytest.fixture
def aws() -> Iterator[None]:
    """With nothing in it."""
    with mock_aws():
        yield


@pytest.fixture(params=["memory", "dynamodb"])
def items(request: pytest.FixtureRequest) -> ItemStore:
    if request.param == "memory":
        return MemoryItems()
    request.getfixturevalue("aws")
    client = client_of("dynamodb")
    for table in SCHEMAS:
        client.create_table(**definition(table))
    return DynamoItems(client, {table: f"test-{table}" for table in SCHEMAS})


@pytest.fixture(params=["memory", "s3"])
def blobs(request: pytest.FixtureRequest) -> BlobStore:
    if request.param == "memory":
        return MemoryBlobs()
    blobs: BlobStore = request.getfixturevalue("s3_blobs")
    return blobs


@pytest.fixture
def s3_blobs(aws: None) -> S3Blobs:
    client = client_of("s3")
    client.create_bucket(Bucket="test")
    return S3Blobs(client, "test")


def definition(table: Table) -> dict[str, object]:
    """The table as template.yaml makes it (tests/infrastructure holds the two against each other)."""
    schema = SCHEMAS[table]
    indexes = [index for index in INDEXES if index.table == table]
    types = {schema.partition: "S"} | ({schema.sort: "N" if schema.sort_is_number else "S"} if schema.sort else {})
    for index in indexes:
        types |= {index.partition: "S", index.sort: "S"}
    request: dict[str, object] = {
        "TableName": f"test-{table}",
        "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": [{"AttributeName": name, "AttributeType": kind} for name, kind in types.items()],
        "KeySchema": _keys(schema.partition, schema.sort),
    }
    if indexes:
        request["GlobalSecondaryIndexes"] = [
            {
                "IndexName": index.name,
                "KeySchema": _keys(index.partition, index.sort),
                "Projection": {"ProjectionType": "KEYS_ONLY" if index.keys_only else "ALL"},
            }
            for index in indexes
        ]
    return request


def _keys(partition: str, sort: str | None) -> list[dict[str, str]]:
    keys = [{"AttributeName": partition, "KeyType": "HASH"}]
    return keys + ([{"AttributeName": sort, "KeyType": "RANGE"}] if sort else [])
