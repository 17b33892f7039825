"""What a run comes to, worked out one node after another without a store, a join or a bound: the other opinion."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from tests.property.chaos.nodes import Seen, value_of
from tests.property.chaos.workflows import Json, Workflow


@dataclass(frozen=True, slots=True)
class Fate:
    """`NEVER`: the node waits for one that stopped the run. `sees` are the nodes that lead here over live edges."""

    status: Literal["SUCCESS", "SKIPPED", "FAILED", "NEVER"]
    dead: bool = False
    value: int | None = None
    branch: str | None = None
    source: str | None = None
    sees: frozenset[str] = frozenset()


def fates(workflow: Workflow, inputs: Mapping[str, Any], broken: Collection[str]) -> dict[str, Fate]:
    """The fate of every node; those in `broken` fail whatever they do, because the platform gave them up."""
    levels: dict[str, int] = {}
    known: dict[str, Fate] = {}
    by_id = {node["id"]: node for node in workflow.nodes}
    order = list(by_id)
    while len(known) < len(by_id):
        for node_id in order:
            into = [edge for edge in workflow.edges if edge["target"] == node_id]
            if node_id in known or any(edge["source"] not in known for edge in into):
                continue
            levels[node_id] = max((levels[edge["source"]] for edge in into), default=-1) + 1
            live = [edge["source"] for edge in into if _is_live(edge, by_id, known)]
            if any(known[edge["source"]].status in ("FAILED", "NEVER") for edge in into):
                known[node_id] = Fate("NEVER")
            elif into and not live:
                known[node_id] = Fate("SKIPPED", dead=True)
            else:
                source = max(live, key=lambda each: (levels[each], order.index(each)), default=None)
                sees = frozenset(live).union(*(known[each].sees for each in live))
                node = by_id[node_id]
                known[node_id] = _ran(node, workflow, inputs, node_id in broken, source, sees, known)
    return known


def output(workflow: Workflow, known: Mapping[str, Fate]) -> Json:
    """The `data` of the run's output: its output nodes' data, merged in the order of the drawing."""
    data: Json = {}
    for node in workflow.nodes:
        fate = known[node["id"]]
        if node["type"] == "output" and fate.status == "SUCCESS":
            data |= {"value": fate.value, node["id"]: fate.value}
    return data


def _is_live(edge: Json, by_id: Mapping[str, Json], known: Mapping[str, Fate]) -> bool:
    source = known[edge["source"]]
    if source.dead or source.status in ("FAILED", "NEVER"):
        return False
    return by_id[edge["source"]]["type"] != "choice" or bool(edge["sourceHandle"] == source.branch)


def _ran(
    node: Json,
    workflow: Workflow,
    inputs: Mapping[str, Any],
    is_broken: bool,
    source: str | None,
    sees: frozenset[str],
    known: Mapping[str, Fate],
) -> Fate:
    data = node["data"]
    flaky = data.get("flaky", 0) >= data["retry"]["maxAttempts"] if node["type"] == "effect" else False
    if not (data["fails"] or flaky or is_broken):
        value = value_of(node["id"], inputs, _seen(sees, known) if data["reads"] else ())
        return Fate("SUCCESS", value=value, branch=data.get("takes"), source=source, sees=sees)
    if (workflow.fail_strategy or data["failStrategy"]) == "skip":
        return Fate("SKIPPED", branch=data.get("else"), source=source, sees=sees)
    return Fate("FAILED", source=source, sees=sees)


def _seen(sees: frozenset[str], known: Mapping[str, Fate]) -> Iterable[Seen]:
    return [(each, 200 if known[each].status == "SUCCESS" else 400, known[each].value) for each in sees]
