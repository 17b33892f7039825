"""What a typed line answers."""

import io

import pytest
from rich.console import Console

from stepweave_local.command_error import CommandError
from stepweave_local.questions import Question

OPTIONS = (("v1.0 (prod)", "v1.0"), ("v2.0 (test)", "v2.0"))
CHOICE = Question("clar-1", "review", "Which version?", OPTIONS)
CUSTOM = Question("clar-1", "review", "Which version?", OPTIONS, allow_custom=True, placeholder="another version")
SEVERAL = Question("clar-1", "review", "Which versions?", OPTIONS, multiple=True)
FREE = Question("clar-1", "review", "What else?")


@pytest.mark.parametrize("line", ["2", " 2 ", "v2.0", "v2.0 (test)"])
def test_an_option_is_chosen_by_number_label_or_value(line: str) -> None:
    assert CHOICE.answer(line) == "v2.0"


def test_an_option_that_looks_like_a_number_is_itself() -> None:
    assert Question("c", "n", "How many?", (("three", "3"), ("two", "2"), ("one", "1"))).answer("3") == "3"


@pytest.mark.parametrize("line", ["3", "0", "v3", "²"])
def test_what_is_no_option_is_refused_saying_what_is_wanted(line: str) -> None:
    with pytest.raises(CommandError, match="type a number from 1 to 2"):
        CHOICE.answer(line)


def test_free_text_is_taken_where_the_question_takes_it() -> None:
    assert CUSTOM.answer("v3") == "v3"
    assert FREE.answer(" 1 ") == "1"


@pytest.mark.parametrize("line", ["1,2", "1，v2.0", " v1.0 , 2, "])
def test_several_are_chosen_with_commas(line: str) -> None:
    assert SEVERAL.answer(line) == ["v1.0", "v2.0"]


@pytest.mark.parametrize("question", [CHOICE, CUSTOM, SEVERAL, FREE])
def test_nothing_is_no_answer(question: Question) -> None:
    with pytest.raises(CommandError):
        question.answer("  ")


def test_a_question_shows_its_options_its_asker_and_how_to_answer() -> None:
    console = Console(record=True, width=60, file=io.StringIO())
    console.print(CUSTOM.view("Review", lambda text: text.en))
    assert [line.rstrip() for line in console.export_text().splitlines()] == [
        "  ? Which version?   Review",
        "    1  v1.0 (prod)",
        "    2  v2.0 (test)",
        "    or write your own: another version",
    ]


def test_a_pause_of_the_state_call_reads_as_the_event_does() -> None:
    pause = {"clarifyId": "clar-1", "question": "Which?", "choices": ["a", "b"]}
    assert Question.read("n", pause).options == (("a", "a"), ("b", "b"))
