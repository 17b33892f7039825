"""Values of any size through items of bounded size (store/documents.py), on both object stores."""

import pytest

from stepweave.errors import Unavailable
from stepweave.ports import BlobStore
from stepweave.store.documents import INLINE_BYTES, Documents


@pytest.mark.parametrize("size", [0, 10, INLINE_BYTES // 3 - 20, INLINE_BYTES, 1_000_000])
def test_a_value_comes_back_whatever_its_size(blobs: BlobStore, size: int) -> None:
    value = {"text": "好" * size, "list": [1, None, 2.5]}
    document = Documents(blobs).pack("runs/1/value.json", value)
    assert Documents(blobs).unpack(document.attributes) == value
    assert document.weight <= INLINE_BYTES
    assert bool(list(blobs.list(""))) == (size > INLINE_BYTES // 3)


@pytest.mark.parametrize("size", [1, 200_000])
def test_half_a_surrogate_pair_is_kept(blobs: BlobStore, size: int) -> None:
    """JSON from outside may hold one; it must pass through a run like any other text."""
    value = {"text": "\ud83d" * size}
    document = Documents(blobs).pack("runs/1/value.json", value)
    assert Documents(blobs).unpack(document.attributes) == value


def test_two_writers_that_race_for_one_place_do_not_overwrite_each_other(blobs: BlobStore) -> None:
    """Only one of them will commit, and which one is not known when they write."""
    texts = ["a" * INLINE_BYTES, "b" * INLINE_BYTES]
    documents = [Documents(blobs).pack("runs/1/value.json", text) for text in texts]
    assert [Documents(blobs).unpack(document.attributes) for document in documents] == texts


def test_a_value_that_is_gone_is_told(blobs: BlobStore) -> None:
    with pytest.raises(Unavailable, match=r"runs/1/gone\.json"):
        Documents(blobs).unpack({"blob": "runs/1/gone.json"})
