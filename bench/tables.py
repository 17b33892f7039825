"""The engine's tables and bucket in the emulator, without the rest of the stack."""

from typing import Any

from stepweave.items import INDEXES, SCHEMAS, Table

BUCKET = "bench-data"


def table_name(table: Table) -> str:
    return f"bench-{table}"


def create_tables(dynamodb: Any) -> None:
    """As template.yaml makes them (tests/infrastructure holds it against the same schemas)."""
    for table in SCHEMAS:
        dynamodb.create_table(**_request(table))


def create_bucket(s3: Any) -> None:
    s3.create_bucket(Bucket=BUCKET)


def _request(table: Table) -> dict[str, Any]:
    schema = SCHEMAS[table]
    indexes = [index for index in INDEXES if index.table == table]
    types = {schema.partition: "S"} | ({schema.sort: "N" if schema.sort_is_number else "S"} if schema.sort else {})
    for index in indexes:
        types |= {index.partition: "S", index.sort: "S"}
    request: dict[str, Any] = {
        "TableName": table_name(table),
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
