"""Server-sent events: read from bytes however they are cut."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from stepweave_local.stream import Message, read_messages

BODY = (
    b":keep-alive\n\n"
    b"retry: 200\n\n"
    b"event: node_stream\r\nid: 1\r\ndata: {}\r\n\r\n"
    b"event: x\nid: 2\ndata: a\ndata: b\n\n"
    b"id: 3\ndata:\xe2\x80\xa8\xc2\x85\n\n"
    b"event: cut\nid: 4\ndata: {"
)
MESSAGES = [
    Message(),
    Message(retry_ms=200),
    Message("node_stream", 1, "{}"),
    Message("x", 2, "a\nb"),
    Message("", 3, "\u2028\x85"),
]


@given(st.lists(st.integers(0, len(BODY))))
def test_a_body_reads_the_same_however_it_is_cut_into_chunks(places: list[int]) -> None:
    cuts = [0, *sorted(places), len(BODY)]
    chunks = [BODY[start:end] for start, end in pairwise(cuts)]
    assert list(read_messages(chunks)) == MESSAGES


def test_an_id_that_is_no_number_is_none() -> None:
    assert list(read_messages([b"id: x\ndata: 1\n\n"])) == [Message(data="1")]
