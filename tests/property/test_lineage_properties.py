"""Paths to a visit against an enumerator that knows nothing but the definition of a path."""

from hypothesis import given
from hypothesis import strategies as st

from stepweave.execution.lineage import MOST_PATHS, VisitFact, agentic_lineage, dag_lineage


@st.composite
def dags(draw: st.DrawFn) -> dict[str, VisitFact]:
    """Visits 0 to n; each but the first comes from some of those before it."""
    size = draw(st.integers(2, 9))
    facts = {}
    for node in range(size):
        before = st.lists(st.integers(0, node - 1), min_size=1, unique=True) if node else st.just([])
        facts[str(node)] = VisitFact(str(node), f"n{node}", 1, node, tuple(str(each) for each in draw(before)))
    return facts


def every_path(facts: dict[str, VisitFact], current: str) -> list[tuple[str, ...]]:
    sources = facts[current].sources
    if not sources:
        return [(current,)]
    return [(*path, current) for source in sources for path in every_path(facts, source)]


@given(dags())
def test_the_paths_are_those_of_the_definition_and_a_hundred_of_them_at_most(facts: dict[str, VisitFact]) -> None:
    current = str(len(facts) - 1)
    expected = every_path(facts, current)
    lineage = dag_lineage(current, facts)
    told = [tuple(visit.visit_uuid for visit in path.visits) for path in lineage.paths]
    assert len(told) == len(set(told)) == min(len(expected), MOST_PATHS)
    assert set(told) <= set(expected)
    assert lineage.truncated == (len(expected) > MOST_PATHS)


@given(dags())
def test_the_visits_are_those_of_all_paths_in_their_order(facts: dict[str, VisitFact]) -> None:
    current = str(len(facts) - 1)
    on_paths = {visit for path in every_path(facts, current) for visit in path}
    assert [visit.visit_uuid for visit in dag_lineage(current, facts).visits] == sorted(on_paths, key=int)


@given(st.text("ABCDE", min_size=1, max_size=30))
def test_a_chain_shows_each_node_once_by_its_latest_visit_and_tells_every_step_back(nodes: str) -> None:
    visits = [
        VisitFact(str(at), node, 1 + nodes[:at].count(node), at, (str(at - 1),) if at else ())
        for at, node in enumerate(nodes)
    ]
    lineage = agentic_lineage(visits)
    last = {node: at for at, node in enumerate(nodes)}
    assert [int(visit.visit_uuid) for visit in lineage.visits] == sorted(last.values())
    assert lineage.paths[0].visits == lineage.visits
    back = [f"{nodes[at - 1]}->{node}" for at, node in enumerate(nodes) if node in nodes[:at]]
    assert list(lineage.backtracks) == list(dict.fromkeys(back))
    assert lineage.paths[0].has_backtrack == bool(back)
