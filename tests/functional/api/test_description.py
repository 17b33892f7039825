"""The description of the API (OpenAPI): complete, as it is committed, and with examples that are like real answers."""

import json
from pathlib import Path
from typing import Any

import pytest

from docs import openapi
from stepweave.api import description
from stepweave.api.errors import STATUSES
from tests.functional.api.every_call import played, shape_of

EXAMPLES = json.loads(Path(description.__file__).with_name("examples.json").read_text())
WITHOUT_JSON = {"GET /api/v1/workflows/{workflow}/runs/{runId}/stream", "GET /api/v1/runs/{runId}/stream"} | {
    "GET /api/workflows/runs/{runId}/stream",
    "GET /api/chat/runs/{runId}/stream",
    "POST /api/workflows/{workflow}/run",
}


@pytest.fixture(scope="module")
def whole() -> dict[str, Any]:
    return openapi.description()


@pytest.fixture(scope="module")
def calls(whole: dict[str, Any]) -> dict[str, Any]:
    return {
        f"{method.upper()} {path}": call for path, methods in whole["paths"].items() for method, call in methods.items()
    }


def test_the_committed_page_is_the_description_of_the_app(whole: dict[str, Any]) -> None:
    assert json.loads(openapi.PAGE.read_text("utf-8")) == json.loads(json.dumps(whole)), "run make openapi"


def test_every_call_has_a_summary_and_a_description_and_no_parameter_that_is_a_way_in(calls: dict[str, Any]) -> None:
    for name, call in calls.items():
        assert call["summary"], name
        assert call["description"], name
        assert call["security"], name
        assert not {each["name"] for each in call["parameters"]} & {"X-API-Key", "X-View-Token", "viewToken"}, name
        for parameter in call["parameters"]:
            assert parameter.get("description"), (name, parameter["name"])


def test_every_call_that_answers_with_json_has_an_example(calls: dict[str, Any]) -> None:
    assert set(EXAMPLES) == set(calls) - WITHOUT_JSON
    for name in EXAMPLES:
        example = calls[name]["responses"]["200"]["content"]["application/json"]["example"]
        assert example["data"] == EXAMPLES[name]


def test_the_examples_have_the_names_that_real_answers_have() -> None:
    answers = played()
    assert set(answers) == set(EXAMPLES)
    for name, answer in answers.items():
        assert shape_of(EXAMPLES[name]) == shape_of(answer), name


def test_every_call_tells_its_refusals_with_examples(calls: dict[str, Any]) -> None:
    told: set[str] = set()
    for name, call in calls.items():
        if name.startswith("POST /internal/"):
            continue
        assert "default" not in call["responses"], name
        codes = set()
        for status, response in call["responses"].items():
            if int(status) < 400:
                continue
            (media,) = response["content"].values()
            for code in media["examples"]:
                assert STATUSES[code] == int(status), (name, code)
                codes.add(code)
        assert codes >= {"UNAUTHORIZED", "RATE_LIMITED", "INTERNAL_ERROR"}, name
        told |= codes
    assert told == set(STATUSES) - {"METHOD_NOT_ALLOWED"}  # a method that is not described cannot be told of


def test_view_tokens_are_told_where_they_count(calls: dict[str, Any]) -> None:
    assert calls["GET /api/v1/runs/{runId}/state"]["security"] == [
        {"apiKey": []},
        {"viewToken": []},
        {"viewTokenInQuery": []},
    ]
    assert calls["POST /api/workflows/runs/{runId}/resume"]["security"] == [{"apiKey": []}]
