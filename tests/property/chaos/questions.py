"""What must hold of questions to people (protocol rule A): asked once, answered once, gone on from with that answer."""

from collections.abc import Iterator, Mapping

from stepweave.execution.visit import Visit, VisitBody
from stepweave.items import Item
from stepweave.services.event_log import Event
from tests.property.chaos.workflows import Workflow


def question_faults(
    workflow: Workflow,
    stored: Mapping[str, Item],
    accepted: Mapping[str, list[str]],
    events: list[Event],
    visits: Mapping[str, Visit],
    bodies: Mapping[str, VisitBody],
) -> Iterator[str]:
    """`stored` are the questions as the store has them, `accepted` the answers that were taken, both by `clarifyId`."""
    asked: dict[str, list[str]] = {}
    answered: dict[str, list[str]] = {}
    for event in events:
        if event.type == "node_stream" and event.data["kind"] == "clarify_request":
            asked.setdefault(event.data["nodeId"], []).append(event.data["data"]["question"])
        if event.type == "node_stream" and event.data["kind"] == "tool_result":
            answered.setdefault(event.data["nodeId"], []).append(event.data["content"])
    if sum(map(len, asked.values())) != len(stored):
        yield f"{len(stored)} questions are stored, told are {asked}"
    for clarify_id, item in stored.items():
        if item["status"] == "OPEN":
            yield f"question {clarify_id} is left open"
        if len(accepted.get(clarify_id, [])) > 1:
            yield f"question {clarify_id} took the answers {accepted[clarify_id]}"
    for node in workflow.nodes:
        node_id = node["id"]
        places = [place for place, act in enumerate(node["data"].get("script", [])) if act == "ask"]
        told = asked.get(node_id, [])
        if told != [f"{node_id} at {place}" for place in places][: len(told)]:
            yield f"{node_id} asked {told}"
        if len(answered.get(node_id, [])) > len(told):
            yield f"{node_id} was told {answered[node_id]} for {told}"
        body = bodies.get(node_id)
        if body is None or visits[node_id].status != "SUCCESS" or not places:
            continue
        kept = [body.variables[str(place)] for place in places]
        if kept != answered.get(node_id, []):
            yield f"{node_id} went on with {kept}, told were {answered.get(node_id)}"
        for clarify_id, answers in accepted.items():
            if stored[clarify_id]["nodeId"] == node_id and not set(answers) <= set(kept):
                yield f"{node_id} went on with {kept}, accepted were {answers}"
