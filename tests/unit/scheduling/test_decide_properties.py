"""Decisions over any graph, any outcomes, any order of ends, any bound (architecture law 7)."""

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from stepweave.execution.outcome import Outcome
from stepweave.execution.visit import START, Join, PendingEdges, Visit
from stepweave.graph.topology import Graph
from stepweave.scheduling.decide import decide
from stepweave.scheduling.decision import Bounds, Decision, Facts, FactsMissing, StaleFacts
from tests.unit.scheduling.drawings import BAD, GOOD, RUN, Rides, drawn, takes, visit


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    """Some roots, then nodes of any kind behind earlier ones; a choice's edges carry a handle."""
    count = draw(st.integers(2, 9))
    kinds = [
        "in",
        *draw(st.lists(st.sampled_from(["in", "work", "work", "pick", "out"]), min_size=count, max_size=count)),
    ]
    names = [f"{kind}{number}" for number, kind in enumerate(kinds)]
    arrows = []
    for place, name in enumerate(names[1:], 1):
        for source in draw(st.lists(st.sampled_from(names[:place]), min_size=1, max_size=3)):
            handle = draw(st.sampled_from([":yes", ":no"])) if source.startswith("pick") else ""
            arrows.append(f"{source}{handle} > {name}")
    return drawn(";".join(arrows))


def outcomes(graph: Graph, failing: bool) -> st.SearchStrategy[Mapping[str, Outcome]]:
    def of(name: str) -> st.SearchStrategy[Outcome]:
        good = st.sampled_from(["yes", "no", None]).map(takes) if name.startswith("pick") else st.just(GOOD)
        return good | st.just(BAD) if failing else good

    return st.fixed_dictionaries({name: of(name) for name in graph.nodes})


@dataclass
class Tables:
    """What the commits of a run have stored. `told` lists the ends in their order, with their statuses."""

    joins: dict[str, Join] = field(default_factory=dict)
    running: dict[str, Visit] = field(default_factory=dict)
    told: list[tuple[str, str]] = field(default_factory=list)
    sources: dict[str, str | None] = field(default_factory=dict)
    end: str | None = None


def decided(graph: Graph, facts: Facts, rides: Rides, bounds: Bounds, joins: Mapping[str, Join]) -> Decision:
    while True:
        try:
            return decide(graph, facts, rides, bounds)
        except FactsMissing as missing:
            facts = replace(facts, joins={**facts.joins, **{name: joins.get(name, Join()) for name in missing.joins}})


def lived(graph: Graph, outcome: Mapping[str, Outcome], strategy: Any, bounds: Bounds, order: list[int]) -> Tables:
    """A whole run: the visits that run end one after another, in the order that `order` picks."""
    tables = Tables(running={START: visit(graph, START)})
    rides = Rides(outcomes=outcome, otherwise="no")
    picks = deque(order)
    run = replace(RUN, fail_strategy=strategy)
    while tables.running and tables.end is None:
        names = sorted(tables.running)
        name = names[picks.popleft() % len(names)] if picks else names[0]
        ending = tables.running.pop(name)
        while tables.end is None:
            facts = Facts(run, ending, outcome.get(name))
            decision = decided(graph, facts, rides, bounds, tables.joins)
            assert decision == decided(graph, facts, rides, bounds, tables.joins), "the same facts, another decision"
            if name != START and decision.status is not None:
                tables.told.append((name, decision.status))
            tables.told += [(each.node_id, each.status) for each in decision.ended]
            tables.sources |= {each.node_id: each.source for each in (*decision.ended, *decision.started)}
            tables.joins |= {key: replace(join, version=join.version + 1) for key, join in decision.joins.items()}
            for each in decision.started:
                tables.running[each.node_id] = visit(graph, each.node_id, reach=each.reach)
            tables.end = decision.end.status if decision.end is not None else None
            ending = replace(ending, status="SUCCESS", pending=decision.pending)
            if not decision.pending:
                break
    return tables


bounds = st.sampled_from([8, 9, 12, 90]).map(lambda items: Bounds(items=items))
orders = st.lists(st.integers(0, 8), max_size=12)


@given(data=st.data(), graph=graphs(), some=bounds, other=bounds, order=orders, another=orders)
def test_bound_and_order_change_nothing_about_what_a_run_comes_to(
    data: st.DataObject, graph: Graph, some: Bounds, other: Bounds, order: list[int], another: list[int]
) -> None:
    outcome = data.draw(outcomes(graph, failing=True))
    first = lived(graph, outcome, "skip", some, order)
    second = lived(graph, outcome, "skip", other, another)
    assert first.end == second.end == "SUCCESS"
    assert dict(first.told) == dict(second.told)
    assert first.sources == second.sources
    assert sorted(name for name, _ in first.told) == sorted(graph.nodes), "each node ends once"
    assert first.running == {}


@given(data=st.data(), graph=graphs(), bound=bounds, order=orders)
def test_no_node_ends_before_those_that_lead_to_it(
    data: st.DataObject, graph: Graph, bound: Bounds, order: list[int]
) -> None:
    told = [name for name, _ in lived(graph, data.draw(outcomes(graph, failing=False)), None, bound, order).told]
    places = {name: place for place, name in enumerate(told)}
    for name in told:
        assert all(places[before] < places[name] for before in graph.predecessors(name))


@given(data=st.data(), graph=graphs(), bound=bounds, order=orders)
def test_an_abort_is_the_last_word(data: st.DataObject, graph: Graph, bound: Bounds, order: list[int]) -> None:
    outcome = data.draw(outcomes(graph, failing=True))
    tables = lived(graph, outcome, "abort", bound, order)
    failed = [name for name, status in tables.told if status == "FAILED"]
    bad = [name for name, status in tables.told if status != "SKIPPED" and outcome[name] is BAD]
    assert failed == bad
    assert tables.end == ("FAILED" if failed else "SUCCESS")
    assert not failed or tables.told[-1][0] == failed[0]


@given(data=st.data(), graph=graphs(), bound=bounds)
def test_whatever_the_facts_there_is_a_decision_or_a_question(data: st.DataObject, graph: Graph, bound: Bounds) -> None:
    """Facts read across other commits may be nonsense: joins that know too much, pending edges of anybody."""
    name = data.draw(st.sampled_from([START, *graph.nodes]))
    indices = st.integers(0, len(graph.edges) - 1)
    reaches = st.none() | st.integers(0, 2 ** len(graph.nodes) - 1)
    known = st.dictionaries(indices | st.integers(0, len(graph.nodes) - 1), reaches, max_size=4)
    joins = {key: Join(1, data.draw(known)) for key in [*graph.nodes, "#end"]}
    pending = tuple(
        PendingEdges(graph.edges[index].source, "yes", data.draw(reaches), (index,))
        for index in data.draw(st.lists(indices, max_size=3))
    )
    status = data.draw(st.sampled_from(["RUNNING", "SUCCESS", "SKIPPED"]))
    ending = visit(graph, name, status=status, pending=pending if status != "RUNNING" else ())
    outcome = data.draw(outcomes(graph, failing=True))
    facts = Facts(RUN, ending, outcome.get(name), joins=joins)
    try:
        decision = decide(graph, facts, Rides(outcomes=outcome), bound)
    except StaleFacts:
        return
    assert decision == decide(graph, facts, Rides(outcomes=outcome), bound)
