"""Types: what is accepted where, and what a model's answer converts to (contract §3)."""

from decimal import Decimal

import pytest

from stepweave.expressions.conversion import accept, boolean_of, convert, fits, load_json, number_of, type_of
from stepweave.expressions.paths import MISSING

VALUES = {"string": "text", "number": 1.5, "boolean": True, "array": [1], "object": {"a": 1}}


@pytest.mark.parametrize("declared", [*VALUES, "filePath"])
@pytest.mark.parametrize("given", VALUES)
def test_the_table_of_compatible_types(given: str, declared: str) -> None:
    compatible = {("number", "string"), ("boolean", "string"), ("string", "filePath")}
    accepted = accept(VALUES[given], declared)
    assert (accepted is not MISSING) == (given == declared or (given, declared) in compatible)


@pytest.mark.parametrize(("value", "text"), [(3, "3"), (61.5, "61.5"), (True, "true"), (False, "false")])
def test_numbers_and_booleans_become_strings_where_a_string_is_declared(value: object, text: str) -> None:
    assert accept(value, "string") == text


@pytest.mark.parametrize(
    ("value", "declared"), [("3", "number"), ("true", "boolean"), ("[]", "array"), (1, "boolean"), (True, "number")]
)
def test_nothing_else_is_coerced(value: object, declared: str) -> None:
    assert accept(value, declared) is MISSING


@pytest.mark.parametrize("declared", [*VALUES, "filePath"])
def test_null_and_missing_fit_no_type(declared: str) -> None:
    assert not fits(None, declared)
    assert not fits(MISSING, declared)
    assert accept(None, declared) is MISSING


def test_types_are_named_as_the_definition_names_them() -> None:
    assert [type_of(value) for value in (None, *VALUES.values(), 1, MISSING)] == ["null", *VALUES, "number", "null"]


@pytest.mark.parametrize(
    ("value", "declared", "converted"),
    [
        ("3.5", "number", 3.5),
        ("3", "number", 3),
        (" -7\n", "number", -7),
        ("+1e3", "number", 1000.0),
        (".5", "number", 0.5),
        (3, "number", 3),
        (3.0, "number", 3.0),
        (12345678901234567890, "number", 12345678901234567890),
        ("12345678901234567890", "number", 12345678901234567890),
        ("true", "boolean", True),
        (" False ", "boolean", False),
        (True, "boolean", True),
        ("[1]", "array", [1]),
        ('{"a": 1}', "object", {"a": 1}),
        ([1], "array", [1]),
        (3, "string", "3"),
        (True, "string", "true"),
        ({"键": [1, None]}, "string", '{"键": [1, null]}'),
        ("text", "string", "text"),
        ("a.txt", "filePath", "a.txt"),
    ],
)
def test_an_answer_converts_by_its_declared_type(value: object, declared: str, converted: object) -> None:
    result = convert(value, declared)
    assert result == converted
    assert type(result) is type(converted)


@pytest.mark.parametrize(
    ("value", "declared"),
    [
        ("many", "number"),
        ("1,5", "number"),
        ("0x10", "number"),
        ("nan", "number"),
        ("Infinity", "number"),
        ("1e999", "number"),
        ("９", "number"),
        ("", "number"),
        (True, "number"),
        ([1], "number"),
        ("yes", "boolean"),
        (1, "boolean"),
        ('{"a": 1}', "array"),
        ({"a": 1}, "array"),
        ("[1]", "object"),
        ("words", "object"),
        (3, "filePath"),
        (None, "string"),
        (None, "number"),
    ],
)
def test_what_does_not_convert_is_told(value: object, declared: str) -> None:
    assert convert(value, declared) is MISSING


@pytest.mark.parametrize(
    ("value", "number"),
    [("0.95", "0.95"), (0.1, "0.1"), (" 7 ", "7"), (10**400, str(10**400)), ("1e400", "1e400"), ("-0", "0"), (0, "0")],
)
def test_numbers_and_numeric_strings_are_compared_exactly(value: object, number: str) -> None:
    assert number_of(value) == Decimal(number)


@pytest.mark.parametrize("value", ["", "a", "1_000", "١", "1e" + "9" * 30, float("nan"), float("inf"), True, None, [1]])
def test_other_values_are_no_numbers(value: object) -> None:
    assert number_of(value) is None


def test_booleans_are_read_from_their_names() -> None:
    assert [boolean_of(value) for value in (True, "TRUE", False, "false")] == [True, True, False, False]
    assert [boolean_of(value) for value in ("yes", "", 1, 0, None, MISSING, [])] == [None] * 7


@pytest.mark.parametrize("text", ["", "words", "NaN", "[Infinity]", "{", "[" * 200 + "]" * 200, "[" * 100_000])
def test_text_that_is_no_json_fit_to_be_stored_is_not_read(text: str) -> None:
    assert load_json(text) is MISSING


def test_json_is_read_so_that_it_can_be_written_again() -> None:
    assert load_json('{"half": "\\ud83d", "huge": 1e999}') == {"half": "?", "huge": "1e999"}
    assert load_json("null") is None
