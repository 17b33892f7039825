"""`stepweave skills` against the real API: folders of this machine become skills, and the example's is one."""

import os
import shutil
from pathlib import Path

import pytest

from stepweave.services.skills import MOST_BYTES
from stepweave.texts import Text
from stepweave_local.stock import load_example_skills
from tests.builders.command_line import CommandLine
from tests.functional.api.stack import Stack
from tests.functional.cli.test_real_api import EXAMPLES, hurried


@pytest.fixture
def skill(tmp_path: Path) -> Path:
    """A skill's folder with one file beside `SKILL.md`."""
    folder = tmp_path / "my-skill"
    folder.mkdir()
    (folder / "SKILL.md").write_text("---\nname: sing\ndescription: how to sing\n---\nSing.\n", "utf-8")
    (folder / "noten").mkdir()
    (folder / "noten" / "歌 1.txt").write_text("la", "utf-8")
    return folder


def paths_of(stack: Stack, name: str) -> list[str]:
    return [file["path"] for file in stack.engine.skills.show(name)["files"]]


def test_a_folder_is_pushed_and_listed(cli: CommandLine, stack: Stack, skill: Path) -> None:
    told = cli("skills", "push", "my-skill")
    assert (told.status, told.err) == (0, "sing pushed, version 1\n")
    assert paths_of(stack, "sing") == ["noten/歌 1.txt"]
    (skill / "SKILL.md").write_text("---\nname: sing\ndescription: how to sing\n---\nSing loud.\n", "utf-8")
    assert cli("skills", "push", "my-skill", "--json").json["items"][0]["version"] == 2
    listed = cli("skills", "list", "--json").json["items"]
    assert [(one["name"], one["version"], one["description"]) for one in listed] == [("sing", 2, "how to sing")]
    assert "sing" in cli("skills", "list").out


def test_without_skills_the_list_says_how_to_push_one(cli: CommandLine) -> None:
    assert "skills push" in cli("skills", "list").out


def test_what_is_ignored_stays_at_home(cli: CommandLine, stack: Stack, skill: Path) -> None:
    (skill / ".agentignore").write_text("drafts/\n*.bak\n", "utf-8")
    (skill / "drafts").mkdir()
    (skill / ".hermes").mkdir()
    for name in ("drafts/a.md", ".hermes/a.md", "noten/b.bak", "c.log", ".DS_Store", "kept.md"):
        (skill / name).write_text("x", "utf-8")
    (skill / "drafts" / "away").symlink_to("/")
    assert cli("skills", "push", "my-skill").status == 0
    assert paths_of(stack, "sing") == ["kept.md", "noten/歌 1.txt"]


def test_a_link_within_the_folder_is_followed(cli: CommandLine, stack: Stack, skill: Path) -> None:
    (skill / "link.txt").symlink_to("noten/歌 1.txt")
    assert cli("skills", "push", "my-skill").status == 0
    assert stack.engine.skills.show("sing")["files"][0] == {"path": "link.txt", "size": 2}


@pytest.mark.parametrize("target", ["/etc/passwd", "../secret.txt", "noten", "..", "nowhere"])
def test_a_link_that_leads_elsewhere_is_refused(cli: CommandLine, stack: Stack, skill: Path, target: str) -> None:
    (skill.parent / "secret.txt").write_text("secret", "utf-8")
    (skill / "link").symlink_to(target)
    told = cli("skills", "push", "my-skill")
    assert told.status == 2
    assert "link" in told.err
    assert stack.engine.skills.listed() == []


def test_what_is_no_regular_file_is_refused(cli: CommandLine, skill: Path) -> None:
    os.mkfifo(skill / "pipe")
    told = cli("skills", "push", "my-skill")
    assert (told.status, "pipe is no regular file" in told.err) == (2, True)


@pytest.mark.parametrize(
    ("folder", "told"),
    [
        ("none", "There is no folder none."),
        ("my-skill/SKILL.md", "is no folder: give the folder that has the SKILL.md"),
        ("my-skill/noten", "has no SKILL.md"),
    ],
)
def test_what_is_no_skill_is_told_apart(cli: CommandLine, skill: Path, folder: str, told: str) -> None:
    done = cli("skills", "push", folder)
    assert done.status == 2
    assert told in done.err


def test_of_several_folders_none_is_pushed_when_one_is_wrong(cli: CommandLine, stack: Stack, skill: Path) -> None:
    wrong = skill.parent / "wrong"
    wrong.mkdir()
    (wrong / "SKILL.md").write_text("---\nname: Wrong Name\n---\nDo.\n", "utf-8")
    told = cli("skills", "push", "my-skill", "wrong")
    assert told.status == 2
    assert "wrong: SKILL.md: name must be" in told.err
    assert "description" in told.err
    assert stack.engine.skills.listed() == []


def test_a_folder_that_is_too_large_is_not_even_sent(cli: CommandLine, skill: Path) -> None:
    with (skill / "big.bin").open("wb") as big:
        big.truncate(MOST_BYTES + 1)
    told = cli("skills", "push", "my-skill")
    assert told.status == 2
    assert "20 MB" in told.err


def test_the_example_runs_on_a_freshly_stocked_stack(cli: CommandLine, stack: Stack, tmp_path: Path) -> None:
    remarks: list[Text] = []
    for _ in range(2):
        load_example_skills(stack.engine, EXAMPLES / "skills", remarks.append)
    assert [(one["name"], one["version"]) for one in stack.engine.skills.listed()] == [("release-notes", 1)]
    told = cli("run", hurried("release-notes.json", tmp_path), "--var", "changes=dark mode")
    assert (told.status, remarks) == (0, []), told.err
    assert "dark mode" in told.out
    assert "Before you upgrade" in told.err


def test_an_example_that_is_no_skill_is_told_and_left_out(stack: Stack, tmp_path: Path) -> None:
    shutil.copytree(EXAMPLES / "skills", tmp_path / "skills")
    (tmp_path / "skills" / "broken").mkdir()
    remarks: list[Text] = []
    load_example_skills(stack.engine, tmp_path / "skills", remarks.append)
    assert [one["name"] for one in stack.engine.skills.listed()] == ["release-notes"]
    assert ["broken" in remark.en for remark in remarks] == [True]
