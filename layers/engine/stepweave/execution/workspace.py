"""The files of a run, as a node sees them, and what a path among them may look like (contract §3, Workspace)."""

import re
import unicodedata
from collections.abc import Iterable
from typing import Protocol

from stepweave.errors import ValidationFailed
from stepweave.graph.problem import quoted
from stepweave.texts import Text

PATH_BYTES = 1_000
"""Of UTF-8. Object storage takes names of 1,024 bytes; the rest is for the place of the run."""

_CONTROL = {"Cc", "Zl", "Zp"}
_DRIVE = re.compile(r"[A-Za-z]:")
_ENCODED = re.compile(r"%(2f|5c|00)", re.IGNORECASE)


class Workspace(Protocol):
    """A run's directory of files, shared by all its nodes. Paths are relative and use `/`.

    Every method raises `errors.ValidationFailed` for a path that is not (normalised) inside the directory.
    """

    def paths(self) -> Iterable[tuple[str, int]]:
        """The path and the size in bytes of every file that is not ignored (`Ignored`), in the order of the paths."""
        ...

    def has(self, path: str) -> bool: ...

    def read(self, path: str) -> bytes | None:
        """The file's content; None when there is no such file."""
        ...

    def write(self, path: str, content: bytes) -> None: ...


def normal_path(raw: str) -> str:
    """The one spelling of a file's path: Unicode NFC, no empty or dot segments. Raises `ValidationFailed`.

    What could mean another place to somebody is refused, not mended: absolute paths, drive letters, backslashes,
    encoded separators, control characters, names of dots and blanks only. A `..` is taken literally (there are no
    links), and may not lead out.
    """
    path = unicodedata.normalize("NFC", raw)
    _check_characters(raw, path)
    segments: list[str] = []
    for segment in path.split("/"):
        if segment == "..":
            if not segments:
                raise _refused(raw, Text("离开了工作区", "leaves the workspace"))
            segments.pop()
        elif segment not in ("", "."):
            if all(character == "." or character.isspace() for character in segment):
                raise _refused(raw, Text("有一级只由点和空格组成", "has a part of dots and blanks only"))
            segments.append(segment)
    if segment in ("", ".", ".."):
        raise _refused(raw, Text("指向文件夹，而不是文件", "names a folder, not a file"))
    normal = "/".join(segments)
    if _DRIVE.match(normal):
        raise _refused(raw, Text("带有盘符", "has a drive letter"))
    return normal


def _check_characters(raw: str, path: str) -> None:
    try:
        size = len(path.encode())
    except UnicodeEncodeError:
        raise _refused(raw, Text("不是有效的 UTF-8 文本", "is not valid UTF-8 text")) from None
    if size > PATH_BYTES:
        raise _refused(raw, Text(f"超过 {PATH_BYTES} 字节", f"is longer than {PATH_BYTES} bytes"))
    if path.startswith("/"):
        raise _refused(raw, Text("是绝对路径", "is absolute"))
    if "\\" in path:
        raise _refused(raw, Text("含有反斜杠，请使用 /", "has a backslash: use /"))
    if any(unicodedata.category(character) in _CONTROL for character in path):
        raise _refused(raw, Text("含有控制字符", "has a control character"))
    if _ENCODED.search(path):
        raise _refused(raw, Text("含有编码的分隔符（%2F、%5C 或 %00）", "has an encoded separator (%2F, %5C or %00)"))


def _refused(raw: str, reason: Text) -> ValidationFailed:
    path = quoted(raw.encode(errors="replace").decode())
    return ValidationFailed(
        Text(
            f"文件路径 {path} {reason.zh}；应为工作区内的相对路径，例如 data/report.md",
            f"the file path {path} {reason.en}: it must be relative and inside the workspace, such as data/report.md",
        )
    )
