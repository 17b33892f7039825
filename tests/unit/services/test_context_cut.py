"""What a model is shown of large values, and of a log (contract §6)."""

import json
from typing import Any

import pytest

from stepweave.services.context_cut import ALL_BYTES, VALUE_BYTES, cut_fields, cut_list, cut_value
from stepweave.services.context_meta import told_by


def entry(kind: str, message: str | None = None, detail: str | None = None) -> dict[str, Any]:
    return {"type": kind, "timestamp": "2030-01-01T00:00:00.000Z", "message": message, "detail": detail, "more": 1}


@pytest.mark.parametrize("value", ["x" * VALUE_BYTES, None, 5, {"a": ["b"]}, "é" * (VALUE_BYTES // 2), "\ud800"])
def test_up_to_100_kb_a_value_is_whole(value: Any) -> None:
    assert cut_value(value) == (value, False)


@pytest.mark.parametrize(
    ("value", "begins"),
    [
        ("x" * (VALUE_BYTES + 1), "xxx"),
        ("é" * VALUE_BYTES, "éé"),
        ("\ud800" + "x" * VALUE_BYTES, "xx"),
        ({"a": "x" * VALUE_BYTES}, '{"a":"xx'),
        (["漢" * VALUE_BYTES], '["漢漢'),
    ],
)
def test_beyond_that_the_beginning_of_its_text_is_told(value: Any, begins: str) -> None:
    shown, is_cut = cut_value(value)
    assert is_cut
    assert shown.startswith(begins)
    assert VALUE_BYTES - 4 < len(shown.encode()) <= VALUE_BYTES


def test_objects_are_cut_field_by_field_and_all_of_them_fit_an_answer() -> None:
    shown, is_cut = cut_fields({"small": 1, "large": {"a": "x" * VALUE_BYTES}, "last": [2]})
    assert is_cut
    assert (shown["small"], shown["last"], shown["large"][:6]) == (1, [2], '{"a":"')
    many, is_cut = cut_fields({f"f{number}": "x" * VALUE_BYTES for number in range(50)})
    assert is_cut
    assert 10 <= len(many) < 50
    assert len(json.dumps(many)) < ALL_BYTES + 20_000


def test_a_million_small_fields_are_cut_too() -> None:
    shown, is_cut = cut_fields({f"field{number}": number for number in range(100_000)})
    assert is_cut
    assert len(json.dumps(shown)) < 2 * ALL_BYTES


def test_of_a_list_the_beginning_is_told() -> None:
    assert cut_list([1, {"a": 2}]) == ([1, {"a": 2}], False)
    shown, is_cut = cut_list([{"text": "x" * 1000}] * 1000)
    assert (len(shown), is_cut) == (VALUE_BYTES // len(json.dumps({"text": "x" * 1000}, separators=(",", ":"))), True)


def test_the_log_of_the_seed_is_told_as_the_seed_tells_it() -> None:
    logs = [
        entry("INFO", "started"),
        entry("THINKING", "第一步"),
        entry("TOOL_CALL", "search", "{q:1}"),
        entry("TOOL_RESULT", "search", "结果摘要"),
        entry("THINKING", "第二步"),
        entry("TODO_UPDATE", "todo", '[{"text":"任务A","status":"pending"}]'),
        entry("TOOL_CALL", "calc", "{x:2}"),
        entry("TODO_UPDATE", "todo", '[{"text":"任务A","status":"completed"},{"text":"任务B","status":"pending"}]'),
    ]
    assert told_by(logs, "THINKING") == {"thinking": "第一步\n第二步"}
    assert told_by(logs, "TOOL_CALLS") == {
        "toolCalls": [
            {"tool": "search", "args": "{q:1}"},
            {"tool": "search", "result": "结果摘要"},
            {"tool": "calc", "args": "{x:2}"},
        ]
    }
    assert told_by(logs, "TODO") == {
        "todoList": [{"text": "任务A", "status": "completed"}, {"text": "任务B", "status": "pending"}]
    }
    everything = told_by(logs, "ALL")
    assert list(everything) == ["thinking", "toolCalls", "todoList", "logs"]
    assert [list(each) for each in everything["logs"]] == [["type", "timestamp", "message", "detail"]] * len(logs)


def test_a_visit_without_a_log_has_thought_nothing() -> None:
    assert told_by([], "ALL") == {"thinking": "", "toolCalls": [], "todoList": [], "logs": []}


@pytest.mark.parametrize(
    ("logs", "kind"),
    [
        ([entry("THINKING", "x" * (VALUE_BYTES + 1))], "THINKING"),
        ([entry("TOOL_CALL", "t", "x" * 60_000)] * 2, "TOOL_CALLS"),
        ([entry("TODO_UPDATE", "todo", json.dumps([{"text": "x" * 200, "status": "pending"}] * 1000))], "TODO"),
        ([entry("STATUS", "x" * 60_000)] * 2, "ALL"),
    ],
)
def test_what_is_too_much_of_it_is_cut_and_marked(logs: Any, kind: Any) -> None:
    told = told_by(logs, kind)
    assert told["truncated"] is True
    assert len(json.dumps(told)) < 2 * VALUE_BYTES
