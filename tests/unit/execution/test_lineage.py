from typing import Any

import pytest

from stepweave.execution.lineage import MOST_DEPTH, MOST_PATHS, Lineage, VisitFact, agentic_lineage, dag_lineage


def chain(nodes: str) -> list[VisitFact]:
    """An AGENTIC run's visits by the letters of their nodes: v1, v2, …"""
    visits: list[VisitFact] = []
    for place, node_id in enumerate(nodes, start=1):
        iteration = 1 + sum(visit.node_id == node_id for visit in visits)
        sources = (visits[-1].visit_uuid,) if visits else ()
        visits.append(VisitFact(f"v{place}", node_id, iteration, place, sources))
    return visits


def dag(*arrows: str) -> dict[str, VisitFact]:
    """A DAG's visits, each by its node's name in small letters; the nodes end in the order of their first mention."""
    names = list(dict.fromkeys(name for arrow in arrows for name in arrow.split(">")))
    sources = {name: tuple(a.split(">")[0].lower() for a in arrows if a.split(">")[1] == name) for name in names}
    return {name.lower(): VisitFact(name.lower(), name, 1, at, sources[name]) for at, name in enumerate(names, start=1)}


class Asked(dict[str, VisitFact]):
    """Counts how often a visit is looked up."""

    count = 0

    def __getitem__(self, name: Any) -> VisitFact:
        self.count += 1
        return super().__getitem__(name)


def sequences(lineage: Lineage) -> list[str]:
    return ["".join(visit.node_id for visit in path.visits) for path in lineage.paths]


def test_a_straight_chain_is_one_path_without_backtracks() -> None:
    lineage = agentic_lineage(chain("ABCG"))
    assert sequences(lineage) == ["ABCG"]
    assert not lineage.paths[0].has_backtrack
    assert lineage.backtracks == ()


def test_a_step_back_is_told_and_each_node_stands_by_its_latest_visit() -> None:
    lineage = agentic_lineage(chain("ABCGC"))
    assert sequences(lineage) == ["ABGC"]
    assert [visit.visit_uuid for visit in lineage.visits] == ["v1", "v2", "v4", "v5"]
    assert lineage.paths[0].has_backtrack
    assert lineage.backtracks == ("G->C",)


@pytest.mark.parametrize(
    ("visits", "sequence", "backtracks"),
    [
        ("ACC", "AC", ("C->C",)),
        ("ABABA", "BA", ("B->A", "A->B")),
        ("ABCABC", "ABC", ("C->A", "A->B", "B->C")),
        ("A", "A", ()),
    ],
)
def test_backtracks_are_told_once_in_the_order_they_happened(
    visits: str, sequence: str, backtracks: tuple[str, ...]
) -> None:
    lineage = agentic_lineage(chain(visits))
    assert sequences(lineage) == [sequence]
    assert lineage.backtracks == backtracks


def test_of_more_nodes_than_the_depth_allows_the_latest_are_told() -> None:
    visits = [VisitFact(f"v{n}", f"n{n}", 1, n, (f"v{n - 1}",) if n else ()) for n in range(MOST_DEPTH + 7)]
    lineage = agentic_lineage(visits)
    assert lineage.truncated
    assert lineage.paths[0].visits == tuple(visits[-MOST_DEPTH:])


def test_every_path_of_a_diamond_is_told_and_the_visits_in_their_order() -> None:
    lineage = dag_lineage("d", dag("A>B", "A>C", "B>D", "C>D"))
    assert sequences(lineage) == ["ABD", "ACD"]
    assert [visit.node_id for visit in lineage.visits] == ["A", "B", "C", "D"]
    assert not lineage.truncated


def test_two_edges_between_the_same_nodes_are_one_step() -> None:
    assert sequences(dag_lineage("b", dag("A>B", "A>B"))) == ["AB"]


def test_a_ladder_of_diamonds_with_a_million_paths_is_cut_without_walking_them() -> None:
    facts: dict[str, VisitFact] = {"j0": VisitFact("j0", "j0", 1, 0)}
    for rung in range(20):
        for side in ("l", "r"):
            facts[f"{side}{rung}"] = VisitFact(f"{side}{rung}", f"{side}{rung}", 1, 3 * rung + 1, (f"j{rung}",))
        facts[f"j{rung + 1}"] = VisitFact(f"j{rung + 1}", f"j{rung + 1}", 1, 3 * rung + 3, (f"l{rung}", f"r{rung}"))
    assert len(facts) == 61
    asked = Asked(facts)
    lineage = dag_lineage("j20", asked)
    assert asked.count < 1_000  # steps, where there are a million paths
    assert lineage.truncated
    assert len(lineage.paths) == len({path.visits for path in lineage.paths}) == MOST_PATHS
    assert {len(path.visits) for path in lineage.paths} == {41}
    assert len(lineage.visits) == 61


def test_exactly_a_hundred_paths_are_not_cut() -> None:
    arrows = [f"A>m{n}" for n in range(MOST_PATHS)] + [f"m{n}>Z" for n in range(MOST_PATHS)]
    lineage = dag_lineage("z", dag(*arrows))
    assert (len(lineage.paths), lineage.truncated) == (MOST_PATHS, False)


def test_of_a_path_deeper_than_allowed_the_end_is_told() -> None:
    deep = MOST_DEPTH + 5
    lineage = dag_lineage(f"n{deep}", dag(*(f"n{place}>n{place + 1}" for place in range(deep))))
    assert lineage.truncated
    assert [visit.node_id for visit in lineage.paths[0].visits] == [f"n{n}" for n in range(6, deep + 1)]


def test_a_path_of_exactly_the_depth_is_whole() -> None:
    last = MOST_DEPTH - 1
    lineage = dag_lineage(f"n{last}", dag(*(f"n{place}>n{place + 1}" for place in range(last))))
    assert (len(lineage.paths[0].visits), lineage.truncated) == (MOST_DEPTH, False)
