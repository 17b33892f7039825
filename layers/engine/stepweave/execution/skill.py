"""A skill as a node sees it: instructions for an agent, and files beside them (contract §2, `agent.skillName`)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Skill:
    """One version of a skill. `files` are the paths of the files beside `SKILL.md` with their sizes in bytes."""

    name: str
    version: int
    description: str
    instructions: str
    files: Mapping[str, int] = field(default_factory=dict)

    @property
    def folder(self) -> str:
        """Where its agent finds the files, with the `/` at the end."""
        return f"skills/{self.name}/"


class Skills(Protocol):
    """The skills that one run may use: of each the version that was the newest when the run started."""

    def get(self, name: str) -> Skill | None:
        """None when there was no such skill."""
        ...

    def read(self, skill: Skill, path: str) -> bytes | None:
        """The content of one of the skill's files; None when it has no such file."""
        ...
