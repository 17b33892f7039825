"""The files of a run (store/workspace.py), on both object stores."""

from collections.abc import Callable

import pytest

from stepweave.errors import ValidationFailed
from stepweave.ports import BlobStore
from stepweave.store.workspace import RunFiles, Workspaces


@pytest.fixture
def files(blobs: BlobStore) -> RunFiles:
    return Workspaces(blobs).of("00000001")


def test_a_file_is_found_under_every_spelling_of_its_path(files: RunFiles) -> None:
    files.write("./d//报告.txt", b"content")
    assert files.read("d/x/../报告.txt") == b"content"
    assert files.has("d/报告.txt")
    assert "d/报告.txt" in files
    assert list(files.paths()) == [("d/报告.txt", 7)]


def test_a_file_that_is_not_there_is_none(files: RunFiles) -> None:
    assert files.read("a") is None
    assert files.open("a") is None
    assert not files.has("a")
    assert "a" not in files


def test_the_runs_keep_apart(blobs: BlobStore, files: RunFiles) -> None:
    other = Workspaces(blobs).of("00000002")
    files.write("a", b"1")
    other.write("a", b"2")
    files.clear()
    assert (files.read("a"), other.read("a")) == (None, b"2")


def test_a_file_is_written_and_read_piece_by_piece(files: RunFiles) -> None:
    with files.writer("a") as writer:
        writer.write(b"1")
        writer.write(b"2")
    assert b"".join(files.open("a") or ()) == b"12"


def test_ignored_files_can_be_read_but_are_not_listed(files: RunFiles) -> None:
    for path in ("a.txt", "a.log", ".hermes/x", "private/key", ".agentignore"):
        files.write(path, b"private/\n")
    assert [path for path, _ in files.paths()] == [".agentignore", "a.txt"]
    assert files.has("private/key")
    assert files.read("a.log") == b"private/\n"


def test_of_a_huge_agentignore_the_beginning_holds(files: RunFiles) -> None:
    files.write(".agentignore", b"*.csv\n" + b"#" * 3_000_000)
    files.write("a.csv", b"")
    assert [path for path, _ in files.paths()] == [".agentignore"]


def test_an_agentignore_of_any_bytes_does_no_harm(files: RunFiles) -> None:
    files.write(".agentignore", b"\xff\xfe\n*.csv\n\x00\n")
    files.write("a.csv", b"")
    assert [path for path, _ in files.paths()] == [".agentignore"]


def test_clearing_takes_the_ignored_files_too(files: RunFiles, blobs: BlobStore) -> None:
    files.write("a.log", b"")
    files.write("a", b"")
    blobs.put("runs/00000001/inputs/1.json", b"{}")
    files.clear()
    assert [name for name, _ in blobs.list("")] == ["runs/00000001/inputs/1.json"]


@pytest.mark.parametrize(
    "call",
    [
        lambda files: files.read("../00000002/workspace/a"),
        lambda files: files.open("/a"),
        lambda files: files.has("a\\b"),
        lambda files: files.write("..", b""),
        lambda files: files.writer("C:/a"),
        lambda files: files.delete(["a", "../a"]),
        lambda files: files.upload_url("a\0", 1, 60),
    ],
)
def test_no_path_leads_out(files: RunFiles, call: Callable[[RunFiles], object]) -> None:
    with pytest.raises(ValidationFailed):
        call(files)


@pytest.mark.parametrize("path", ["../x", "", 5, None])
def test_what_cannot_be_a_path_is_no_file(files: RunFiles, path: object) -> None:
    assert path not in files
