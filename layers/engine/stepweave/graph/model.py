"""A workflow definition as people save it (contract §2). Nothing here knows what a node type does."""

from functools import cached_property
from typing import Any, Literal

from pydantic import Field

from stepweave.graph import shape
from stepweave.graph.edge import Edge
from stepweave.graph.json_value import copy_json
from stepweave.graph.locating import locate, too_many
from stepweave.graph.node_data import Common
from stepweave.graph.problem import Problem, graph_invalid
from stepweave.graph.shape import JsonModel
from stepweave.texts import Text

USER_INPUT = "userInput"
OUTPUT = "output"

Mode = Literal["DAG", "AGENTIC"]


class Node(JsonModel):
    """One node of the canvas. `data` stays a plain dict: its meaning belongs to the node type.

    Unknown fields (`position` and whatever an editor adds) are kept and given back unchanged.
    """

    id: str
    type: str = ""  # a node without a type parses, so that everything else about it can be told; validation refuses it
    data: dict[str, Any] = Field(default_factory=dict)

    @cached_property
    def common(self) -> Common:
        """The typed common data. In a definition that validation refuses, faulty parts stand at their defaults."""
        return self.common_faults[0]

    @cached_property
    def common_faults(self) -> tuple[Common, tuple[shape.Fault, ...]]:
        """The common data and what is wrong with it, with paths below `data`."""
        common, faults = shape.read(Common, self.data)
        return common or Common(), tuple(faults)

    @property
    def label(self) -> str:
        """What people call the node; its id where they gave it no label."""
        return self.common.label or self.id


class EdgeModel(JsonModel):
    """One edge of the canvas; `Definition.edges` gives them as values of the domain."""

    source: str
    target: str
    source_handle: str | None = None


class GraphData(JsonModel):
    nodes: list[Node] = Field(default_factory=list)
    edges: list[EdgeModel] = Field(default_factory=list)


class Planner(JsonModel):
    """Who decides in an AGENTIC workflow. `max_steps` bounds the requests to the model for one decision. `script` is played by the scripted model (contract §8).

    A `model` that is missing is refused by validation, not here, so that the rest is told too.
    """

    model: str = ""
    instructions: str | None = None
    max_visits: int = Field(default=200, ge=1, le=10_000)
    max_visits_per_node: int = Field(default=50, ge=1, le=10_000)
    max_steps: int = Field(default=20, ge=1, le=1000)
    allow_off_canvas: bool = False
    script: list[Any] | None = None


class Definition(JsonModel):
    """A whole workflow. A `name` that is missing is refused by validation, not here, so that the rest is told too."""

    name: str = ""
    title: str | None = None
    description: str | None = None
    mode: Mode = "DAG"
    graph_data: GraphData = Field(default_factory=GraphData)
    planner: Planner | None = None

    @property
    def nodes(self) -> list[Node]:
        """In the order of `graphData.nodes`, which decides between equals everywhere (contract §2, §3)."""
        return self.graph_data.nodes

    @cached_property
    def edges(self) -> tuple[Edge, ...]:
        """In the order of `graphData.edges`; an empty handle, as editors write it, is none."""
        return tuple(
            Edge(index, edge.source, edge.target, edge.source_handle or None)
            for index, edge in enumerate(self.graph_data.edges)
        )

    def to_json(self) -> dict[str, Any]:
        """The definition as it was parsed: no default filled in, no unknown field lost."""
        return self.model_dump(by_alias=True, exclude_unset=True)


def parse_definition(raw: Any) -> Definition:
    """The definition, if it has the shape of one; whether it makes sense is for `validation` to say.

    Raises `GraphInvalid` with every fault of shape, and nothing else whatever `raw` is.
    """
    definition, problems = read_definition(raw)
    if definition is None or problems:
        raise graph_invalid(problems)
    return definition


def read_definition(raw: Any) -> tuple[Definition | None, list[Problem]]:
    """Every fault of shape, and what remains of the definition without the faulty parts, for further checks.

    None when it cannot be looked into any further: it is no object, or too large.
    """
    value, faults = copy_json(raw)
    if not isinstance(value, dict):
        text = Text("工作流定义必须是 JSON 对象", "a workflow definition must be a JSON object")
        return None, [Problem("BAD_DEFINITION", text)]
    too_large = [fault for fault in faults if fault.code == "TOO_LARGE"] + too_many(value)
    if too_large:
        return None, [locate(fault, value) for fault in too_large]
    definition, misshapen = shape.read(Definition, value)
    return definition, [locate(fault, value) for fault in faults + misshapen]
