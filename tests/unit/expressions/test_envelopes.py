"""Fields of an earlier node (contract §3): which root a path is read from."""

import pytest

from stepweave.expressions.envelopes import data_of, read_field
from stepweave.expressions.paths import MISSING

ENVELOPE = {
    "status": 200,
    "message": "done",
    "data": {"result": "r", "deep": {"list": [1, 2]}, "a.b": "flat", "trace": "mine", "_git": "secret"},
    "trace": {"thinking": "hm", "tool_calls": [{"name": "todo", "result": "ok"}]},
    "metadata": {"model": "m"},
    "_runtime": {"startTime": "now"},
}


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("result", "r"),
        ("data.result", "r"),
        ("deep.list[1]", 2),
        ("data.deep.list[0]", 1),
        ("a.b", "flat"),
        ("trace.thinking", "hm"),
        ("trace.tool_calls[0].result", "ok"),
        ("metadata.model", "m"),
        ("data.trace", "mine"),
        ("status", 200),
        ("message", "done"),
    ],
)
def test_a_field_is_read_from_its_root_or_else_under_data(field: str, value: object) -> None:
    assert read_field(ENVELOPE, field) == value


@pytest.mark.parametrize(
    "field", ["gone", "data.gone", "trace.reasoning", "data.status", "status.x", "", "data..result"]
)
def test_a_field_that_is_not_there_is_missing(field: str) -> None:
    assert read_field(ENVELOPE, field) is MISSING


@pytest.mark.parametrize("field", ["_runtime", "_runtime.startTime", "_git", "data._git"])
def test_the_reserved_sections_are_out_of_reach(field: str) -> None:
    assert read_field(ENVELOPE, field) is MISSING
    assert "_git" not in data_of(ENVELOPE)
    assert "_git" not in read_field(ENVELOPE, "data")


def test_status_and_message_of_the_data_go_before_those_of_the_envelope() -> None:
    assert read_field({"status": 200, "message": "", "data": {"status": "open", "message": None}}, "status") == "open"
    assert read_field({"status": 200, "message": "m", "data": {"message": None}}, "message") == "m"


def test_a_node_that_left_nothing_has_no_fields() -> None:
    assert read_field(None, "result") is MISSING
    assert read_field(None, "status") is MISSING
    assert data_of({"status": 400, "data": None}) == {}
