"""Paths of a run's workspace, whatever a client calls a path (contract §3)."""

import posixpath
import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from stepweave.errors import ValidationFailed
from stepweave.execution.ignored import Ignored
from stepweave.execution.workspace import PATH_BYTES, normal_path
from stepweave.services.files import check_paths

SEGMENTS = st.one_of(
    st.sampled_from(
        ["", ".", "..", "...", " ", "C:", "c:x", "a", "B.txt", "报告", "🚀", "é", ".hermes", "%2f", "\\", "~"]
    ),
    st.text(max_size=6),
)
NORMAL = st.lists(st.sampled_from(["a", "b", "報告", "x.y"]), min_size=1, max_size=4).map("/".join)
PATHS = st.lists(SEGMENTS, max_size=8).map("/".join) | st.text()


def normal(raw: str) -> str | None:
    try:
        return normal_path(raw)
    except ValidationFailed:
        return None


@given(PATHS)
def test_a_path_is_refused_or_stays_inside(raw: str) -> None:
    path = normal(raw)
    if path is None:
        return
    assert posixpath.normpath(posixpath.join("/runs/1/workspace", path)) == f"/runs/1/workspace/{path}"
    assert not set(path) & {"\\", "\0"}
    assert 0 < len(path.encode()) <= PATH_BYTES
    assert path == unicodedata.normalize("NFC", path)


@given(PATHS)
def test_a_normal_path_is_its_own_normal_path(raw: str) -> None:
    path = normal(raw)
    if path is not None:
        assert normal_path(path) == path


@given(st.lists(NORMAL, min_size=2, max_size=5))
def test_files_with_checked_paths_can_lie_side_by_side_on_a_disk(raw: list[str]) -> None:
    """No two are one, and none is the folder of another."""
    try:
        paths = check_paths(raw)
    except ValidationFailed:
        assert len(set(raw)) < len(raw) or any(other.startswith(f"{one}/") for one in raw for other in raw)
        return
    folders = {folder for path in paths for folder in _folders(path)}
    assert len(folders | set(paths)) == len(folders) + len(raw)


@given(st.text(alphabet="ab*?[]!/\\-^.# \n:&|~", max_size=40), NORMAL)
def test_any_text_is_an_agentignore(rules: str, path: str) -> None:
    assert Ignored.of(rules).matches(path) in (True, False)


def _folders(path: str) -> list[str]:
    parts = path.split("/")
    return ["/".join(parts[:length]) for length in range(1, len(parts))]
