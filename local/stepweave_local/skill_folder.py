"""A skill's folder on this machine: `SKILL.md` and the files beside it (contract §2, `agent.skillName`)."""

import os
from collections.abc import Iterator
from pathlib import Path

from stepweave.agents.skills import SKILL_FILE, parse_skill, path_problems
from stepweave.errors import ValidationFailed
from stepweave.execution.ignored import AGENTIGNORE, Ignored
from stepweave.execution.ignored import MOST_BYTES as IGNORE_BYTES
from stepweave.services.skills import MOST_BYTES, MOST_FILES
from stepweave.texts import Text
from stepweave_local.command_error import CommandError


def read_skill_folder(folder: Path) -> dict[str, bytes]:
    """The content of every file by its path in the folder, but for those that are ignored (contract §3, Workspace) and
    `.agentignore` itself. Raises `CommandError` for what is no skill, or cannot be pushed."""
    if not folder.is_dir():
        raise _no_folder(folder)
    if not (folder / SKILL_FILE).is_file():
        raise CommandError(
            Text(
                f"{folder} 中没有 {SKILL_FILE}：技能是一个顶层含有 {SKILL_FILE} 的文件夹。",
                f"{folder} has no {SKILL_FILE}: a skill is a folder with {SKILL_FILE} at its top.",
            )
        )
    try:
        files = _read(folder)
    except OSError as error:
        place = error.filename or folder
        raise CommandError(
            Text(f"无法读取 {place}（{error.strerror}）。", f"{place} cannot be read ({error.strerror}).")
        ) from error
    _check(folder, files)
    return files


def _read(folder: Path) -> dict[str, bytes]:
    files: dict[str, bytes] = {}
    size = 0
    for path, file in _kept(folder):
        size += file.stat().st_size
        if size > MOST_BYTES or len(files) == MOST_FILES:
            raise CommandError(
                Text(
                    f"{folder} 太大：技能最多 {MOST_FILES} 个文件、共 {MOST_BYTES >> 20} MB；用 {AGENTIGNORE} 排除不需要的文件。",
                    f"{folder} is too large: a skill may have {MOST_FILES} files and {MOST_BYTES >> 20} MB in all; "
                    f"name what is not needed in {AGENTIGNORE}.",
                )
            )
        files[path] = file.read_bytes()
    return files


def _kept(folder: Path) -> Iterator[tuple[str, Path]]:
    """Files by their paths in the folder, in the order of the paths of their folders."""
    ignored = _ignored(folder / AGENTIGNORE)
    for place, inner, names in os.walk(folder, onerror=_raise):
        inner.sort()
        here = Path(place)
        links = [name for name in inner if (here / name).is_symlink()]
        for name in sorted([*names, *links]):
            file = here / name
            path = file.relative_to(folder).as_posix()
            if path == AGENTIGNORE or ignored.matches(path):
                continue
            if file.is_symlink():
                _refuse_unless_inside(file, folder)
            elif not file.is_file():
                raise CommandError(
                    Text(
                        f"{file} 不是普通文件：请删去，或写入 {AGENTIGNORE}。",
                        f"{file} is no regular file: take it away, or name it in {AGENTIGNORE}.",
                    )
                )
            yield path, file


def _refuse_unless_inside(link: Path, folder: Path) -> None:
    target = link.resolve()
    if not target.is_relative_to(folder.resolve()) or not target.is_file():
        raise CommandError(
            Text(
                f"{link} 是指向 {target} 的链接：技能中的链接只能指向同一文件夹中的文件，请改为复制内容。",
                f"{link} is a link to {target}: links of a skill may lead to files of its own folder only; "
                "put a copy in its place.",
            )
        )


def _ignored(file: Path) -> Ignored:
    if not file.is_file():
        return Ignored()
    with file.open("rb") as content:
        return Ignored.of(content.read(IGNORE_BYTES).decode(errors="replace"))


def _check(folder: Path, files: dict[str, bytes]) -> None:
    """What the server would refuse is told here, with the folder's name, before anything is sent."""
    try:
        if problems := path_problems(files):
            raise ValidationFailed(Text.join(problems))
        parse_skill(files.get(SKILL_FILE, b""))
    except ValidationFailed as refused:
        raise CommandError(Text(f"{folder}：{refused.text.zh}。", f"{folder}: {refused.text.en}.")) from refused


def _no_folder(folder: Path) -> CommandError:
    if not folder.exists():
        return CommandError(Text(f"没有文件夹 {folder}。", f"There is no folder {folder}."))
    return CommandError(
        Text(
            f"{folder} 不是文件夹：请给出含有 {SKILL_FILE} 的文件夹。",
            f"{folder} is no folder: give the folder that has the {SKILL_FILE}.",
        )
    )


def _raise(error: OSError) -> None:
    raise error
