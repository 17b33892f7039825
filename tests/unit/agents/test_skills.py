"""`SKILL.md` as people write it."""

import pytest

from stepweave.agents.skills import SkillText, is_skill_name, parse_skill, path_problems
from stepweave.errors import ValidationFailed


def test_front_matter_and_body_are_taken_apart() -> None:
    text = "---\nname: write-report\ndescription: >\n  how to\n  write\nlicense: MIT\n---\n\n# Report\n\n---\nthe end\n"
    assert parse_skill(text.encode()) == SkillText("write-report", "how to write", "# Report\n\n---\nthe end")


def test_a_mark_at_the_beginning_and_windows_line_ends_do_no_harm() -> None:
    text = "\ufeff---\r\nname: a\r\ndescription: 写报告\r\n---\r\nDo.\r\nThen stop.\r\n"
    assert parse_skill(text.encode()) == SkillText("a", "写报告", "Do.\nThen stop.")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "name must be"),
        (b"just instructions", "name must be"),
        (b"---\nname: a\ndescription: d\nno end", "does not end with ---"),
        (b"---\nname: [a\n---\nbody", "no valid YAML"),
        (b"---\n!!python/object/apply:os.system ['x']\n---\nbody", "no valid YAML"),
        (b"---\n- a list\n---\nbody", "name must be"),
        (b"---\nname: a\ndescription: 5\n---\nbody", "description must be"),
        (b"---\nname: a\ndescription: d\n---\n \n", "the body"),
        (b"---\nname: a\ndescription: " + b"d" * 2001 + b"\n---\nbody", "description must be"),
        (b"\xff\xfe\x00", "no text in UTF-8"),
    ],
)
def test_what_is_wrong_is_told(content: bytes, words: str) -> None:
    with pytest.raises(ValidationFailed) as refused:
        parse_skill(content)
    assert words in refused.value.text.en
    assert refused.value.text.zh.startswith("SKILL.md")


def test_everything_that_is_wrong_is_told_at_once() -> None:
    with pytest.raises(ValidationFailed, match=r"name must be.*description must be.*the body"):
        parse_skill(b"---\nname: A B\n---\n")


@pytest.mark.parametrize("name", ["", "A", "a b", "-a", "a--b", "a" * 65, None, 5])
def test_other_names_are_no_names(name: object) -> None:
    assert not is_skill_name(name)


def test_paths_stay_inside_and_have_one_spelling() -> None:
    assert path_problems(["a.md", "notes/说明.md", "a b"]) == []
    assert len(path_problems(["../a", "/a", "a\\b", "c:a", "a/./b", "a/", "", "a\0"])) == 8
