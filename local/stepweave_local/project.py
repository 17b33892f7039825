"""Where things are in this checkout, and the one error that a person sees when the local stack cannot go on."""

import platform
from dataclasses import dataclass
from pathlib import Path

from stepweave.errors import StepweaveError
from stepweave.texts import Text

REGION = "us-east-1"


class LocalStackError(StepweaveError):
    """The local stack cannot start or go on; the text says what is wrong and what to do about it."""


@dataclass(frozen=True, slots=True)
class Project:
    root: Path

    @classmethod
    def here(cls) -> "Project":
        """The checkout this package is installed from. Raises `LocalStackError` when it is not one."""
        root = Path(__file__).resolve().parents[2]
        if not (root / "template.yaml").is_file():
            raise LocalStackError(
                Text(
                    f"在 {root} 没有找到 template.yaml：请在 stepweave 的源码目录中运行 `make up`。",
                    f"No template.yaml in {root}: run `make up` in a checkout of stepweave.",
                )
            )
        return cls(root)

    @property
    def build(self) -> Path:
        """What `sam build` makes."""
        return self.root / ".aws-sam" / "build"

    @property
    def venv(self) -> Path:
        return self.root / ".venv"

    def sam(self) -> Path:
        return self._tool(".tools/sam/bin/sam", "SAM CLI")

    def ministack(self) -> Path:
        """The Python of MiniStack's environment."""
        return self._tool(".tools/ministack/bin/python", "MiniStack")

    def _tool(self, path: str, name: str) -> Path:
        tool = self.root / path
        if not tool.exists():
            raise LocalStackError(
                Text(
                    f"没有找到 {name}（{path}）：请先运行 `make setup`。",
                    f"{name} is missing ({path}): run `make setup` first.",
                )
            )
        return tool


def architecture() -> str:
    """This machine's, as Lambda calls it: the functions run here with the packages compiled for it."""
    return "arm64" if platform.machine().lower() in {"aarch64", "arm64"} else "x86_64"
