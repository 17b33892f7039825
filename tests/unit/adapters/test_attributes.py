"""Values of items as DynamoDB writes them."""

from decimal import Decimal

import pytest
from boto3.dynamodb.types import TypeSerializer
from hypothesis import given
from hypothesis import strategies as st

from stepweave.adapters.aws.attributes import from_attribute, to_attribute

_plain = st.none() | st.booleans() | st.integers(-(10**37), 10**37) | st.text() | st.binary()
_values = st.recursive(_plain, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner))


@given(_values)
def test_a_value_comes_back_as_it_was(value: object) -> None:
    assert from_attribute(to_attribute(value)) == value


@given(_values)
def test_a_value_is_written_as_boto3_writes_it(value: object) -> None:
    assert to_attribute(value) == TypeSerializer().serialize(value)


@pytest.mark.parametrize("value", [0.5, Decimal("1.5"), {"deep": [float("nan")]}, {1, 2}, object()])
def test_what_no_item_holds_is_refused(value: object) -> None:
    with pytest.raises(TypeError, match="an item cannot hold"):
        to_attribute(value)


def test_a_type_that_no_item_holds_is_refused_when_read() -> None:
    with pytest.raises(TypeError, match="NS"):
        from_attribute({"NS": ["1"]})
