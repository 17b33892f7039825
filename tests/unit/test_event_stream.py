"""Server-sent events are read as they come, in whatever pieces (contract §5)."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepweave.event_stream import Message, MessageReader, MessageTooLong

BODY = (
    b": hello\n\n"
    b"event: a\nid: 7\ndata: one\ndata: two\n\n"
    b"event: b\r\ndata: \xe2\x80\xa8\xe5\x9b\x9b\r\nretry: 50\r\n\r\n"
    b"\n\n"
    b"data:tight\n\n"
    b"event: cut off\ndata: x\n"
)
MESSAGES = [
    Message(),
    Message("a", 7, "one\ntwo"),
    Message("b", None, "\u2028四", 50),
    Message(data="tight"),
]


@given(st.lists(st.integers(0, len(BODY))))
def test_it_does_not_matter_where_the_pieces_end(cuts: list[int]) -> None:
    places = [0, *sorted(cuts), len(BODY)]
    reader = MessageReader()
    pieces = [BODY[start:end] for start, end in pairwise(places)]
    assert [message for piece in pieces for message in reader.feed(piece)] == MESSAGES


def test_what_is_whole_is_given_before_what_is_too_long_is_refused() -> None:
    reader = MessageReader(20)
    assert reader.feed(b"data: fine\n\ndata: fine\n\ndata: " + b"x" * 30) == [Message(data="fine")] * 2
    with pytest.raises(MessageTooLong):
        reader.feed(b"x")


def test_the_bound_is_of_a_block_however_many_lines_it_has() -> None:
    reader = MessageReader(20)
    with pytest.raises(MessageTooLong):
        reader.feed(b"data: x\n" * 3)
