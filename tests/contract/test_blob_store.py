"""What every `BlobStore` keeps (ports.py), on memory and on S3."""

from stepweave.ports import BlobStore


def test_a_blob_comes_back_as_it_was_put(blobs: BlobStore) -> None:
    blobs.put("runs/1/报告 🚀.txt", b"\x00\xffcontent")
    assert blobs.get("runs/1/报告 🚀.txt") == b"\x00\xffcontent"


def test_a_missing_blob_is_none(blobs: BlobStore) -> None:
    assert blobs.get("runs/1/nothing") is None


def test_names_under_a_prefix_are_listed_with_their_sizes(blobs: BlobStore) -> None:
    for name, size in (("runs/1/b", 2), ("runs/1/a", 1), ("runs/10/c", 3)):
        blobs.put(name, b"x" * size)
    assert list(blobs.list("runs/1/")) == [("runs/1/a", 1), ("runs/1/b", 2)]


def test_deleting_takes_what_is_named_and_nothing_else(blobs: BlobStore) -> None:
    for name in ("a", "b", "c"):
        blobs.put(name, b"")
    blobs.delete(["a", "c", "unknown"])
    assert [name for name, _ in blobs.list("")] == ["b"]
    blobs.delete([])
