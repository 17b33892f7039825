"""Random AGENTIC workflows: several inputs and outputs, edges as hints that may go round, small limits, off-canvas."""

from random import Random
from typing import Any

from tests.property.chaos.workflows import Workflow, random_edge, random_node


def palette(chance: Random) -> Workflow:
    """The planner's `instructions` are the seed by which `planners` decides."""
    failing = chance.choice([0, 0, 0, 0.15])
    inputs, outputs = chance.choice([1, 1, 1, 2, 4]), chance.choice([1, 1, 2, 3])
    types = ["userInput"] * inputs + ["output"] * outputs
    types += chance.choices(["effect", "effect", "light", "choice"], k=chance.choice([1, 2, 3, 4, 6, 10]))
    chance.shuffle(types)
    names = [f"n{number}" for number in range(len(types))]
    nodes = [
        random_node(chance, name, type_name, 0 if type_name == "userInput" else failing)
        for name, type_name in zip(names, types, strict=True)
    ]
    edges = [
        random_edge(chance, names[source], names[target], types[source])
        for source in range(len(names))
        for target in range(len(names))
        if source != target and chance.random() < 0.15
    ]
    planner: dict[str, Any] = {
        "model": "chance",
        "instructions": str(chance.random()),
        "maxVisits": chance.choice([4, 200, 200, 200]),
        "maxVisitsPerNode": chance.choice([2, 4, 50, 50]),
        "allowOffCanvas": chance.random() < 0.4,
    }
    definition = {
        "name": "chaos",
        "mode": "AGENTIC",
        "graphData": {"nodes": nodes, "edges": edges},
        "planner": planner,
    }
    return Workflow(definition, chance.choice([None, None, "skip", "skip", "abort"]))
