"""The form of a skill: a folder with `SKILL.md` — front matter, then instructions — and files beside it. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from stepweave.errors import ValidationFailed
from stepweave.execution.workspace import normal_path
from stepweave.graph.problem import quoted
from stepweave.ids import WORKFLOW_NAME
from stepweave.texts import Text

SKILL_FILE = "SKILL.md"

_LONGEST_NAME = 64
_LONGEST_DESCRIPTION = 2000
_FENCE = "---"


@dataclass(frozen=True, slots=True)
class SkillText:
    """What a `SKILL.md` says."""

    name: str
    description: str
    instructions: str


def is_skill_name(name: Any) -> bool:
    """Kebab-case, as workflows are named."""
    return isinstance(name, str) and len(name) <= _LONGEST_NAME and WORKFLOW_NAME.fullmatch(name) is not None


def parse_skill(content: bytes) -> SkillText:
    """Reads a `SKILL.md`. Raises `ValidationFailed` with everything that is wrong with it."""
    try:
        text = content.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError:
        raise ValidationFailed(Text(f"{SKILL_FILE} 不是 UTF-8 文本", f"{SKILL_FILE} is no text in UTF-8")) from None
    front, body = _split(text)
    name, description = front.get("name"), front.get("description")
    problems = []
    if not is_skill_name(name):
        problems.append(
            Text(
                f"name 必须是小写字母和数字，用单个 - 连接，最多 {_LONGEST_NAME} 个字符，例如 write-report",
                "name must be lower-case letters and digits joined by single hyphens, "
                f"at most {_LONGEST_NAME} characters, such as write-report",
            )
        )
    if not isinstance(description, str) or not 0 < len(description.strip()) <= _LONGEST_DESCRIPTION:
        problems.append(
            Text(
                f"description 必须是 1 到 {_LONGEST_DESCRIPTION} 个字符的文本",
                f"description must be a text of 1 to {_LONGEST_DESCRIPTION} characters",
            )
        )
    if not body.strip():
        problems.append(Text("正文（指令）不能为空", "the body, which holds the instructions, must not be blank"))
    if problems:
        told = Text.join(problems)
        raise ValidationFailed(Text(f"{SKILL_FILE}：{told.zh}", f"{SKILL_FILE}: {told.en}"))
    return SkillText(str(name), str(description).strip(), body.strip())


def path_problems(paths: Iterable[str]) -> list[Text]:
    """What is wrong with the paths of a skill's files: the rule is that of the workspace (contract §3), and each path
    stands in its one spelling."""
    problems = []
    for path in paths:
        try:
            if normal_path(path) == path:
                continue
        except ValidationFailed as refused:
            problems.append(refused.text)
            continue
        normal = quoted(normal_path(path))
        problems.append(Text(f"路径 {quoted(path)} 应写作 {normal}", f"write the path {quoted(path)} as {normal}"))
    return problems


def _split(text: str) -> tuple[dict[str, Any], str]:
    """Front matter and body; no front matter is an empty one."""
    lines = text.split("\n")
    if lines[0].strip() != _FENCE:
        return {}, text
    for number, line in enumerate(lines[1:], start=1):
        if line.strip() == _FENCE:
            return _front("\n".join(lines[1:number])), "\n".join(lines[number + 1 :])
    raise ValidationFailed(
        Text(
            f"{SKILL_FILE} 的前置元数据没有以 {_FENCE} 结束",
            f"the front matter of {SKILL_FILE} does not end with {_FENCE}",
        )
    )


def _front(text: str) -> dict[str, Any]:
    import yaml  # only pushing a skill needs it

    try:
        front = yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise ValidationFailed(
            Text(f"{SKILL_FILE} 的前置元数据不是有效的 YAML", f"the front matter of {SKILL_FILE} is no valid YAML")
        ) from error
    return front if isinstance(front, dict) else {}
