"""What must hold of the deltas of a run: no attempt mixed with another, none lost, none twice (protocol rule S)."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from stepweave.execution.visit import Visit, VisitBody
from stepweave.services.event_log import Event


class Piece(NamedTuple):
    """`run` is which of the node's runs streamed it, `place` where in that run, `attempt` the invocation it was."""

    node_id: str
    attempt: int
    run: int
    place: int


def pieces(content: str) -> list[Piece]:
    told = (part.split() for part in content.split(";") if part and part != "nothing")
    return [Piece(node_id, int(attempt), int(run), int(place)) for node_id, attempt, run, place in told]


def stream_faults(
    events: list[Event], visits: Mapping[str, Visit], bodies: Mapping[str, VisitBody]
) -> Iterator[str]:
    streams: dict[str, list[Piece]] = {}
    retries: dict[str, int] = {}
    ended: set[str] = set()
    for event in events:
        if event.type == "node_status" and event.data["status"] != "RUNNING":
            ended.add(event.data["nodeId"])
        if event.type != "node_stream":
            continue
        node_id = event.data["nodeId"]
        if node_id in ended:
            yield f"{node_id} streams after its end"
        if event.data["kind"] == "status":
            retries[node_id] = retries.get(node_id, 0) + 1
        else:
            streams.setdefault(node_id, []).extend(pieces(event.data["content"]))
    for node_id, stream in streams.items():
        yield from _mixed(node_id, stream)
    for node_id, body in bodies.items():
        yield from _untrue_trace(node_id, streams.get(node_id, []), body)
    for node_id, visit in visits.items():
        if retries.get(node_id, 0) < visit.tries:
            yield f"{node_id} was tried again without a word"


def _mixed(node_id: str, stream: list[Piece]) -> Iterator[str]:
    """Runs follow each other, each from its beginning and without a hole; attempts never go back."""
    finished: set[int] = set()
    last: Piece | None = None
    for piece in stream:
        if piece.node_id != node_id:
            yield f"{node_id} streams what {piece.node_id} said"
        if last is not None and piece.run == last.run:
            if piece.place != last.place + 1:
                yield f"{node_id} streams {last} and then {piece}"
        else:
            if last is not None:
                finished.add(last.run)
                if piece.attempt < last.attempt:
                    yield f"{node_id} goes back from {last} to {piece}"
            if piece.run in finished or piece.place != 0:
                yield f"deltas of {node_id} are mixed: {last}, {piece}"
        last = piece


def _untrue_trace(node_id: str, stream: list[Piece], body: VisitBody) -> Iterator[str]:
    """What the trace tells was streamed, whole and in that order (contract §5): runs that were lost come between."""
    told = pieces(body.output.get("trace", {}).get("thinking", ""))
    counted = {piece.run for piece in told}
    if told != [piece for piece in stream if piece.run in counted]:
        yield f"the trace of {node_id} has {told}, streamed were {stream}"
