"""What is shown stays small, and stays JSON."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepweave.agents.bounds import bounded, to_text

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=300),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=12,
)


@given(values, st.integers(120, 2000))
def test_nothing_is_longer_than_its_bound_and_what_fits_is_as_it_was(value: Any, characters: int) -> None:
    kept = bounded(value, characters)
    assert len(to_text(kept)) <= characters
    if len(to_text(value)) <= characters:
        assert kept == value


def test_long_strings_inside_are_shortened_and_the_rest_stays() -> None:
    kept = bounded({"path": "a.md", "content": "x" * 10_000, "lines": [1, 2]}, 1000)
    assert (kept["path"], kept["lines"]) == ("a.md", [1, 2])
    assert kept["content"].endswith("…")
    assert 100 < len(kept["content"]) < 1000


def test_what_is_long_by_its_number_of_parts_becomes_the_beginning_of_its_text() -> None:
    kept = bounded(list(range(10_000)), 500)
    assert kept.startswith("[0, 1, 2")
    assert len(kept) == 500


@pytest.mark.parametrize(
    ("value", "text"), [("a", "a"), ({"a": "好"}, '{"a": "好"}'), (None, "null"), ([1.5], "[1.5]")]
)
def test_text_stays_text_and_everything_else_is_json(value: Any, text: str) -> None:
    assert to_text(value) == text
    assert value == "a" or json.loads(to_text(value)) == value
