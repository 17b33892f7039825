"""Skills pushed, shown and lent, on every item store and object store."""

import threading
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from stepweave.adapters.memory import MemoryBlobs, MemoryItems
from stepweave.errors import NotFound, PayloadTooLarge, ValidationFailed
from stepweave.ports import BlobStore, ItemStore
from stepweave.services.skills import MOST_FILES, RunSkills, SkillService
from stepweave.store.skills import SkillStore
from stepweave.store.workflows import Workflows

EVENING = datetime(2026, 1, 1, 20, tzinfo=UTC)


@dataclass
class SetClock:
    """Stands still at `moment`."""

    moment: datetime = field(default=EVENING)

    def now(self) -> datetime:
        return self.moment

    def monotonic(self) -> float:
        return 0.0

    def sleep(self, seconds: float) -> None:
        raise AssertionError("pushing a skill waits for nothing")


@pytest.fixture
def store(items: ItemStore, blobs: BlobStore) -> SkillStore:
    return SkillStore(items, blobs)


@pytest.fixture
def clock() -> SetClock:
    return SetClock()


@pytest.fixture
def skills(store: SkillStore, clock: SetClock) -> SkillService:
    return SkillService(store, clock)


def folder(name: str = "write-report", body: str = "Write it.", **files: bytes) -> dict[str, bytes]:
    text = f"---\nname: {name}\ndescription: how to\n---\n{body}\n"
    return {"SKILL.md": text.encode(), **{path.replace("__", "/"): content for path, content in files.items()}}


def at(moment: datetime) -> str:
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def test_a_pushed_skill_is_listed_and_shown(skills: SkillService) -> None:
    pushed = skills.push(folder(notes__style=b"plain"))
    assert pushed == {
        "name": "write-report",
        "version": 1,
        "description": "how to",
        "pushedAt": "2026-01-01T20:00:00.000Z",
    }
    skills.push(folder("another"))
    assert [skill["name"] for skill in skills.listed()] == ["another", "write-report"]
    assert skills.show("write-report") == pushed | {
        "instructions": "Write it.",
        "files": [{"path": "notes/style", "size": 5}],
    }


def test_each_push_makes_a_version_and_old_ones_stay(skills: SkillService) -> None:
    skills.push(folder())
    assert skills.push(folder(body="Write it again."))["version"] == 2
    assert (skills.show("write-report")["version"], skills.show("write-report", 1)["instructions"]) == (2, "Write it.")
    assert [skill["version"] for skill in skills.listed()] == [2]


def test_a_push_that_says_nothing_new_makes_no_version(skills: SkillService) -> None:
    skills.push(folder(a=b"1"))
    assert skills.push(folder(a=b"1"))["version"] == 1
    assert skills.push(folder(a=b"2"))["version"] == 2
    assert skills.push(folder(a=b"1"))["version"] == 3


def test_a_run_sees_the_version_that_was_the_newest_when_it_started(
    skills: SkillService, store: SkillStore, clock: SetClock
) -> None:
    for day in range(45):
        clock.moment = EVENING + timedelta(days=day)
        skills.push(folder(body=f"day {day}", file=str(day).encode()))
    for day in (0, 7, 44):
        lent = RunSkills(store, at(EVENING + timedelta(days=day, hours=1)))
        skill = lent.get("write-report")
        assert skill is not None
        assert (skill.version, skill.instructions, skill.folder) == (day + 1, f"day {day}", "skills/write-report/")
        assert (lent.read(skill, "file"), lent.read(skill, "other")) == (str(day).encode(), None)
    assert RunSkills(store, at(EVENING - timedelta(hours=1))).get("write-report") is None


def test_what_there_is_not_is_told(skills: SkillService, store: SkillStore) -> None:
    assert RunSkills(store, at(EVENING)).get("no-such-skill") is None
    assert RunSkills(store, at(EVENING)).get("#skill") is None
    with pytest.raises(NotFound, match="no-such-skill"):
        skills.show("no-such-skill")
    skills.push(folder())
    for version in (0, 2, -1):
        with pytest.raises(NotFound):
            skills.show("write-report", version)


def test_skills_and_workflows_do_not_meet_in_their_table(
    items: ItemStore, blobs: BlobStore, skills: SkillService
) -> None:
    skills.push(folder())
    assert Workflows(items, blobs).listed() == []
    assert Workflows(items, blobs).find("write-report") is None


def test_two_who_push_at_once_get_versions_of_their_own() -> None:
    """In memory only: moto's transactions are none to threads."""
    skills = SkillService(SkillStore(MemoryItems(), MemoryBlobs()), SetClock())
    pushed: list[dict[str, Any]] = []
    threads = [
        threading.Thread(target=lambda n=n: pushed.append(skills.push(folder(body=f"by {n}")))) for n in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(skill["version"] for skill in pushed) == list(range(1, 9))


def test_large_instructions_come_back(skills: SkillService) -> None:
    body = "说明" * 40_000
    skills.push(folder(body=body))
    assert skills.show("write-report")["instructions"] == body


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({}, "SKILL.md is missing"),
        ({"docs/SKILL.md": b"x"}, "SKILL.md is missing"),
        (folder() | {"../out": b""}, "leaves the workspace"),
        (folder() | {"a//b": b""}, 'write the path "a//b" as "a/b"'),
        (folder("Bad Name"), "name must be"),
        (folder(body=" "), "body"),
    ],
)
def test_a_folder_that_is_no_skill_is_refused(skills: SkillService, files: dict[str, bytes], words: str) -> None:
    with pytest.raises(ValidationFailed) as refused:
        skills.push(files)
    assert words in refused.value.text.en
    assert skills.listed() == []


@pytest.mark.parametrize(
    "files",
    [
        folder() | {f"f{n}": b"" for n in range(MOST_FILES)},
        folder(big=b"x" * (20 * 1024 * 1024)),
        folder(body="x" * 300_000),
    ],
)
def test_a_folder_that_is_too_large_is_refused(skills: SkillService, files: dict[str, bytes]) -> None:
    with pytest.raises(PayloadTooLarge):
        skills.push(files)
