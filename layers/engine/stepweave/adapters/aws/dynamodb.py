"""`ItemStore` on DynamoDB: conditions and writes compiled to expressions, client errors classified (once, here)."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from botocore.exceptions import BotoCoreError, ClientError

from stepweave.adapters.aws.attributes import from_attribute, to_attribute
from stepweave.adapters.aws.expressions import Expression, compile_condition, compile_update
from stepweave.errors import Unavailable
from stepweave.items import (
    SCHEMAS,
    Check,
    Delete,
    Index,
    Item,
    Key,
    OutcomeUnknown,
    Put,
    Table,
    Update,
    Write,
    WriteConflict,
    WriteRefused,
    key_of,
)

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

Result = TypeVar("Result")

_CONFLICTS = {"TransactionConflictException", "TransactionInProgressException"}
_OVERLOADED = {
    "ProvisionedThroughputExceededException",
    "ThrottlingException",
    "RequestLimitExceeded",
    "InternalServerError",
    "ServiceUnavailable",
}
_UNKNOWN_OUTCOME = {"InternalServerError", "ServiceUnavailable"}
_BATCH = 100


class DynamoItems:
    """`tables` gives the deployed name of each table. Reads are strongly consistent."""

    def __init__(self, client: "DynamoDBClient", tables: dict[Table, str]) -> None:
        self._client = client
        self._tables = tables
        self._logical = {name: table for table, name in tables.items()}

    def get(self, key: Key) -> Item | None:
        answer = self._call(
            lambda: self._client.get_item(TableName=self._tables[key.table], Key=self._key(key), ConsistentRead=True)
        )
        return self._item(answer["Item"]) if "Item" in answer else None

    def get_many(self, keys: Sequence[Key]) -> dict[Key, Item]:
        found: dict[Key, Item] = {}
        waiting = list(dict.fromkeys(keys))
        if len(waiting) == 1:
            item = self.get(waiting[0])
            return {waiting[0]: item} if item is not None else {}
        while waiting:
            request: dict[str, Any] = {}
            for key in waiting[:_BATCH]:
                request.setdefault(self._tables[key.table], {"Keys": [], "ConsistentRead": True})["Keys"].append(
                    self._key(key)
                )
            waiting = waiting[_BATCH:]
            answer = self._call(lambda request=request: self._client.batch_get_item(RequestItems=request))  # type: ignore[misc]
            for name, raws in answer.get("Responses", {}).items():
                for raw in raws:
                    item = self._item(raw)
                    found[key_of(self._logical[name], item)] = item
            for name, rest in answer.get("UnprocessedKeys", {}).items():
                waiting += [self._logical_key(self._logical[name], raw) for raw in rest["Keys"]]
        return found

    def query(
        self,
        table: Table,
        partition: str,
        *,
        prefix: str | None = None,
        after: int | str | None = None,
        limit: int | None = None,
        descending: bool = False,
        names: Sequence[str] = (),
    ) -> list[Item]:
        schema = SCHEMAS[table]
        expression = Expression()
        condition = f"{expression.name(schema.partition)} = {expression.value(partition)}"
        if prefix is not None:
            condition += f" AND begins_with({expression.name(str(schema.sort))}, {expression.value(prefix)})"
        if after is not None:
            condition += (
                f" AND {expression.name(str(schema.sort))} {'<' if descending else '>'} {expression.value(after)}"
            )
        request = {"TableName": self._tables[table], "ConsistentRead": True, "ScanIndexForward": not descending}
        if names:
            wanted = dict.fromkeys([schema.partition, str(schema.sort), *names])
            request["ProjectionExpression"] = ", ".join(map(expression.name, wanted))
        return self._pages(request, condition, expression, limit)

    def query_index(
        self,
        index: Index,
        partition: str,
        *,
        up_to: str | None = None,
        after: Item | None = None,
        limit: int | None = None,
        descending: bool = False,
    ) -> list[Item]:
        expression = Expression()
        condition = f"{expression.name(index.partition)} = {expression.value(partition)}"
        if up_to is not None:
            condition += f" AND {expression.name(index.sort)} <= {expression.value(up_to)}"
        request: dict[str, Any] = {
            "TableName": self._tables[index.table],
            "IndexName": index.name,
            "ScanIndexForward": not descending,
        }
        if after is not None:
            keys = key_of(index.table, after).attributes() | {
                name: after[name] for name in (index.partition, index.sort)
            }
            request["ExclusiveStartKey"] = {name: to_attribute(value) for name, value in keys.items()}
        return self._pages(request, condition, expression, limit)

    def update(self, update: Update) -> Item:
        request = self._update(update) | {"ReturnValues": "ALL_NEW", "ReturnValuesOnConditionCheckFailure": "ALL_OLD"}
        try:
            answer = self._call(lambda: self._client.update_item(**request), writing=True)
        except ClientError as error:
            if error.response["Error"]["Code"] == "ConditionalCheckFailedException":
                old: Any = error.response.get("Item")
                raise WriteRefused({update.key: self._item(old) if old else None}) from error
            raise
        return self._item(answer["Attributes"])

    def put(self, table: Table, item: Item) -> None:
        self._call(lambda: self._client.put_item(TableName=self._tables[table], Item=self._raw(item)), writing=True)

    def delete(self, key: Key) -> None:
        self._call(
            lambda: self._client.delete_item(TableName=self._tables[key.table], Key=self._key(key)), writing=True
        )

    def transact(self, writes: Sequence[Write], *, token: str | None = None) -> None:
        request: dict[str, Any] = {"TransactItems": [self._transact_item(write) for write in writes]}
        if token is not None:
            request["ClientRequestToken"] = token
        try:
            self._call(lambda: self._client.transact_write_items(**request), writing=True)
        except ClientError as error:
            if error.response["Error"]["Code"] != "TransactionCanceledException":
                raise
            self._refuse(writes, error)

    def _refuse(self, writes: Sequence[Write], error: ClientError) -> None:
        reasons: Any = error.response.get("CancellationReasons", [])
        refused = {
            write.key: self._item(reason["Item"]) if reason.get("Item") else None
            for write, reason in zip(writes, reasons, strict=False)
            if reason.get("Code") == "ConditionalCheckFailed"
        }
        if refused:
            raise WriteRefused(refused) from error
        codes = {reason.get("Code") for reason in reasons} - {"None", None}
        if "ThrottlingError" in codes or "ProvisionedThroughputExceeded" in codes:
            raise Unavailable("the store is throttling") from error
        if codes <= {"TransactionConflict"}:
            raise WriteConflict(str(error)) from error
        raise error

    def _call(self, request: Callable[[], Result], *, writing: bool = False) -> Result:
        try:
            return request()
        except ClientError as error:
            code = error.response["Error"]["Code"]
            if code in _CONFLICTS:
                raise WriteConflict(code) from error
            if writing and code in _UNKNOWN_OUTCOME:
                raise OutcomeUnknown(code) from error
            if code in _OVERLOADED:
                raise Unavailable(f"the store answered {code}") from error
            raise
        except BotoCoreError as error:
            if writing:
                raise OutcomeUnknown(str(error)) from error
            raise Unavailable(f"the store could not be reached: {error}") from error

    def _pages(self, request: dict[str, Any], condition: str, expression: Expression, limit: int | None) -> list[Item]:
        request |= {"KeyConditionExpression": condition} | expression.attributes(to_attribute)
        found: list[Item] = []
        while limit is None or len(found) < limit:
            if limit is not None:
                request["Limit"] = limit - len(found)
            answer = self._call(lambda: self._client.query(**request))
            found += [self._item(raw) for raw in answer["Items"]]
            if "LastEvaluatedKey" not in answer:
                break
            request["ExclusiveStartKey"] = answer["LastEvaluatedKey"]
        return found

    def _transact_item(self, write: Write) -> dict[str, Any]:
        on_failure = {"ReturnValuesOnConditionCheckFailure": "ALL_OLD"} if write.condition is not None else {}
        match write:
            case Put(table, item, condition):
                return {
                    "Put": {"TableName": self._tables[table], "Item": self._raw(item)}
                    | self._if(condition)
                    | on_failure
                }
            case Update():
                return {"Update": self._update(write) | on_failure}
            case Check(key, condition):
                return {"ConditionCheck": self._target(key) | self._if(condition) | on_failure}
            case Delete(key, condition):
                return {"Delete": self._target(key) | self._if(condition) | on_failure}

    def _update(self, update: Update) -> dict[str, Any]:
        expression = Expression()
        changes = compile_update(update, expression)
        condition = compile_condition(update.condition, expression) if update.condition is not None else None
        request = self._target(update.key) | {"UpdateExpression": changes} | expression.attributes(to_attribute)
        return request | ({"ConditionExpression": condition} if condition else {})

    def _if(self, condition: Any) -> dict[str, Any]:
        if condition is None:
            return {}
        expression = Expression()
        text = compile_condition(condition, expression)
        return {"ConditionExpression": text} | expression.attributes(to_attribute)

    def _target(self, key: Key) -> dict[str, Any]:
        return {"TableName": self._tables[key.table], "Key": self._key(key)}

    def _key(self, key: Key) -> dict[str, Any]:
        return {name: to_attribute(value) for name, value in key.attributes().items()}

    def _logical_key(self, table: Table, raw: dict[str, Any]) -> Key:
        return key_of(table, self._item(raw))

    def _raw(self, item: Item) -> dict[str, Any]:
        return {name: to_attribute(value) for name, value in item.items()}

    def _item(self, raw: Any) -> Item:
        return {name: from_attribute(value) for name, value in raw.items()}
