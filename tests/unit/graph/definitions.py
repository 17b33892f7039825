"""Builders of definitions, and a table of node types small enough to be seen whole."""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from stepweave.errors import GraphInvalid
from stepweave.graph.model import Definition, Node, parse_definition
from stepweave.graph.problem import Problem
from stepweave.graph.spec import Field, NodeSpec
from stepweave.graph.topology import Graph
from stepweave.graph.validation import accept, validate
from stepweave.texts import Text

Json = dict[str, Any]


@dataclass(frozen=True)
class Type:
    """A node type whose data is valid unless it says `broken`; a branching one takes its handles from `branches`."""

    branches: bool = False
    light: bool = True
    chain: str = "flow"

    def problems(self, node: Node) -> list[Problem]:
        return [Problem("BAD_DATA", Text.same("broken"), node.id)] if node.data.get("broken") else []

    def outputs(self, node: Node) -> tuple[Field, ...] | None:
        return node.common.output_fields

    def handles(self, node: Node) -> tuple[str, ...] | None:
        return tuple(node.data.get("branches", ())) if self.branches else None


TYPES: dict[str, NodeSpec] = {"userInput": Type(), "llm": Type(), "condition": Type(branches=True), "output": Type()}


def node(node_id: str, type_: str = "llm", **data: Any) -> Json:
    return {"id": node_id, "type": type_, "data": data}


def edge(source: str, target: str, handle: str | None = None) -> Json:
    return {"source": source, "target": target, "sourceHandle": handle}


def mapped(source: str, name: str = "x") -> Json:
    """An entry of `inputs[]` that takes its value from a node."""
    return {"name": name, "sourceNodeId": source, "sourceField": "data.result"}


def drawing(nodes: list[Json], edges: list[Json], **rest: Any) -> Json:
    return {"name": "drawn", "mode": "DAG", "graphData": {"nodes": nodes, "edges": edges}, **rest}


def agentic(nodes: list[Json], edges: list[Json], **rest: Any) -> Json:
    return drawing(nodes, edges, **{"mode": "AGENTIC", "planner": {"model": "scripted:inline"}, **rest})


def line(*ids: str) -> list[Json]:
    return [edge(source, target) for source, target in pairwise(ids)]


def simple(**rest: Any) -> Json:
    """in → work → out, valid."""
    nodes = [node("in", "userInput"), node("work"), node("out", "output")]
    return drawing(nodes, line("in", "work", "out"), **rest)


def parsed(raw: Json) -> Definition:
    return parse_definition(raw)


def graph_of(raw: Json) -> Graph:
    return Graph.of(parse_definition(raw))


def problems_of(raw: Any) -> list[Problem]:
    """What is told to a client that sends `raw`."""
    try:
        accept(raw, TYPES.get)
    except GraphInvalid as invalid:
        return list(invalid.problems)
    return []


def found(raw: Any) -> set[tuple[str, str | None]]:
    """Code and node of each problem."""
    return {(problem.code, problem.node_id) for problem in problems_of(raw)}


def validated(raw: Json) -> list[Problem]:
    return validate(parse_definition(raw), TYPES.get)
