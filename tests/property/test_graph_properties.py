"""The graph against plain restatements of its rules that are slow and short (contract §2, §3)."""

import copy
import json
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from stepweave.graph.model import parse_definition
from stepweave.graph.topology import Graph
from tests.unit.graph.definitions import Json, drawing, edge, graph_of, line, mapped, node, problems_of

KINDS = ["userInput", "llm", "condition", "output"]
HANDLES = [None, "", "yes", "no", "maybe"]
GONE = "gone"


# ------------------------------------------------------------------------------------------------------- strategies


@st.composite
def dags(draw: st.DrawFn) -> Json:
    """Any DAG: edges lead from a lower to a higher rank, the drawing lists the nodes in any order."""
    ranked = [f"n{rank}" for rank in range(draw(st.integers(0, 8)))]
    pairs = [(a, b) for place, a in enumerate(ranked) for b in ranked[place + 1 :]]
    edges = draw(st.lists(st.sampled_from(pairs), max_size=16)) if pairs else []
    nodes = [node(node_id, draw(st.sampled_from(KINDS))) for node_id in draw(st.permutations(ranked))]
    return drawing(nodes, [edge(*pair) for pair in edges])


@st.composite
def drawings(draw: st.DrawFn) -> Json:
    """Anything of the right shape: cycles, loops, double ids, missing ends, handles and mappings of all kinds."""
    ids = [f"n{number}" for number in range(draw(st.integers(1, 6)))]
    named = draw(st.lists(st.sampled_from(ids), max_size=7))
    nodes = []
    for node_id in named:
        sources = draw(st.lists(st.sampled_from([*ids, GONE]), max_size=2, unique=True))
        inputs = [mapped(source, f"x{place}") for place, source in enumerate(sources)]
        data: Json = {"branches": ["yes", "no"], "inputs": inputs, "broken": draw(st.booleans())}
        nodes.append(node(node_id, draw(st.sampled_from([*KINDS, "robot"])), **data))
    ends = st.sampled_from([*ids, GONE])
    edges = [edge(*parts) for parts in draw(st.lists(st.tuples(ends, ends, st.sampled_from(HANDLES)), max_size=10))]
    mode = draw(st.sampled_from(["DAG", "AGENTIC"]))
    planner = draw(st.sampled_from([None, {"model": "m"}]))
    return drawing(nodes, edges, mode=mode, planner=planner, name=draw(st.sampled_from(["good", "Bad", "runs"])))


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.sampled_from(["\ud800", "n0", 10**400]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=20,
)


# -------------------------------------------------------------------------------------------------------- reference


@dataclass
class Reference:
    """Reachability by Warshall's algorithm, straight from the drawing."""

    raw: Json

    def __post_init__(self) -> None:
        graph_data = self.raw["graphData"]
        self.types: dict[str, str] = {}
        for each in graph_data["nodes"]:
            self.types.setdefault(each["id"], each["type"])
        self.pairs = {
            (each["source"], each["target"])
            for each in graph_data["edges"]
            if each["source"] in self.types and each["target"] in self.types
        }
        self.leads = set(self.pairs)
        for middle in self.types:
            self.leads |= {(a, b) for a in self.types for b in self.types if {(a, middle), (middle, b)} <= self.leads}

    def above(self, node_id: str) -> set[str]:
        return {source for source, target in self.leads if target == node_id}

    def level(self, node_id: str) -> int:
        """DAG only."""
        return max((1 + self.level(source) for source, target in self.pairs if target == node_id), default=0)

    def cycles(self) -> set[frozenset[str]]:
        together = {frozenset(b for b in self.types if b == a or {(a, b), (b, a)} <= self.leads) for a in self.types}
        return {members for members in together if len(members) > 1}

    def of_type(self, kind: str) -> set[str]:
        return {node_id for node_id, each in self.types.items() if each == kind}

    def is_joined_with_a_node_between(self, output: str) -> bool:
        """Every way without a repetition, tried one after another."""

        def ways(way: list[str]) -> bool:
            if way[-1] == output:
                return len(way) > 2
            return any(ways([*way, b]) for a, b in self.pairs if a == way[-1] and b not in way)

        return any(ways([start]) for start in self.of_type("userInput") if start != output)


def expected(raw: Json) -> Counter[tuple[str, str | None]]:
    """Code and node of every problem of a drawing of the right shape."""
    reference, graph_data = Reference(raw), raw["graphData"]
    found: list[tuple[str, str | None]] = []
    found += (
        [{"Bad": ("BAD_NAME", None), "runs": ("RESERVED_NAME", None)}[raw["name"]]] if raw["name"] != "good" else []
    )
    if raw["mode"] == "DAG":
        found += [("PLANNER_NOT_ALLOWED", None)] if raw["planner"] else []
        found += [
            ("UNREACHABLE", n)
            for n in reference.types
            if not ({n} | reference.above(n)) & reference.of_type("userInput")
        ]
        ends = reference.of_type("output")
        found += [
            ("NO_WAY_OUT", n)
            for n in reference.types
            if n not in ends and not any((n, e) in reference.leads for e in ends)
        ]
        in_cycles = frozenset[str]().union(*reference.cycles())
        found += [
            ("NO_NODE_BETWEEN", n)
            for n in ends - in_cycles
            if reference.above(n) & reference.of_type("userInput") and not reference.is_joined_with_a_node_between(n)
        ]
    else:
        found += [] if raw["planner"] else [("BAD_PLANNER", None)]
    present = {each["type"] for each in graph_data["nodes"]}
    found += [("NO_INPUT", None)] if "userInput" not in present else []
    found += [("NO_OUTPUT", None)] if "output" not in present else []
    ids = [each["id"] for each in graph_data["nodes"]]
    found += [("DUPLICATE_ID", n) for n in set(ids) if ids.count(n) > 1]
    for each in graph_data["nodes"]:
        n = each["id"]
        if each["type"] == "robot":
            found.append(("UNKNOWN_TYPE", n))
        elif each["data"]["broken"]:
            found.append(("BAD_DATA", n))
        for declared in each["data"]["inputs"]:
            source = declared["sourceNodeId"]
            if source not in reference.types:
                found.append(("MAPPING_UNKNOWN_NODE", n))
            elif not _can_run_before(source, n, raw["mode"], reference, ids):
                found.append(("MAPPING_NOT_BEFORE", n))
    for each in graph_data["edges"]:
        source, target, handle = each["source"], each["target"], each["sourceHandle"]
        found += [("UNKNOWN_NODE", None)] * len({source, target} - set(ids))
        found += [("SELF_LOOP", source)] if source == target else []
        if reference.types.get(source) == "condition" and handle not in {"yes", "no"}:
            found.append(("HANDLE_UNKNOWN" if handle else "HANDLE_MISSING", source))
    return Counter(found)


def _can_run_before(source: str, reader: str, mode: str, reference: Reference, ids: list[str]) -> bool:
    if mode == "DAG":
        return source != reader and (source, reader) in reference.leads
    if reference.types[reader] != "userInput":
        return True
    return reference.types[source] == "userInput" and ids.index(source) < ids.index(reader)


# --------------------------------------------------------------------------------------------------------- topology


@given(dags())
def test_the_topology_of_any_dag_is_that_of_the_reference(raw: Json) -> None:
    graph, reference = graph_of(raw), Reference(raw)
    for node_id in graph.nodes:
        assert graph.ancestors(node_id) == reference.above(node_id)
        assert graph.levels[node_id] == reference.level(node_id)
    assert graph.cycles == ()
    assert set(graph.sinks) == set(reference.types) - {source for source, _ in reference.pairs}
    assert set(graph.roots) == reference.of_type("userInput") - {target for _, target in reference.pairs}


@given(dags())
def test_orders_go_against_every_edge_and_equals_stand_later_first(raw: Json) -> None:
    graph = graph_of(raw)
    order = graph.reverse_topological()
    assert sorted(order) == sorted(graph.nodes)
    assert all(order.index(each.target) < order.index(each.source) for each in graph.edges)
    for nearer, farther in pairwise(order):
        assert (graph.levels[nearer], graph.order[nearer]) > (graph.levels[farther], graph.order[farther])


@given(drawings())
def test_ancestors_masks_and_cycles_hold_for_any_drawing(raw: Json) -> None:
    graph, reference = graph_of(raw), Reference(raw)
    for node_id in graph.nodes:
        assert graph.ancestors(node_id) == reference.above(node_id)
        bits = graph.ancestors_mask(node_id)
        assert {other for other, place in graph.order.items() if bits >> place & 1} == reference.above(node_id)
    assert {frozenset(members) for members in graph.cycles} == reference.cycles()


@given(drawings())
def test_each_edge_between_nodes_is_listed_once_at_both_ends_under_its_index(raw: Json) -> None:
    graph = graph_of(raw)
    at_targets = sorted(each.index for node_id in graph.nodes for each in graph.incoming(node_id))
    at_sources = sorted(each.index for node_id in graph.nodes for each in graph.outgoing(node_id))
    assert at_targets == at_sources == [each.index for each in graph.edges]
    for each in graph.edges:
        drawn = raw["graphData"]["edges"][each.index]
        assert (each.source, each.target, each.handle) == (
            drawn["source"],
            drawn["target"],
            drawn["sourceHandle"] or None,
        )


# ------------------------------------------------------------------------------------------------------- validation


@given(drawings())
def test_the_problems_of_any_drawing_are_exactly_those_of_the_reference(raw: Json) -> None:
    problems = problems_of(raw)
    in_cycles = frozenset[str]().union(*Reference(raw).cycles())
    told = Counter(
        (problem.code, problem.node_id)
        for problem in problems
        # an output within a cycle has the cycle told; which of its ways count is open until it is broken
        if problem.code != "CYCLE" and not (problem.code == "NO_NODE_BETWEEN" and problem.node_id in in_cycles)
    )
    assert told == expected(raw)
    cycles = [problem for problem in problems if problem.code == "CYCLE"]
    if raw["mode"] == "DAG":
        assert len(cycles) == len(Reference(raw).cycles())
        for members in Reference(raw).cycles():
            assert any(all(f'"{member}"' in cycle.message.en for member in members) for cycle in cycles)
    else:
        assert cycles == []


@given(json_values)
def test_no_json_raises_anything_but_graph_invalid(raw: Any) -> None:
    assert problems_of(raw), "no arbitrary value is a workflow"


@given(drawings(), json_values, st.data())
def test_no_json_anywhere_in_a_definition_raises_anything_but_graph_invalid(
    raw: Json, value: Any, data: st.DataObject
) -> None:
    places: list[tuple[Any, Any]] = [(raw, key) for key in raw]
    for container, _ in places:
        inner = container[_]
        keys = inner if isinstance(inner, dict) else range(len(inner)) if isinstance(inner, list) else ()
        places += [(inner, key) for key in keys]
    container, key = data.draw(st.sampled_from(places))
    container[key] = value
    for problem in problems_of(raw):
        for language in ("zh", "en"):
            json.dumps(problem.to_json(language), ensure_ascii=False, allow_nan=False).encode()


Fault = Callable[[Json], tuple[str, str | None]]


def _add(raw: Json, nodes: list[Json], edges: list[Json], code: str, node_id: str | None) -> tuple[str, str | None]:
    raw["graphData"]["nodes"] += nodes
    raw["graphData"]["edges"] += edges
    return code, node_id


def _set(raw: Json, node_id: str, code: str, **data: Any) -> tuple[str, str | None]:
    sound_nodes = raw["graphData"]["nodes"][: len(sound()["graphData"]["nodes"])]
    next(each for each in sound_nodes if each["id"] == node_id)["data"].update(data)
    return code, node_id


def _rename(raw: Json) -> tuple[str, str | None]:
    raw["name"] = "No Name"
    return "BAD_NAME", None


def _plan(raw: Json) -> tuple[str, str | None]:
    raw["planner"] = {"model": "m"}
    return "PLANNER_NOT_ALLOWED", None


FAULTS: dict[str, Fault] = {
    "name": _rename,
    "planner": _plan,
    "title": lambda raw: (raw.update(title=1), ("BAD_DEFINITION", None))[1],
    "island": lambda raw: _add(raw, [node("island")], [], "UNREACHABLE", "island"),
    "dead end": lambda raw: _add(raw, [node("dead")], [edge("in", "dead")], "NO_WAY_OUT", "dead"),
    "direct": lambda raw: _add(raw, [node("direct", "output")], [edge("in", "direct")], "NO_NODE_BETWEEN", "direct"),
    "cycle": lambda raw: _add(
        raw, [node("c1"), node("c2")], [*line("a", "c1", "c2", "c1"), edge("c2", "out")], "CYCLE", "c1"
    ),
    "self-loop": lambda raw: _add(raw, [], [edge("b", "b")], "SELF_LOOP", "b"),
    "missing end": lambda raw: _add(raw, [], [edge("a", GONE)], "UNKNOWN_NODE", None),
    "edge without target": lambda raw: _add(raw, [], [{"source": "a"}], "BAD_EDGE", None),
    "edge of numbers": lambda raw: _add(raw, [], [{"source": 1, "target": 2}], "BAD_EDGE", None),
    "node without id": lambda raw: _add(raw, [{"type": "llm"}], [], "BAD_ID", None),
    "no node": lambda raw: _add(raw, ["node"], [], "BAD_NODE", None),  # type: ignore[list-item]
    "twin": lambda raw: _add(raw, [node("a")], [], "DUPLICATE_ID", "a"),
    "id": lambda raw: _add(raw, [node("x__y")], line("in", "x__y", "out"), "BAD_ID", "x__y"),
    "type": lambda raw: _add(raw, [node("r", "robot")], line("in", "r", "out"), "UNKNOWN_TYPE", "r"),
    "data": lambda raw: _set(raw, "b", "BAD_DATA", broken=True),
    "retry": lambda raw: _set(raw, "a", "BAD_DATA", retry={"maxAttempts": 0}),
    "not a number": lambda raw: _set(raw, "out", "BAD_VALUE", odd=float("nan")),
    "no handle": lambda raw: _add(raw, [], [edge("if", "out")], "HANDLE_MISSING", "if"),
    "handle": lambda raw: _add(raw, [], [edge("if", "out", "maybe")], "HANDLE_UNKNOWN", "if"),
    "mapping from nowhere": lambda raw: _set(raw, "b", "MAPPING_UNKNOWN_NODE", inputs=[mapped(GONE)]),
    "mapping from below": lambda raw: _set(raw, "a", "MAPPING_NOT_BEFORE", inputs=[mapped("if")]),
}


def sound() -> Json:
    nodes = [
        node("in", "userInput"),
        node("a"),
        node("if", "condition", branches=["yes", "no"]),
        node("b"),
        node("out", "output"),
    ]
    return drawing(nodes, [*line("in", "a", "if"), edge("if", "b", "yes"), edge("if", "out", "no"), edge("b", "out")])


@given(st.lists(st.sampled_from(sorted(FAULTS)), unique=True))
def test_every_injected_fault_is_told_along_with_every_other(names: list[str]) -> None:
    raw = sound()
    injected = {FAULTS[name](raw) for name in names}
    told = {(problem.code, problem.node_id) for problem in problems_of(raw)}
    assert injected <= told
    assert bool(told) == bool(names)


# ------------------------------------------------------------------------------------------------------- round trip

extras = st.dictionaries(
    st.text(max_size=12).filter(lambda key: key not in {"id", "type", "data", "source", "target", "sourceHandle"}),
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
        max_leaves=8,
    ),
    max_size=3,
)


@given(drawings(), st.data())
def test_a_definition_round_trips_with_all_that_an_editor_adds(raw: Json, data: st.DataObject) -> None:
    graph_data = raw["graphData"]
    for part in (*graph_data["nodes"], *graph_data["edges"], *(each["data"] for each in graph_data["nodes"])):
        part.update(data.draw(extras))
    for each in graph_data["nodes"]:
        each["position"] = data.draw(
            st.fixed_dictionaries({"x": st.integers() | st.floats(-1e6, 1e6), "y": st.integers()})
        )
    before = copy.deepcopy(raw)
    definition = parse_definition(raw)
    Graph.of(definition)
    assert definition.to_json() == before
    assert json.dumps(definition.to_json(), sort_keys=True) == json.dumps(before, sort_keys=True)
    assert parse_definition(definition.to_json()) == definition
    assert raw == before
