"""The workflows that are measured: chains and 1-8-1 diamonds, of pure nodes, of effects, of models."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

WIDTH = 8

Node = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Workflow:
    """`nodes` is what a figure for each node is divided by: of a workflow with effects, those with an effect."""

    title: str
    definition: dict[str, Any]
    nodes: int

    @property
    def name(self) -> str:
        name: str = self.definition["name"]
        return name


def pure_chain(length: int) -> Workflow:
    """`userInput`, conditions, `output`: `length` nodes in all."""
    middle = [_condition(f"c{number}") for number in range(1, length - 1)]
    return Workflow(f"chain of {length}, pure", _chain(f"bench-pure-{length}", middle), length)


def pure_diamond() -> Workflow:
    middle = [_condition(f"c{number}") for number in range(1, WIDTH + 1)]
    edges = [("in", node["id"], None) for node in middle] + [(node["id"], "out", "yes") for node in middle]
    definition = _definition("bench-pure-diamond", [_INPUT, *middle, _OUTPUT], edges)
    return Workflow(f"1-{WIDTH}-1, pure", definition, WIDTH + 2)


def effect_chain(length: int) -> Workflow:
    """`length` nodes with the least of an effect; each but the first refers to the one before it."""
    middle = [_effect(f"e{number}", number - 1) for number in range(1, length + 1)]
    return Workflow(f"chain of {length}, effects", _chain(f"bench-effect-{length}", middle), length)


def effect_diamond() -> Workflow:
    return _diamond("effects", "bench-effect-diamond", [_effect(f"e{n}", 0) for n in range(1, WIDTH + 3)])


def model_chain(length: int, delays: Sequence[int] = ()) -> Workflow:
    """`length` `llm` nodes whose scripted model answers after its delay (milliseconds, in turn), at once by default."""
    middle = [_model(f"m{n}", delays[(n - 1) % len(delays)] if delays else 0) for n in range(1, length + 1)]
    name = f"bench-model-{length}" + ("-delayed" if delays else "")
    return Workflow(f"chain of {length}, llm", _chain(name, middle), length)


def model_diamond() -> Workflow:
    return _diamond("llm", "bench-model-diamond", [_model(f"m{number}") for number in range(1, WIDTH + 3)])


def streams(writers: int) -> Workflow:
    """`writers` nodes side by side, each of which streams (streaming.py)."""
    middle = [{"id": f"s{n}", "type": "stream", "data": {"label": f"s{n}"}} for n in range(1, writers + 1)]
    edges = [(a, b, None) for node in middle for a, b in (("in", node["id"]), (node["id"], "out"))]
    return Workflow(
        f"{writers} streaming", _definition(f"bench-streams-{writers}", [_INPUT, *middle, _OUTPUT], edges), writers
    )


def asking(questions: int) -> Workflow:
    """An agent that asks so many questions, one after the other, and ends with the last answer."""
    turns = [[{"ask": {"question": f"question {number}?"}}] for number in range(1, questions + 1)]
    data = {"label": "agent", "model": "scripted:inline", "prompt": "{{x}}", "script": [*turns, [{"text": "$answer"}]]}
    middle: list[Node] = [{"id": "agent", "type": "agent", "data": data}]
    return Workflow(f"{questions} questions", _chain(f"bench-asking-{questions}", middle), 1)


def talkative(calls: int) -> Workflow:
    """An agent that calls a tool so many times in one turn: of each call a reader hears five events."""
    plan = {"todo": [{"text": "a part", "status": "pending"}]}
    data = {"label": "agent", "model": "scripted:inline", "prompt": "{{x}}", "tools": ["todo"]}
    middle: list[Node] = [
        {"id": "agent", "type": "agent", "data": data | {"script": [[plan] * calls, [{"text": "done"}]]}}
    ]
    return Workflow(f"{calls} tool calls", _chain(f"bench-talkative-{calls}", middle), 1)


def wandering(visits: int) -> Workflow:
    """AGENTIC: so many visits of two models in turn, each referring to the latest visit of the other."""
    nodes = [_INPUT, _wanderer("search", "{{critique.result}}"), _wanderer("critique", "{{search.result}}"), _OUTPUT]
    turns = [[_decide(("search", "critique")[number % 2])] for number in range(visits)]
    definition = _definition("bench-wandering", nodes, []) | {
        "mode": "AGENTIC",
        "planner": {
            "model": "scripted:inline",
            "script": [*turns, [_decide("out")]],
            "maxVisits": visits,
            "maxVisitsPerNode": visits,
        },
    }
    return Workflow(f"{visits} visits", definition, visits)


def looking_back(visits: int) -> Workflow:
    """A chain in which the visit of `ask` is the last of so many, and `told` is an agent that thinks, calls and plans."""
    middle = [_effect(f"e{number}", number - 1) for number in range(1, visits - 2)]
    rows = [{"text": f"part {number}", "status": "pending"} for number in range(5)]
    turn = [{"thinking": "this has to be thought through, step by step. " * 5}, {"todo": rows}]
    data = {"label": "told", "model": "scripted:inline", "prompt": "{{x}}", "tools": ["todo"]}
    told = {"id": "told", "type": "agent", "data": data | {"script": [*[turn] * 8, [{"text": "an answer " * 50}]]}}
    name = f"bench-looking-back-{visits}"
    return Workflow(f"{visits} visits", _chain(name, [*middle, told, _effect("ask", 0)]), visits)


def ladder() -> Workflow:
    """20 diamonds one after the other, 60 nodes and a million paths, and `ask` at their end."""
    middle = [_effect(f"{kind}{rung}", 0) for rung in range(1, 21) for kind in ("left", "right", "join")]
    edges: list[tuple[str, str, str | None]] = [("in", "left1", None), ("in", "right1", None), ("join20", "ask", None)]
    for rung in range(1, 21):
        edges += [(f"{side}{rung}", f"join{rung}", None) for side in ("left", "right")]
        edges += [(f"join{rung}", f"{side}{rung + 1}", None) for side in ("left", "right") if rung < 20]
    nodes = [_INPUT, *middle, _effect("ask", 0), _OUTPUT]
    return Workflow("ladder", _definition("bench-ladder", nodes, [*edges, ("ask", "out", None)]), len(middle))


_INPUT: Node = {
    "id": "in",
    "type": "userInput",
    "data": {"label": "in", "variables": [{"name": "x", "type": "number", "required": True}]},
}
_OUTPUT: Node = {
    "id": "out",
    "type": "output",
    "data": {"label": "out", "outputs": [{"name": "x", "type": "number"}]},
}


def _condition(node_id: str) -> Node:
    branch = {"id": "yes", "logic": "AND", "conditions": [{"left": "{{x}}", "operator": "gt", "right": "0"}]}
    return {"id": node_id, "type": "condition", "data": {"label": node_id, "branches": [branch], "elseBranch": "no"}}


def _effect(node_id: str, before: int) -> Node:
    text = f"{{{{e{before}.result}}}} {{{{x}}}}" if before else "{{x}}"
    return {"id": node_id, "type": "effect", "data": {"label": node_id, "text": text}}


def _model(node_id: str, delay: int = 0) -> Node:
    wait = [{"delayMs": delay}] if delay else []
    data = {
        "label": node_id,
        "model": "scripted:inline",
        "userPrompt": "{{x}}",
        "script": [[*wait, {"text": "an immediate answer"}]],
    }
    return {"id": node_id, "type": "llm", "data": data}


def _chain(name: str, middle: list[Node]) -> dict[str, Any]:
    nodes = [_INPUT, *middle, _OUTPUT]
    handles = ["yes" if node["type"] == "condition" else None for node in nodes]
    edges = [(a["id"], b["id"], handle) for a, b, handle in zip(nodes, nodes[1:], handles, strict=False)]
    return _definition(name, nodes, edges)


def _diamond(kind: str, name: str, middle: list[Node]) -> Workflow:
    """One, as many as `WIDTH` side by side, and one that joins them."""
    first, *wide, last = (node["id"] for node in middle)
    edges = [("in", first, None), *((first, each, None) for each in wide), *((each, last, None) for each in wide)]
    definition = _definition(name, [_INPUT, *middle, _OUTPUT], [*edges, (last, "out", None)])
    return Workflow(f"1-{WIDTH}-1, {kind}", definition, len(middle))


def _definition(name: str, nodes: list[Node], edges: Sequence[tuple[str, str, str | None]]) -> dict[str, Any]:
    listed = [{"source": source, "target": target, "sourceHandle": handle} for source, target, handle in edges]
    return {"name": name, "mode": "DAG", "graphData": {"nodes": nodes, "edges": listed}}


def _wanderer(node_id: str, prompt: str) -> Node:
    data = {"label": node_id, "model": "scripted:inline", "userPrompt": f"go {prompt}", "script": [[{"text": node_id}]]}
    return {"id": node_id, "type": "llm", "data": data}


def _decide(node_id: str) -> dict[str, Any]:
    return {"decide": {"next": node_id, "reason": "on", "isFinal": node_id == "out"}}
