"""What a path in a run's workspace may look like (contract §3, Workspace)."""

import unicodedata

import pytest

from stepweave.errors import ValidationFailed
from stepweave.execution.workspace import PATH_BYTES, normal_path


@pytest.mark.parametrize(
    ("raw", "normal"),
    [
        ("a.txt", "a.txt"),
        ("inputs/2024/data.csv", "inputs/2024/data.csv"),
        ("./a//b/./c.md", "a/b/c.md"),
        ("a/../b.md", "b.md"),
        ("报告.txt", "报告.txt"),
        ("plan-🚀.txt", "plan-🚀.txt"),
        ("a b.txt", "a b.txt"),
        ("100%.txt", "100%.txt"),
        ("a%20b.txt", "a%20b.txt"),
        (".agentignore", ".agentignore"),
        ("..a/b..", "..a/b.."),
        ("~/a", "~/a"),
        ("notes: today.md", "notes: today.md"),
        ("x" * PATH_BYTES, "x" * PATH_BYTES),
    ],
)
def test_a_path_inside_the_workspace_is_spelled_in_one_way(raw: str, normal: str) -> None:
    assert normal_path(raw) == normal


def test_composed_and_decomposed_characters_name_the_same_file() -> None:
    assert normal_path(unicodedata.normalize("NFD", "café.txt")) == unicodedata.normalize("NFC", "café.txt")


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        ("..", "leaves"),
        ("../a", "leaves"),
        ("a/../../b", "leaves"),
        ("a/b/../../../a/b", "leaves"),
        ("/etc/passwd", "absolute"),
        ("//server/share", "absolute"),
        ("C:\\x", "backslash"),
        ("..\\..\\x", "backslash"),
        ("\\\\server\\x", "backslash"),
        ("a/b\\c", "backslash"),
        ("C:/x", "drive"),
        ("c:x", "drive"),
        ("./C:/x", "drive"),
        ("a/../C:/x", "drive"),
        ("..%2fetc", "encoded"),
        ("..%2Fetc", "encoded"),
        ("a%5c..%5cb", "encoded"),
        ("a%00.txt", "encoded"),
        ("a\x00b", "control"),
        ("a\nb", "control"),
        ("a\x7fb", "control"),
        ("a\u0085b", "control"),
        ("a\u2028b", "control"),
        ("...", "dots and blanks"),
        (" ", "dots and blanks"),
        ("a/. ./b", "dots and blanks"),
        ("a/\u3000/b", "dots and blanks"),
        (".../../b", "dots and blanks"),
        ("", "folder"),
        (".", "folder"),
        ("a/", "folder"),
        ("a/.", "folder"),
        ("a/b/..", "folder"),
        ("x" * (PATH_BYTES + 1), "longer"),
        ("好" * 334, "longer"),
        ("a\ud800b", "UTF-8"),
    ],
)
def test_anything_else_is_refused_and_the_path_is_named(raw: str, reason: str) -> None:
    with pytest.raises(ValidationFailed, match=reason) as refused:
        normal_path(raw)
    refused.value.text.zh.encode()
    assert refused.value.code == "VALIDATION_FAILED"
