from typing import Any

import pytest

from stepweave.agents.script import fill, script_problems
from stepweave.graph.shape import spell

WORDS = {"prompt": "P", "system": "S", "tool": '{"a": 1}', "answer": "好"}

EVERY_STEP: list[dict[str, Any]] = [
    {"thinking": "hm"},
    {"text": ""},
    {"tool": {"name": "read_file", "args": {"path": "a"}}},
    {"tool": {"name": "list_files"}},
    {"ask": {"question": "Which?"}},
    {
        "ask": {
            "question": "Which?",
            "options": [{"label": "A", "value": "a"}],
            "allowCustom": False,
            "placeholder": "",
            "multiple": False,
        }
    },
    {"todo": [{"text": "t", "status": "pending"}]},
    {"todo": []},
    {"delayMs": 100},
    {"error": "overloaded", "retryable": True},
    {"error": "overloaded"},
    {"decide": {"next": "node-3", "reason": "…", "isFinal": False}},
]


def places(script: Any) -> list[str]:
    return [spell(fault.path) for fault in script_problems(script)]


def test_every_step_of_the_contract_can_be_played() -> None:
    assert script_problems([EVERY_STEP, [], *([step] for step in EVERY_STEP)]) == []


def test_an_empty_script_has_the_right_form_and_runs_out_when_it_is_played() -> None:
    assert script_problems([]) == []


@pytest.mark.parametrize("script", [None, "text", {"text": "a"}, 1])
def test_a_script_is_an_array(script: Any) -> None:
    [fault] = script_problems(script)
    assert fault.path == ()
    assert fault.text.en == "must be an array of turns, each an array of steps"


@pytest.mark.parametrize(
    ("step", "place"),
    [
        ("text", "[0][0]"),
        ({}, "[0][0]"),
        ({"say": "a"}, "[0][0]"),
        ({"text": "a", "thinking": "b"}, "[0][0]"),
        ({"text": 1}, "[0][0].text"),
        ({"thinking": None}, "[0][0].thinking"),
        ({"text": "a", "retryable": True}, "[0][0].retryable"),
        ({"error": "a", "retryable": "yes"}, "[0][0].retryable"),
        ({"error": {"message": "a"}}, "[0][0].error"),
        ({"delayMs": -1}, "[0][0].delayMs"),
        ({"delayMs": "100"}, "[0][0].delayMs"),
        ({"delayMs": True}, "[0][0].delayMs"),
        ({"delayMs": 10**9}, "[0][0].delayMs"),
        ({"tool": "read_file"}, "[0][0].tool"),
        ({"tool": {"name": " "}}, "[0][0].tool"),
        ({"tool": {"name": "a", "args": [1]}}, "[0][0].tool.args"),
        ({"ask": {"options": []}}, "[0][0].ask"),
        ({"ask": {"question": "q", "placeholder": 1}}, "[0][0].ask.placeholder"),
        ({"ask": {"question": "q", "allowCustom": "no"}}, "[0][0].ask.allowCustom"),
        ({"ask": {"question": "q", "multiple": 1}}, "[0][0].ask.multiple"),
        ({"ask": {"question": "q", "options": ["a"]}}, "[0][0].ask.options"),
        ({"ask": {"question": "q", "options": [{"label": "a"}]}}, "[0][0].ask.options"),
        ({"todo": [{"text": "a"}]}, "[0][0].todo"),
        ({"decide": "node-3"}, "[0][0].decide"),
    ],
)
def test_a_step_of_a_wrong_form_is_told_with_its_place(step: Any, place: str) -> None:
    assert places([[step]]) == [place]


def test_all_problems_are_told_together() -> None:
    assert places([[{"text": 1}, {"text": "a"}], "no turn", [{"delayMs": "x"}]]) == [
        "[0][0].text",
        "[1]",
        "[2][0].delayMs",
    ]


def test_references_are_replaced_wherever_they_stand() -> None:
    assert fill("$prompt+$system, $tool好$answer好$prompts", WORDS) == 'P+S, {"a": 1}好好好Ps'


def test_references_are_replaced_in_every_string_of_a_step_and_nothing_else_is_touched() -> None:
    step = {"tool": {"name": "write_file", "args": {"text": ["$prompt", 1, None, True], "$prompt": "$$answer"}}}
    assert fill(step, WORDS) == {
        "tool": {"name": "write_file", "args": {"text": ["P", 1, None, True], "$prompt": "$好"}}
    }


@pytest.mark.parametrize("text", ["$", "$Prompt", "$user", "{{prompt}}", "prompt"])
def test_what_is_no_reference_stays(text: str) -> None:
    assert fill(text, WORDS) == text
