"""Several values out of one answer (contract §3, structured output)."""

import json

import pytest

from stepweave.expressions.structured import instruction, read, read_object
from stepweave.graph.spec import Field

OUTPUTS = (
    Field("summary"),
    Field("score", "number", description="0 to 5"),
    Field("ok", "boolean"),
    Field("tags", "array"),
    Field("more", "object"),
)
VALUES = {"summary": "s", "score": 3.5, "ok": True, "tags": [1], "more": {"k": None}}
ANSWER = json.dumps({"summary": "s", "score": "3.5", "ok": "true", "tags": [1], "more": {"k": None}})


@pytest.mark.parametrize(
    "answer",
    [
        ANSWER,
        f"\n  {ANSWER}\n",
        f"```json\n{ANSWER}\n```",
        f"```\n{ANSWER}\n```",
        f"```{ANSWER}```",
        f"Here it is:\n```json\n{ANSWER}\n```\nBye {{}}.",
        f'First an example:\n```json\n{{"example": 1}}\n```\nand now:\n```JSON\n{ANSWER}\n```',
        f"```python\nprint(1)\n```\n```json\n{ANSWER}\n```",
        f"```json\n{ANSWER}",
        f"Sure! {ANSWER} Anything else?",
        f"[note] {ANSWER}",
    ],
)
def test_the_answer_is_read_in_three_steps(answer: str) -> None:
    reading = read(answer, OUTPUTS)
    assert reading.values == VALUES
    assert reading.warnings == ()


def test_text_in_fences_inside_a_value_does_not_mislead() -> None:
    answer = json.dumps({"summary": "```json\n{}\n```", "score": 1, "ok": True, "tags": [], "more": {}})
    assert read(f"Done: {answer}", OUTPUTS).values["summary"] == "```json\n{}\n```"


@pytest.mark.parametrize("answer", ["just words", "", "{broken", "} {", "[1, 2]", '"text"', "null", "```\nwords\n```"])
def test_an_answer_that_is_no_object_goes_whole_to_the_first_output(answer: str) -> None:
    reading = read(answer, OUTPUTS)
    assert reading.values == {"summary": answer}
    (warning,) = reading.warnings
    assert '"summary"' in warning.zh
    assert '"summary"' in warning.en


def test_a_missing_field_is_null_and_warns_by_its_name() -> None:
    reading = read('{"summary": "s", "score": null, "ok": false, "tags": []}', OUTPUTS)
    assert reading.values == {"summary": "s", "score": None, "ok": False, "tags": [], "more": None}
    assert [('"score"' in w.en, '"more"' in w.en) for w in reading.warnings] == [(True, False), (False, True)]


def test_a_value_that_does_not_convert_stays_text_and_warns() -> None:
    reading = read('{"summary": ["x"], "score": "many", "ok": 1, "tags": {"a": "ä"}, "more": "no"}', OUTPUTS)
    assert reading.values == {"summary": '["x"]', "score": "many", "ok": "1", "tags": '{"a": "ä"}', "more": "no"}
    assert len(reading.warnings) == 4


def test_fields_that_nobody_declared_are_left_out() -> None:
    assert "extra" not in read('{"summary": "s", "extra": 1}', OUTPUTS).values


def test_a_models_own_structured_mode_is_read_alike() -> None:
    assert read_object(json.loads(ANSWER), OUTPUTS).values == VALUES


@pytest.mark.parametrize(
    ("declared", "answer", "value"),
    [
        ("string", ' {"not": "read"}\n', ' {"not": "read"}\n'),
        ("number", "3\n", 3),
        ("number", "```\n3.5\n```", 3.5),
        ("number", '{"v": "4"}', 4),
        ("number", 'It is {"v": 4}.', 4),
        ("boolean", "True", True),
        ("boolean", "```true```", True),
        ("array", "[1, 2]", [1, 2]),
        ("array", "The list: [1, 2].", [1, 2]),
        ("array", '```json\n{"v": [1]}\n```', [1]),
        ("object", 'Here: {"a": {"b": 1}}', {"a": {"b": 1}}),
        ("object", '{"v": {"b": 1}}', {"b": 1}),
        ("object", '{"v": 1}', {"v": 1}),
        ("object", '{"v": {"b": 1}, "w": 2}', {"v": {"b": 1}, "w": 2}),
        ("filePath", "out/a.txt", "out/a.txt"),
    ],
)
def test_a_single_output_is_converted_as_several_are(declared: str, answer: str, value: object) -> None:
    reading = read(answer, [Field("v", declared)])
    assert reading.values == {"v": value}
    assert type(reading.values["v"]) is type(value)
    assert reading.warnings == ()


@pytest.mark.parametrize("declared", ["number", "boolean", "array", "object"])
def test_a_single_output_that_does_not_convert_stays_the_whole_text(declared: str) -> None:
    reading = read("The answer is unclear.", [Field("v", declared)])
    assert reading.values == {"v": "The answer is unclear."}
    assert declared in reading.warnings[0].en


def test_the_instruction_has_a_skeleton_and_a_line_a_field() -> None:
    text = instruction(OUTPUTS)
    for words in (text.zh, text.en):
        skeleton, fields = words.split("}\n\n")
        assert '  "summary": <string>,\n  "score": <number>,' in skeleton
        assert '"more": <object>\n' in skeleton
        assert "- score (number): 0 to 5" in fields
        assert fields.count("\n- ") == len(OUTPUTS)
    assert "- summary (string): （无描述）" in text.zh
