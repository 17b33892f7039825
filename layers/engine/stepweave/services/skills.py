"""Skills pushed, shown, and lent to the nodes of a run (contract §2, `agent.skillName`)."""

from collections.abc import Mapping
from typing import Any

from stepweave import clock as times
from stepweave.agents.skills import SKILL_FILE, is_skill_name, parse_skill, path_problems
from stepweave.clock import Clock
from stepweave.errors import NotFound, PayloadTooLarge, ValidationFailed
from stepweave.execution.skill import Skill
from stepweave.graph.problem import quoted
from stepweave.store.skills import SkillHead, SkillStore, StoredSkill
from stepweave.texts import Text

MOST_FILES = 200
MOST_BYTES = 20 * 1024 * 1024
_MOST_SKILL_BYTES = 256 * 1024


class SkillService:
    def __init__(self, store: SkillStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    def push(self, files: Mapping[str, bytes]) -> dict[str, Any]:
        """Stores a folder, its `SKILL.md` among the files, as the next version of the skill that it names.

        Raises `ValidationFailed` with everything that is wrong, `PayloadTooLarge`.
        """
        if SKILL_FILE not in files:
            raise ValidationFailed(
                Text(
                    f"缺少 {SKILL_FILE}：它必须在技能文件夹的顶层",
                    f"{SKILL_FILE} is missing: it stands at the top of the folder",
                )
            )
        _check_sizes(files)
        problems = path_problems(files)
        if problems:
            raise ValidationFailed(Text.join(problems))
        text = parse_skill(files[SKILL_FILE])
        beside = {path: content for path, content in files.items() if path != SKILL_FILE}
        moment = times.to_json(self._clock.now())
        return _shown(self._store.push(text.name, text.description, text.instructions, beside, moment))

    def listed(self) -> list[dict[str, Any]]:
        """By name."""
        return [_head(head) for head in self._store.listed()]

    def show(self, name: str, version: int | None = None) -> dict[str, Any]:
        """A version, the latest by default, with its instructions and the list of its files. Raises `NotFound`."""
        found = None
        if is_skill_name(name):
            found = self._store.latest(name) if version is None else self._store.version(name, version)
        if found is None:
            which = Text(f" 的版本 {version}", f" version {version}") if version is not None else Text.same("")
            raise NotFound(Text(f"没有技能 {quoted(name)}{which.zh}", f"there is no skill {quoted(name)}{which.en}"))
        files = [{"path": path, "size": file.size} for path, file in sorted(found.files.items())]
        return _shown(found) | {"instructions": found.instructions, "files": files}


class RunSkills:
    """`Skills` (execution) of one run: `moment` is when it started."""

    def __init__(self, store: SkillStore, moment: str) -> None:
        self._store = store
        self._moment = moment

    def get(self, name: str) -> Skill | None:
        found = self._store.at(name, self._moment) if is_skill_name(name) else None
        if found is None:
            return None
        sizes = {path: file.size for path, file in found.files.items()}
        return Skill(found.name, found.version, found.description, found.instructions, sizes)

    def read(self, skill: Skill, path: str) -> bytes | None:
        found = self._store.version(skill.name, skill.version)
        file = found.files.get(path) if found is not None else None
        return self._store.read(skill.name, file) if file is not None else None


def _check_sizes(files: Mapping[str, bytes]) -> None:
    if len(files) > MOST_FILES:
        raise PayloadTooLarge(
            Text(
                f"技能有 {len(files)} 个文件，最多 {MOST_FILES} 个",
                f"the skill has {len(files)} files, {MOST_FILES} are allowed",
            )
        )
    if sum(map(len, files.values())) > MOST_BYTES or len(files[SKILL_FILE]) > _MOST_SKILL_BYTES:
        raise PayloadTooLarge(
            Text(
                f"技能太大：全部文件最多 {MOST_BYTES >> 20} MB，{SKILL_FILE} 最多 {_MOST_SKILL_BYTES >> 10} KB",
                f"the skill is too large: all its files may have {MOST_BYTES >> 20} MB, "
                f"{SKILL_FILE} {_MOST_SKILL_BYTES >> 10} KB",
            )
        )


def _shown(skill: StoredSkill) -> dict[str, Any]:
    return _head(SkillHead(skill.name, skill.version, skill.description, skill.pushed_at))


def _head(head: SkillHead) -> dict[str, Any]:
    return {
        "name": head.name,
        "version": head.latest,
        "description": head.description,
        "pushedAt": head.pushed_at,
    }
