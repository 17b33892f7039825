"""Resolving and rendering a prompt with 20 references over 50 predecessors, beside Jinja2 with the values given."""

import itertools
from collections.abc import Mapping
from typing import Any

import jinja2
from measuring import Contestant, median_ms, take_turns
from node_types import specs
from report import Column, Goal, Section

from stepweave.execution.envelope import success
from stepweave.execution.view import View
from stepweave.execution.visit import VisitBody
from stepweave.graph.model import parse_definition
from stepweave.graph.topology import Graph
from stepweave.nodes.inputs import Inputs

PREDECESSORS, REFERENCES = 50, 20
LIMIT_MS = 2.0
_EACH = 50
"""Renderings in one turn: one alone is near the clock's own step."""


def measure(turns: int) -> Section:
    graph, bodies = _graph()
    node = graph.nodes["prompt"]
    reach = graph.ancestors_mask("prompt")
    values = _values(bodies)
    compiled = jinja2.Environment(autoescape=False).from_string(node.data["text"])
    expected = compiled.render(values)

    def ours() -> str:
        inputs = Inputs.of(node, View(graph, specs, {"topic": "tea"}, reach, bodies.get, files=(), flat=False))
        return inputs.render(node.data["text"])

    def compile_and_render() -> str:
        return jinja2.Environment(autoescape=False).from_string(node.data["text"]).render(values)

    assert ours() == expected, "both render the same text"
    contestants = {"ours": ours, "jinja2": lambda: compiled.render(values), "jinja2_whole": compile_and_render}
    times = take_turns({name: Contestant(_repeated(call)) for name, call in contestants.items()}, turns)
    took = {name: median_ms(each.cpu, _EACH) for name, each in times.items()}
    return Section(
        "prompt",
        f"A prompt with {REFERENCES} references over {PREDECESSORS} predecessors, ms of CPU",
        [
            Column("what", "", "text"),
            Column("ratio", "to Jinja2", "ratio"),
            Column("ours", "stepweave"),
            Column("jinja2", "Jinja2"),
        ],
        rows=[
            {"what": "template compiled before", "ratio": took["ours"] / took["jinja2"]}
            | {"ours": took["ours"], "jinja2": took["jinja2"]},
            {"what": "template compiled each time", "ratio": took["ours"] / took["jinja2_whole"]}
            | {"ours": took["ours"], "jinja2": took["jinja2_whole"]},
        ],
        goals=[Goal("resolving and rendering", took["ours"], LIMIT_MS, " ms of CPU")],
        notes=[
            "stepweave finds each value among the predecessors and parses the template; Jinja2 is given the values."
        ],
    )


def _repeated(call: Any) -> Any:
    def run() -> None:
        for _ in range(_EACH):
            call()

    return run


def _graph() -> tuple[Graph, dict[str, VisitBody]]:
    """A chain of nodes with two variables each, and the node with the prompt at its end."""
    start = {"id": "in", "type": "userInput", "data": {"label": "in", "variables": [{"name": "topic"}]}}
    names = [f"n{number}" for number in range(1, PREDECESSORS)]
    nodes = [start, *(_node(number, name) for number, name in enumerate(names, 1))]
    ids = ["in", *names, "prompt"]
    nodes.append({"id": "prompt", "type": "effect", "data": {"label": "prompt", "text": _prompt()}})
    edges = [{"source": a, "target": b, "sourceHandle": None} for a, b in itertools.pairwise(ids)]
    definition = {"name": "bench-prompt", "mode": "DAG", "graphData": {"nodes": nodes, "edges": edges}}
    bodies = {name: VisitBody({}, success("", _data(number))) for number, name in enumerate(names, 1)}
    bodies["in"] = VisitBody({}, success("", {"topic": "tea"}))
    return Graph.of(parse_definition(definition)), bodies


def _node(number: int, name: str) -> dict[str, Any]:
    outputs = [{"name": f"text_{number}", "type": "string"}, {"name": f"data_{number}", "type": "object"}]
    return {"id": name, "type": "llm", "data": {"label": name, "model": "scripted:inline", "outputs": outputs}}


def _data(number: int) -> dict[str, Any]:
    return {f"text_{number}": f"answer {number} " * 20, f"data_{number}": {"title": f"title {number}", "size": number}}


def _prompt() -> str:
    """Plain names, fields of nodes and paths into values, near and far."""
    plain = [f"{{{{text_{number}}}}}" for number in range(1, PREDECESSORS, 6)]
    fields = [f"{{{{n{number}.text_{number}}}}}" for number in range(3, PREDECESSORS, 10)]
    paths = [f"{{{{data_{number}.title}}}}" for number in range(5, PREDECESSORS, 9)]
    references = ["{{topic}}", *plain, *fields, *paths]
    assert len(references) == REFERENCES, "the prompt has its references"
    return "\n".join(f"Part {place}: {reference}" for place, reference in enumerate(references, 1))


def _values(bodies: Mapping[str, VisitBody]) -> dict[str, Any]:
    values: dict[str, Any] = {"topic": "tea"}
    for name, body in bodies.items():
        values |= body.output["data"]
        values[name] = body.output["data"]
    return values
