"""Answers of DynamoDB are read as botocore reads them."""

import base64
import json
from typing import Any

import botocore.session
import pytest
from botocore.parsers import JSONParser
from hypothesis import given
from hypothesis import strategies as st

from stepweave.adapters.aws.attributes import to_attribute
from stepweave.adapters.aws.parsing import read_attributes_quickly

_plain = st.none() | st.booleans() | st.integers() | st.text() | st.binary()
_values = st.recursive(_plain, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=12)
_items = st.dictionaries(st.text(min_size=1), _values, min_size=1, max_size=4)

SESSION = botocore.session.Session()
read_attributes_quickly(SESSION)
MODEL = SESSION.get_service_model("dynamodb")


def both(operation: str, answer: dict[str, Any], status: int = 200) -> list[Any]:
    """What botocore makes of an answer, and what ours does."""
    response = {
        "headers": {},
        "status_code": status,
        "body": json.dumps(answer, default=lambda content: base64.b64encode(content).decode()).encode(),
    }
    shape = MODEL.operation_model(operation).output_shape
    quick = SESSION.get_component("response_parser_factory").create_parser("json")
    return [parser.parse(dict(response), shape) for parser in (JSONParser(), quick)]


@given(st.lists(_items, max_size=3))
def test_items_are_the_same_wherever_they_stand(items: list[dict[str, Any]]) -> None:
    raws = [{name: to_attribute(value) for name, value in item.items()} for item in items]
    for operation, answer in (
        *(("GetItem", {"Item": raw}) for raw in raws),
        ("Query", {"Items": raws, "Count": len(raws), "LastEvaluatedKey": {"runId": {"S": "a"}}}),
        ("BatchGetItem", {"Responses": {"table": raws}, "UnprocessedKeys": {"table": {"Keys": raws}}}),
        *(("UpdateItem", {"Attributes": raw}) for raw in raws),
    ):
        theirs, ours = both(operation, answer)
        assert ours == theirs


@pytest.mark.parametrize(
    "value", [{"NS": ["1", "2"]}, {"SS": ["a"]}, {"BS": [b"a", b""]}, {"B": b"\0\xff"}, {"M": {"a": {"B": b"x"}}}]
)
def test_types_that_hold_others_are_the_same(value: dict[str, Any]) -> None:
    theirs, ours = both("GetItem", {"Item": {"a": value}})
    assert ours == theirs
    assert ours["Item"] == {"a": value}


def test_refusals_are_the_same() -> None:
    refused = {
        "__type": "com.amazonaws.dynamodb.v20120810#TransactionCanceledException",
        "Message": "cancelled",
        "CancellationReasons": [{"Code": "ConditionalCheckFailed", "Item": {"a": {"B": b"x"}}}, {"Code": "None"}],
    }
    theirs, ours = both("TransactWriteItems", refused, 400)
    assert ours == theirs
    assert ours["Error"]["Code"] == "TransactionCanceledException"


def test_other_protocols_keep_their_parsers() -> None:
    factory = SESSION.get_component("response_parser_factory")
    assert type(factory.create_parser("rest-xml")).__module__ == "botocore.parsers"
