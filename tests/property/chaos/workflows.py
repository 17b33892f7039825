"""Random workflows: several roots and sinks, chains, wide fans, branches, two edges between the same two nodes."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from random import Random
from typing import Any, Literal

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Workflow:
    """`definition` is that of contract §2 but for the node types, which are those of `nodes.py`."""

    definition: Json
    fail_strategy: Literal["abort", "skip"] | None
    calls_back: bool = False

    @property
    def is_agentic(self) -> bool:
        return bool(self.definition["mode"] == "AGENTIC")

    @property
    def nodes(self) -> list[Json]:
        nodes: list[Json] = self.definition["graphData"]["nodes"]
        return nodes

    @property
    def edges(self) -> list[Json]:
        edges: list[Json] = self.definition["graphData"]["edges"]
        return edges


def workflow(chance: Random) -> Workflow:
    count = chance.choice([*range(3, 13), *range(3, 13), *range(13, 31)])
    failing = chance.choice([0, 0, 0.12])
    roots = min(chance.choice([1, 1, 1, 2, 3]), count - 1)
    names = [f"n{number}" for number in range(count)]
    nodes = [random_node(chance, name, "userInput", 0) for name in names[:roots]]
    nodes += [random_node(chance, name, _type(chance), failing) for name in names[roots:]]
    shape = chance.random()
    if shape < 0.15:
        between = names[roots:-1] or names[1:roots]
        pairs = [(names[0], name) for name in between if name not in names[:roots]]
        pairs += [(name, names[-1]) for name in between] or [(names[0], names[-1])]
    elif shape < 0.25:
        pairs = list(pairwise(names))[roots - 1 :]
    else:
        pairs = [
            (source, names[target])
            for target in range(roots, count)
            for source in chance.sample(names[:target], min(target, chance.choice([1, 1, 1, 2, 3])))
        ]
    types = {node["id"]: node["type"] for node in nodes}
    pairs += [pair for pair in pairs if chance.random() < (0.2 if types[pair[0]] == "choice" else 0.02)]
    edges = [random_edge(chance, source, target, types[source]) for source, target in pairs]
    if chance.random() < 0.7:
        _end_in_outputs(nodes, edges)
    chance.shuffle(nodes)
    chance.shuffle(edges)
    definition = {"name": "chaos", "mode": "DAG", "graphData": {"nodes": nodes, "edges": edges}}
    return Workflow(definition, chance.choice([None, None, "skip", "skip", "abort"]))


def _type(chance: Random) -> str:
    return chance.choice(["effect", "effect", "light", "choice"])


def random_node(chance: Random, name: str, type_name: str, failing: float) -> Json:
    data: Json = {
        "label": name,
        "failStrategy": chance.choice(["abort", "skip"]),
        "reads": chance.random() < 0.7,
        "fails": chance.random() < failing,
    }
    if type_name == "choice":
        data |= {"branches": ["a", "b"], "takes": chance.choice(["a", "b", None]), "else": chance.choice(["b", None])}
    if type_name == "effect":
        script = ["say"] * chance.choice([0, 0, 1, 3, 5])
        for act in chance.choices(["ask", "save"], k=chance.choice([0, 0, 0, 1, 2])):
            script.insert(chance.randint(0, len(script)), act)
        flaky = chance.choice([0, 0, 0, 0, 1, 2]) if set(script) <= {"say"} else 0
        data |= {"script": script, "flaky": flaky}
        data |= {"retry": {"maxAttempts": chance.choice([2, 3]), "backoffSeconds": chance.choice([0, 1, 3])}}
    return {"id": name, "type": type_name, "data": data}


def random_edge(chance: Random, source: str, target: str, source_type: str) -> Json:
    handle = chance.choice(["a", "b"]) if source_type == "choice" else None
    return {"source": source, "target": target, "sourceHandle": handle}


def _end_in_outputs(nodes: list[Json], edges: Iterable[Json]) -> None:
    sources = {edge["source"] for edge in edges}
    for node in nodes:
        if node["id"] not in sources and node["type"] != "userInput":
            node["type"] = "output"
            node["data"].pop("script", None)
