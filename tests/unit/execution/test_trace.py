from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepweave.execution.trace import DEFAULT_LIMIT, trace


def call(**parts: Any) -> dict[str, Any]:
    return {"name": "read_file", "args": {"path": "a.txt"}, "result": "text", "success": True, **parts}


def test_what_fits_is_kept_as_it_is_and_not_marked() -> None:
    assert trace("thoughts", [call()]) == {"thinking": "thoughts", "tool_calls": [call()]}


def test_the_default_limit_is_64_kib_a_field() -> None:
    fits = "x" * (64 * 1024)
    assert trace(fits) == {"thinking": fits, "tool_calls": []}
    assert trace(fits + "y") == {"thinking": fits, "tool_calls": [], "truncated": True}
    assert DEFAULT_LIMIT == 65536


def test_a_cut_never_splits_a_character() -> None:
    assert trace("好好", limit=5) == {"thinking": "好", "tool_calls": [], "truncated": True}


@pytest.mark.parametrize("field", ["args", "result"])
def test_a_long_value_of_a_tool_call_becomes_the_beginning_of_its_json(field: str) -> None:
    cut = trace("", [call(**{field: {"rows": list(range(1000))}}), call()], limit=20)
    assert cut["tool_calls"] == [call(**{field: '{"rows": [0, 1, 2, 3'}), call()]
    assert cut["truncated"] is True


@given(st.text(max_size=200), st.integers(min_value=0, max_value=300))
def test_a_field_is_a_beginning_of_what_it_was_within_the_limit(thinking: str, limit: int) -> None:
    cut = trace(thinking, limit=limit)
    assert thinking.startswith(cut["thinking"])
    assert len(cut["thinking"].encode()) <= limit
    assert cut.get("truncated", False) == (len(thinking.encode()) > limit)
