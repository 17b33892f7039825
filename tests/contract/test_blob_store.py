"""What every `BlobStore` keeps (ports.py), on memory and on S3."""

import re
import tracemalloc
from collections.abc import Callable
from contextlib import suppress
from urllib.parse import parse_qs, urlsplit

import pytest
import requests

from stepweave.adapters.aws import s3, s3_writer
from stepweave.adapters.aws.s3 import S3Blobs
from stepweave.errors import Unavailable
from stepweave.ports import BlobStore

MB = 1024 * 1024


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pieces and parts as small as S3 allows: several of them in a few megabytes."""
    monkeypatch.setattr(s3, "PIECE_BYTES", MB)
    monkeypatch.setattr(s3_writer, "PART_BYTES", 5 * MB)


def test_a_blob_comes_back_as_it_was_put(blobs: BlobStore) -> None:
    blobs.put("runs/1/报告 🚀.txt", b"\x00\xffcontent")
    assert blobs.get("runs/1/报告 🚀.txt") == b"\x00\xffcontent"


def test_a_missing_blob_is_none(blobs: BlobStore) -> None:
    assert blobs.get("runs/1/nothing") is None
    assert blobs.size("runs/1/nothing") is None
    assert blobs.open("runs/1/nothing") is None


@pytest.mark.parametrize("size", [0, 1, MB, MB + 1, 3 * MB])
def test_a_blob_is_read_piece_by_piece(blobs: BlobStore, size: int) -> None:
    content = bytes(range(256)) * (size // 256 + 1)
    blobs.put("runs/1/a", content[:size])
    pieces = blobs.open("runs/1/a")
    assert pieces is not None
    read = list(pieces)
    assert b"".join(read) == content[:size]
    assert max(map(len, read), default=0) <= MB
    assert blobs.size("runs/1/a") == size


@pytest.mark.parametrize("pieces", [[], [b""], [b"a", b"b"], [b"x" * MB] * 11, [b"y" * 11 * MB, b"z"]])
def test_a_blob_is_written_piece_by_piece(blobs: BlobStore, pieces: list[bytes]) -> None:
    with blobs.writer("runs/1/plan-🚀.txt", "text/plain") as writer:
        for piece in pieces:
            writer.write(piece)
        assert blobs.get("runs/1/plan-🚀.txt") is None
    assert blobs.get("runs/1/plan-🚀.txt") == b"".join(pieces)


@pytest.mark.parametrize("size", [1, 11 * MB])
def test_a_blob_that_is_not_written_to_its_end_stays_as_it_was(blobs: BlobStore, size: int) -> None:
    blobs.put("runs/1/a", b"before")
    with suppress(KeyError), blobs.writer("runs/1/a") as writer:
        writer.write(b"x" * size)
        raise KeyError
    assert blobs.get("runs/1/a") == b"before"
    if isinstance(blobs, S3Blobs):
        assert "Uploads" not in blobs._client.list_multipart_uploads(Bucket="test")


def test_names_under_a_prefix_are_listed_with_their_sizes(blobs: BlobStore) -> None:
    for name, size in (("runs/1/b", 2), ("runs/1/a", 1), ("runs/1/报告", 3), ("runs/1/🚀", 4), ("runs/10/c", 3)):
        blobs.put(name, b"x" * size)
    assert list(blobs.list("runs/1/")) == [("runs/1/a", 1), ("runs/1/b", 2), ("runs/1/报告", 3), ("runs/1/🚀", 4)]


def test_deleting_takes_what_is_named_and_nothing_else(blobs: BlobStore) -> None:
    for name in ("a", "b", "c"):
        blobs.put(name, b"")
    blobs.delete(["a", "c", "unknown"])
    assert [name for name, _ in blobs.list("")] == ["b"]
    blobs.delete([])


@pytest.mark.parametrize(
    "address",
    [
        lambda blobs: blobs.upload_url("runs/1/a b.txt", 7, 60),
        lambda blobs: blobs.download_url("runs/1/a b.txt", 60),
    ],
)
def test_an_address_names_the_blob_and_no_name_can_break_out_of_it(
    blobs: BlobStore, address: Callable[[BlobStore], str]
) -> None:
    assert urlsplit(address(blobs)).path.endswith("runs/1/a%20b.txt")


def test_an_address_on_s3_takes_the_blob_and_gives_it_back_as_a_download(aws: None, s3_blobs: S3Blobs) -> None:
    url = s3_blobs.upload_url("runs/1/报告.txt", 7, 60)
    assert requests.put(url, data=b"content", headers={"Content-Length": "7"}, timeout=5).status_code == 200
    answer = requests.get(s3_blobs.download_url("runs/1/报告.txt", 60, "attachment; filename=a.txt"), timeout=5)
    assert (answer.content, answer.headers["Content-Disposition"]) == (b"content", "attachment; filename=a.txt")


def test_an_address_on_s3_holds_for_one_size_and_time_only(aws: None, s3_blobs: S3Blobs) -> None:
    query = parse_qs(urlsplit(s3_blobs.upload_url("runs/1/a", 7, 60)).query)
    assert query["X-Amz-Expires"] == ["60"]
    assert "content-length" in re.split(";", query["X-Amz-SignedHeaders"][0])


def test_a_blob_that_is_written_over_while_it_is_read_is_told(aws: None, s3_blobs: S3Blobs) -> None:
    s3_blobs.put("a", b"x" * 3 * MB)
    pieces = s3_blobs.open("a")
    assert pieces is not None
    next(pieces)
    s3_blobs.put("a", b"y" * 3 * MB)
    with pytest.raises(Unavailable):
        next(pieces)


@pytest.mark.parametrize(
    "call",
    [
        lambda blobs: blobs.get("a"),
        lambda blobs: blobs.size("a"),
        lambda blobs: blobs.open("a"),
        lambda blobs: list(blobs.list("")),
        lambda blobs: blobs.delete(["a"]),
        lambda blobs: blobs.put("a", b""),
    ],
)
def test_what_s3_refuses_is_unavailable(aws: None, s3_blobs: S3Blobs, call: Callable[[BlobStore], object]) -> None:
    elsewhere = S3Blobs(s3_blobs._client, "no-such-bucket")
    with pytest.raises(Unavailable):
        call(elsewhere)


def test_writing_to_s3_takes_little_memory(aws: None, s3_blobs: S3Blobs) -> None:
    """Measured up to the requests: moto, which plays S3 here, keeps what it is sent."""
    sent: list[int] = []
    s3_blobs._client.upload_part = lambda **part: sent.append(len(part["Body"])) or {"ETag": "e"}
    s3_blobs._client.complete_multipart_upload = lambda **_: None
    piece = b"x" * MB
    tracemalloc.start()
    with s3_blobs.writer("a") as writer:
        for _ in range(100):
            writer.write(piece)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert (sum(sent), max(sent)) == (100 * MB, 5 * MB)
    assert peak < 20 * MB
