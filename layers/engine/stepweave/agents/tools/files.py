"""The files that an agent sees: those of its run, and read-only those of its skill under `skills/<name>/`."""

from collections.abc import Mapping
from dataclasses import dataclass

from stepweave.agents.tools.toolbox import ToolFailed
from stepweave.execution.skill import Skill, Skills
from stepweave.execution.workspace import Workspace, normal_path
from stepweave.graph.problem import quoted
from stepweave.texts import Text


@dataclass(frozen=True, slots=True)
class SkillFiles:
    """The files of one skill, by the paths under which its agent sees them."""

    skill: Skill
    skills: Skills

    def sizes(self) -> dict[str, int]:
        return {f"{self.skill.folder}{path}": size for path, size in self.skill.files.items()}

    def holds(self, path: str) -> bool:
        """Whether the path is in the skill's folder, be there such a file or not."""
        return normal_path(path).startswith(self.skill.folder)

    def read(self, path: str) -> bytes | None:
        inside = normal_path(path).removeprefix(self.skill.folder)
        return self.skills.read(self.skill, inside) if inside in self.skill.files else None


class Files:
    """`workspace` is None where only the skill's files are open, `skill` where there is none. Paths of the workspace
    are judged as those of the workspace are: `ValidationFailed` (contract §3). Every method blocks."""

    def __init__(self, workspace: Workspace | None, skill: SkillFiles | None) -> None:
        self._workspace = workspace
        self._skill = skill

    def sizes(self) -> Mapping[str, int]:
        """Every path with its size in bytes."""
        found = dict(self._workspace.paths()) if self._workspace is not None else {}
        return found | (self._skill.sizes() if self._skill is not None else {})

    def read(self, path: str) -> bytes:
        """Raises `ToolFailed` when there is no such file."""
        if self._skill is not None and self._skill.holds(path):
            content = self._skill.read(path)
        else:
            content = self._workspace.read(path) if self._workspace is not None else None
        if content is None:
            raise ToolFailed(Text(f"没有文件 {quoted(path)}", f"there is no file {quoted(path)}"))
        return content

    def write(self, path: str, content: bytes) -> None:
        """Raises `ToolFailed` for a place among the skill's files."""
        if self._skill is not None and self._skill.holds(path):
            raise ToolFailed(
                Text(f"{quoted(path)} 属于技能，只能读取", f"{quoted(path)} belongs to the skill and is read-only")
            )
        assert self._workspace is not None, "write_file is offered with a workspace only"
        self._workspace.write(path, content)
