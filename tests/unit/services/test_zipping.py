"""Zips made while they are sent (contract §4, workspace)."""

import io
import subprocess
import sys
import zipfile
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path

import pytest

from stepweave.services.zipping import zip_stream

MOMENT = datetime(2026, 7, 1, 8, 30, 4, tzinfo=UTC)


def zipped(files: Mapping[str, bytes]) -> bytes:
    listed = [(path, len(content)) for path, content in files.items()]
    return b"".join(zip_stream(listed, lambda path: iter([files[path]]), MOMENT))


def opened(content: bytes) -> zipfile.ZipFile:
    return zipfile.ZipFile(io.BytesIO(content))


def test_files_come_back_under_their_names_in_the_order_given() -> None:
    files = {"b/报告.txt": "好".encode(), "plan-🚀.txt": b"", "a b.txt": b"x" * 300_000, "a": bytes(range(256)) * 1000}
    archive = opened(zipped(files))
    assert {entry.filename: archive.read(entry) for entry in archive.infolist()} == files
    assert archive.namelist() == list(files)
    assert archive.testzip() is None


def test_other_tools_read_it_too(tmp_path: Path) -> None:
    (tmp_path / "a.zip").write_bytes(zipped({"d/报告 🚀.txt": b"content"}))
    subprocess.run([sys.executable, "-m", "zipfile", "-e", "a.zip", "out"], cwd=tmp_path, check=True)
    assert (tmp_path / "out/d/报告 🚀.txt").read_bytes() == b"content"


def test_the_same_files_give_the_same_zip() -> None:
    files = {"a": b"1", "b": b"2"}
    assert zipped(files) == zipped(files)
    assert {entry.date_time for entry in opened(zipped(files)).infolist()} == {(2026, 7, 1, 8, 30, 4)}


def test_every_entry_is_a_regular_file() -> None:
    (entry,) = opened(zipped({"a": b"1"})).infolist()
    assert (entry.create_system, entry.external_attr >> 16) == (3, 0o100644)


def test_no_files_are_an_empty_zip() -> None:
    assert opened(zipped({})).namelist() == []


def test_a_file_that_is_gone_when_its_turn_comes_is_left_out() -> None:
    def reading(path: str) -> Iterator[bytes] | None:
        return None if path == "gone" else iter([b"1"])

    archive = opened(b"".join(zip_stream([("a", 1), ("gone", 1), ("z", 1)], reading, MOMENT)))
    assert archive.namelist() == ["a", "z"]


def test_a_file_of_more_than_4_gb_is_told_as_zip64() -> None:
    """By its announced size: what it then holds is small."""
    content = b"".join(zip_stream([("big", 5 * 1024**3)], lambda _: iter([b"1"]), MOMENT))
    assert content[4:6] == b"\x2d\x00"  # needs version 4.5, which is ZIP64
    assert opened(content).read("big") == b"1"


def test_a_reader_that_goes_away_ends_the_reading_of_files() -> None:
    closed: list[str] = []

    def endless(path: str) -> Iterator[bytes]:
        try:
            while True:
                yield bytes(range(256)) * 4096
        finally:
            closed.append(path)

    pieces = zip_stream([("a", 10**9)], endless, MOMENT)
    next(pieces)
    pieces.close()  # type: ignore[attr-defined]
    del pieces
    assert closed == ["a"]


_MEASURED = """
import random, resource
from datetime import UTC, datetime
from stepweave.services.zipping import zip_stream

MB = 1024 * 1024
noise, zeros = random.Random(1).randbytes(4 * MB), bytes(4 * MB)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
size = sum(map(len, zip_stream(
    [(f"f{n}", 100 * MB) for n in range(5)],
    lambda path: (noise if path == "f0" else zeros for _ in range(25)),
    datetime(2026, 1, 1, tzinfo=UTC),
)))
print(size // MB, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
"""


@pytest.mark.slow
def test_500_mb_are_zipped_in_less_than_64_mb_of_memory() -> None:
    engine = Path(sys.modules["stepweave"].__path__[0]).parent
    ran = subprocess.run(
        [sys.executable, "-c", _MEASURED], env={"PYTHONPATH": str(engine)}, check=True, stdout=subprocess.PIPE
    )
    megabytes, memory = map(int, ran.stdout.split())
    assert megabytes >= 100  # of the file that cannot be compressed
    assert memory < 64
