"""Templates (contract §3): which text is a reference, and how values stand in text."""

import pytest

from stepweave.expressions.paths import MISSING
from stepweave.expressions.templates import Reference, parse, render, to_text


def filled(template: str, **values: object) -> str:
    return render(template, lambda name: values.get(name, MISSING))[0]


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ("", ""),
        ("no reference", "no reference"),
        ("{{a}}", "A"),
        ("{{ a }}{{\ta\n}}", "AA"),
        ("{{a}}{{b}}{{a}}", "ABA"),
        ("{{{a}}}", "{A}"),
        ("{{{{a}}}}", "{{A}}"),
        ('{"k": {{a}}}', '{"k": A}'),
        ("{{a", "{{a"),
        ("a}}", "a}}"),
        ("{a}", "{a}"),
        ("{{a{{b}}", "{{aB"),
        ("{{a}b}}", "{{a}b}}"),
        (r"\{{a}}", "{{a}}"),
        (r"\{{ {{a}}", "{{ A"),
        (r"\\{{a}}", r"\{{a}}"),
        (r"{\{{a}}", "{{{a}}"),
        (r"\{a} \n {{a}}", r"\{a} \n A"),
        ("{{}}{{ }}", ""),
        ("<{{nobody}}>", "<>"),
    ],
)
def test_what_is_a_reference_and_what_is_text(template: str, text: str) -> None:
    assert filled(template, a="A", b="B") == text


def test_names_are_given_to_the_lookup_as_they_are_written() -> None:
    asked: list[str] = []
    render("{{ node-1.data.list[0].名称 }} {{a b}}", asked.append)
    assert asked == ["node-1.data.list[0].名称", "a b"]


def test_each_name_is_looked_up_once() -> None:
    asked: list[str] = []
    render("{{a}}{{ a }}{{b}}{{a}}", asked.append)
    assert asked == ["a", "b"]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ('it\'s "so"\n', 'it\'s "so"\n'),
        ("", ""),
        (None, ""),
        (MISSING, ""),
        (True, "true"),
        (False, "false"),
        (0, "0"),
        (2, "2"),
        (61.5, "61.5"),
        ({"键": 'he said "hi"\n'}, '{"键": "he said \\"hi\\"\\n"}'),
        (["a", 1, None, "🚀"], '["a", 1, null, "🚀"]'),
        ([], "[]"),
        ({}, "{}"),
    ],
)
def test_strings_go_in_as_they_are_and_everything_else_as_json(value: object, text: str) -> None:
    assert to_text(value) == text
    assert filled("<{{v}}>", v=value) == f"<{text}>"


@pytest.mark.parametrize("value", ["{{b}}", r"\{{b}}", "{{{b}}}", {"k": "{{b}}"}, ["{{b}}"]])
def test_a_value_is_never_rendered_again(value: object) -> None:
    assert filled("{{a}}", a=value, b="B") == to_text(value)


def test_braces_of_two_values_do_not_make_a_reference() -> None:
    assert filled("{{open}}b{{close}}", open="{{", close="}}", b="B") == "{{b}}"


def test_missing_and_null_names_are_told_once_each() -> None:
    _, missing = render("{{a}}{{gone}}{{null}}{{gone}}{{}}", lambda name: {"a": 1, "null": None}.get(name, MISSING))
    assert missing == ("gone", "null", "")


@pytest.mark.parametrize("text", ["{{a}}", "{{ a }}"])
def test_a_template_that_is_one_reference_is_a_lone_one(text: str) -> None:
    assert parse(text).lone == Reference("a")


@pytest.mark.parametrize("text", ["", "a", " {{a}}", "{{a}} ", "{{a}}{{a}}", r"\{{a}}", "{{{a}}}"])
def test_any_text_beside_it_makes_a_reference_part_of_a_text(text: str) -> None:
    assert parse(text).lone is None
