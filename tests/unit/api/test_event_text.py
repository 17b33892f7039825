"""Events as readers get them: small ones as they are, large ones cut so that they can be sent (contract §4)."""

import json
from typing import Any

import pytest

from stepweave.services.event_log import Event
from stepweave.services.event_text import event_text
from stepweave.services.links import RunLinks
from stepweave.services.wire import EVENT_BYTES, encode

LINKS = RunLinks("echo", "a3f9b2c1")
LARGE = 6_000_000


def told(kind: str, /, **data: Any) -> dict[str, Any]:
    text = event_text(Event(1, kind, {"runId": "a3f9b2c1", "type": kind, **data}), LINKS)
    assert len(text.data) <= EVENT_BYTES
    shown: dict[str, Any] = json.loads(text.data)
    return shown


def visit(**fields: Any) -> dict[str, Any]:
    plain = {"visitUuid": "u", "nodeId": "n", "variablesJson": "{}", "outputJson": "{}", "logsJson": "[]"}
    return plain | {"decisionJson": None, "errorMsg": None} | fields


def test_a_small_event_is_left_as_it_is() -> None:
    data = {"nodeId": "n", "visitUuid": "u", "output": {"status": 200, "message": "", "data": {"x": "字\ud800"}}}
    assert told("node_status", **data) == {"runId": "a3f9b2c1", "type": "node_status", **data}


def test_a_log_that_makes_an_event_too_large_is_left_out_and_the_output_too_only_where_it_must() -> None:
    logs = [{"message": "x" * LARGE}]
    shown = told("node_status", nodeId="n", visitUuid="u", output=None, error="e", logs=logs)
    assert (shown["logs"], shown["truncated"], shown["error"]) == ([], True, "e")
    assert "outputUrl" not in shown


@pytest.mark.parametrize("field", ["variablesJson", "logsJson", "decisionJson", "errorMsg"])
def test_no_part_of_a_visit_makes_its_event_too_large(field: str) -> None:
    shown = told("visit_recorded", visit=visit(**{field: "x" * LARGE}))["visit"]
    assert shown["truncated"]
    assert len(shown[field] or "") < 300_000


def test_a_large_delta_is_cut() -> None:
    shown = told("node_stream", nodeId="n", visitUuid="u", kind="tool_result", content="x" * LARGE, data={"x": 1})
    assert (len(shown["content"]), shown["truncated"], "data" in shown) == (250_000, True, False)


def test_a_long_list_of_files_is_left_out() -> None:
    shown = told("workflow_complete", output=None, workingDirFiles=["f" * 100] * 60_000)
    assert (shown["workingDirFiles"], shown["truncated"]) == ([], True)


def test_json_of_halves_of_characters_is_still_utf_8() -> None:
    assert json.loads(encode({"x": "a\udc00字"}).decode()) == {"x": "a\udc00字"}
    assert encode({"x": "字"}) == '{"x":"字"}'.encode()
