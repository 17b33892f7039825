"""What must hold of the deltas of a run: no attempt mixed with another, none lost, none twice (protocol rule S)."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from stepweave.execution.visit import Visit, VisitBody
from stepweave.services.event_log import Event
from tests.property.chaos.workflows import Workflow


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
    workflow: Workflow, events: list[Event], visits: Mapping[str, Visit], bodies: Mapping[str, VisitBody]
) -> Iterator[str]:
    scripts = {node["id"]: node["data"].get("script", []) for node in workflow.nodes}
    streams: dict[str, list[Piece]] = {}
    retries: Counter[str] = Counter()
    ended: set[str] = set()
    for event in events:
        if event.type == "node_status" and event.data["status"] != "RUNNING":
            ended.add(event.data["nodeId"])
        if event.type != "node_stream":
            continue
        node_id, kind = event.data["nodeId"], event.data["kind"]
        if node_id in ended:
            yield f"{node_id} streams after its end"
        if kind == "status":
            retries[node_id] += 1
        elif kind in ("thinking", "tool_progress"):
            streams.setdefault(node_id, []).extend(pieces(event.data["content"]))
    for node_id, stream in streams.items():
        yield from _mixed(node_id, stream, scripts[node_id])
    for node_id, visit in visits.items():
        if retries[node_id] < visit.tries:
            yield f"{node_id} was tried again without a word"
        if node_id in bodies:
            yield from _untrue_trace(visit, streams.get(node_id, []), bodies[node_id], scripts[node_id])


def _mixed(node_id: str, stream: list[Piece], script: list[str]) -> Iterator[str]:
    """Runs follow each other, each without a hole from where a run may begin; attempts never go back."""
    says = [place for place, act in enumerate(script) if act == "say"]
    before: set[int] = set()
    last: Piece | None = None
    for piece in stream:
        if piece.node_id != node_id:
            yield f"{node_id} streams what {piece.node_id} said"
        if last is not None and piece.run == last.run:
            if piece.place != last.place + 1:
                yield f"{node_id} streams {last} and then {piece}"
        elif piece.run in before or (last is not None and piece.attempt < last.attempt):
            yield f"deltas of {node_id} are mixed: {last}, then {piece}"
        elif piece.place not in says or (piece.place and script[piece.place - 1] == "say"):
            yield f"{node_id} lost what came before {piece}"
        before.add(piece.run)
        last = piece


def _untrue_trace(visit: Visit, stream: list[Piece], body: VisitBody, script: list[str]) -> Iterator[str]:
    """What the trace tells was streamed, in that order (contract §5); what lost runs streamed comes between."""
    told = pieces(body.output.get("trace", {}).get("thinking", ""))
    rest = iter(stream)
    if not all(piece in rest for piece in told):
        yield f"the trace of {visit.node_id} has {told}, streamed were {stream}"
    says = [place for place, act in enumerate(script) if act == "say"]
    if visit.status == "SUCCESS" and [piece.place for piece in told] != says * (visit.tries + 1):
        yield f"the trace of {visit.node_id} has {told} of {says}, {visit.tries + 1} times"
