import json
import math
from decimal import Decimal
from typing import Any

import pytest

from stepweave.graph import json_value
from stepweave.graph.json_value import MAX_DEPTH, copy_json


def nested(levels: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(levels - 1):
        value = [value]
    return value


def test_json_is_copied_as_it_stands_and_shares_nothing() -> None:
    raw = {"a": [1, 2.5, True, None, "文"], "b": {"c": []}}
    copied, faults = copy_json(raw)
    assert (copied, faults) == (raw, [])
    copied["b"]["c"].append(1)
    assert raw["b"] == {"c": []}


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, 10**400, Decimal(1), (1,), {1}, b"x", object()])
def test_what_json_cannot_hold_becomes_null_and_its_path_is_told(value: Any) -> None:
    copied, faults = copy_json({"a": [1, value]})
    assert copied == {"a": [1, None]}
    assert [(fault.code, fault.path) for fault in faults] == [("BAD_VALUE", ("a", 1))]


def test_characters_that_utf8_lacks_are_replaced_in_values_and_keys() -> None:
    copied, faults = copy_json({"k\ud800": "v\udfff"})
    json.dumps(copied, ensure_ascii=False).encode()
    assert [fault.code for fault in faults] == ["BAD_VALUE", "BAD_VALUE"]


def test_keys_that_are_no_strings_are_left_out() -> None:
    copied, faults = copy_json({1: "a", "b": 2})
    assert copied == {"b": 2}
    assert [fault.code for fault in faults] == ["BAD_VALUE"]


def test_the_deepest_allowed_nesting_is_kept_and_one_level_more_is_told() -> None:
    assert copy_json(nested(MAX_DEPTH)) == (nested(MAX_DEPTH), [])
    copied, faults = copy_json(nested(MAX_DEPTH + 1))
    assert copied != nested(MAX_DEPTH + 1)
    assert [fault.code for fault in faults] == ["TOO_DEEP"]


def test_nesting_beyond_any_recursion_limit_is_told_in_the_same_way() -> None:
    assert [fault.code for fault in copy_json({"a": nested(100_000)})[1]] == ["TOO_DEEP"]


def test_as_many_values_as_allowed_are_copied_and_one_more_is_told_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_value, "MAX_VALUES", 6)
    assert copy_json([[1, 2], [3]]) == ([[1, 2], [3]], [])
    copied, faults = copy_json([[1, 2], [3, 4, 5], {"a": 1}])
    assert copied == [[1, 2], [3]]
    assert [fault.code for fault in faults] == ["TOO_LARGE"]


def test_a_value_that_contains_itself_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_value, "MAX_VALUES", 1_000)
    loop: list[Any] = []
    loop += [loop, loop]
    assert "TOO_LARGE" in {fault.code for fault in copy_json(loop)[1]}
