"""What follows from the end of a visit where a planner decides (contract §2), as examples."""

from dataclasses import replace
from typing import Any

import pytest

from stepweave.execution.outcome import Outcome, succeeded
from stepweave.execution.visit import PLANNER, START
from stepweave.graph.topology import Graph
from stepweave.scheduling.agentic import decide_agentic
from stepweave.scheduling.decision import Bounds, Decision, Facts, FactsMissing, Place, RunEnd, Started
from tests.unit.scheduling.drawings import (
    BAD,
    GOOD,
    RUN,
    Rides,
    drawn,
    edges_of,
    ledger_of,
    visit,
    wanders,
)

SKIPPING = replace(RUN, fail_strategy="skip")
GRAPH = drawn("in > search; search > critique; critique > search; out >", planner={})
IN, SEARCH, CRITIQUE, OUT = range(4)  # their places in the drawing


def chose(following: str | None, *, final: bool = False) -> Outcome:
    """A planner's visit that ended with a decision."""
    return succeeded("", {}, decision={"next": following, "reason": "r", "isFinal": final})


def ended(decision: Decision) -> list[tuple[str, str]]:
    return [(each.node_id, each.status) for each in decision.ended]


def started(decision: Decision) -> list[str]:
    return [each.node_id for each in decision.started]


class TestTheBeginning:
    def test_user_inputs_run_undecided_and_then_the_planner_is_asked(self) -> None:
        decision = wanders(drawn("in1 > work; in2 > out", planner={}), START, None)
        assert ended(decision) == [("in1", "SUCCESS"), ("in2", "SUCCESS")]
        assert [each.source for each in decision.ended] == [None, None]
        assert [each.decided for each in decision.ended] == [None, None]
        assert started(decision) == [PLANNER]
        assert decision.end is None

    def test_also_those_that_an_edge_leads_to_each_seeing_the_ones_before(self) -> None:
        rides = Rides(needs={"in2": ["in1"]})
        decision = wanders(drawn("in1 > in2; in2 > out", planner={}), START, None, rides=rides)
        assert ended(decision) == [("in1", "SUCCESS"), ("in2", "SUCCESS")]
        (seen,) = rides.saw["in2"]
        assert seen is not None
        assert seen.output == GOOD.envelope

    def test_more_of_them_than_a_transaction_holds_are_run_by_several_and_the_planner_is_asked_once(self) -> None:
        names = [f"in{number}" for number in range(7)]
        graph = drawn(" ".join(["in0 >", *names[1:], "out"]), planner={})
        bounds = Bounds(items=11)  # room for three visits with what they leave behind
        first = wanders(graph, START, None, bounds=bounds)
        assert [name for name, _ in ended(first)] == names[:3]
        assert edges_of(first.pending) == [(START, (3, 4, 5, 6))]
        assert (first.status, started(first)) == ("SUCCESS", [])
        second = wanders(graph, START, None, bounds=bounds, status="SUCCESS", pending=first.pending)
        assert [name for name, _ in ended(second)] == names[3:6]
        assert (second.status, started(second)) == (None, [])
        third = wanders(graph, START, None, bounds=bounds, status="SUCCESS", pending=second.pending)
        assert [name for name, _ in ended(third)] == names[6:]
        assert third.pending == ()
        (planner,) = third.started
        assert planner.place == Place(7, 1, ledger_of(graph, names))

    def test_bytes_are_counted_too(self) -> None:
        graph = drawn("in1 > out; in2 > out; in3 > out", planner={})
        decision = wanders(graph, START, None, rides=Rides(weighs=600), bounds=Bounds(size=1000))
        assert [name for name, _ in ended(decision)] == ["in1", "in2"]
        assert edges_of(decision.pending) == [(START, (2,))]

    def test_one_that_fails_ends_the_run_and_the_others_do_not_run(self) -> None:
        graph = drawn("in1 > out; in2 > out; in3 > out", planner={})
        decision = wanders(graph, START, None, rides=Rides(outcomes={"in2": BAD}), bounds=Bounds(items=11))
        assert ended(decision) == [("in1", "SUCCESS"), ("in2", "FAILED")]
        assert (decision.started, decision.pending) == ((), ())
        assert decision.end == RunEnd("FAILED", "in2", "it broke")


class TestADecision:
    def test_a_node_with_an_effect_is_started_in_the_same_chain(self) -> None:
        decision = wanders(GRAPH, PLANNER, chose("search"), visited=["in"])
        assert decision.status == "SUCCESS"
        assert decision.started == (Started("search", 0b0001, "in", False, Place(1, 1, ((IN, 1),))),)

    def test_a_node_that_was_visited_before_is_visited_once_more(self) -> None:
        decision = wanders(GRAPH, PLANNER, chose("search"), visited=["in", "search", "critique"])
        place = Place(2, 1, ((CRITIQUE, 1), (SEARCH, 1), (IN, 1)))
        assert decision.started == (Started("search", 0b0111, "critique", False, place),)

    def test_it_may_follow_itself_and_comes_from_its_own_visit_before(self) -> None:
        decision = wanders(GRAPH, PLANNER, chose("search"), visited=["in", "search", "search"])
        (search,) = decision.started
        assert (search.source, search.place.iteration, search.place.source_iteration) == ("search", 3, 2)

    def test_edges_are_hints_and_bind_nobody(self) -> None:
        decision = wanders(GRAPH, PLANNER, chose("critique"), visited=["in"])
        assert started(decision) == ["critique"]

    def test_a_light_node_rides_along_with_the_decision_that_chose_it(self) -> None:
        graph = drawn("in > pick; pick:yes > work; out >", planner={})
        decision = wanders(graph, PLANNER, chose("pick"), visited=["in"])
        assert ended(decision) == [("pick", "SUCCESS")]
        assert decision.ended[0].decided == {"next": "pick", "reason": "r", "isFinal": False}
        assert started(decision) == [PLANNER], "its branch is a hint like any edge"

    def test_a_chain_that_is_long_enough_hands_over(self) -> None:
        assert wanders(GRAPH, PLANNER, chose("search"), visited=["in"], hand_over=True).started[0].forked
        assert wanders(GRAPH, "search", visited=["in"], hand_over=True).started[0].forked

    def test_a_planner_that_failed_ends_the_run(self) -> None:
        decision = wanders(GRAPH, PLANNER, BAD, visited=["in"], run=SKIPPING)
        assert (decision.status, decision.started) == ("FAILED", ())
        assert decision.end == RunEnd("FAILED", PLANNER, "it broke")


class TestAfterAVisit:
    def test_the_planner_is_asked_again(self) -> None:
        decision = wanders(GRAPH, "search", visited=["in"], decided={"next": "search", "isFinal": False})
        assert decision.status == "SUCCESS"
        place = Place(2, 1, ((SEARCH, 1), (IN, 1)))
        assert decision.started == (Started(PLANNER, 0b0011, None, False, place),)

    @pytest.mark.parametrize(
        ("visited", "ledger"),
        [
            (["in", "search"], ((SEARCH, 2), (IN, 1))),
            (["in", "search", "critique"], ((SEARCH, 2), (CRITIQUE, 1), (IN, 1))),
            (["in", "critique", "critique"], ((SEARCH, 1), (CRITIQUE, 2), (IN, 1))),
        ],
    )
    def test_the_ledger_counts_each_node_and_has_the_latest_first(
        self, visited: list[str], ledger: tuple[tuple[int, int], ...]
    ) -> None:
        (planner,) = wanders(GRAPH, "search", visited=visited).started
        assert planner.place.ledger == ledger
        assert planner.place.iteration == len(visited) + 1, "the planner's visits are numbered by those before them"

    def test_a_failure_that_is_skipped_leaves_it_to_the_planner_also_what_was_final_is_concluded(self) -> None:
        going_on = wanders(GRAPH, "search", BAD, visited=["in"], run=SKIPPING)
        assert (going_on.status, started(going_on)) == ("SKIPPED", [PLANNER])
        final = wanders(GRAPH, "search", BAD, visited=["in"], run=SKIPPING, decided=_final("search"))
        assert (final.status, ended(final), final.end) == ("SKIPPED", [("out", "SUCCESS")], RunEnd("SUCCESS"))

    def test_a_node_may_skip_for_itself_and_the_run_overrules_it(self) -> None:
        graph = drawn("in > work; out >", planner={}, work={"failStrategy": "skip"})
        assert wanders(graph, "work", BAD, visited=["in"]).end is None
        aborting = replace(RUN, fail_strategy="abort")
        assert wanders(graph, "work", BAD, visited=["in"], run=aborting).end == RunEnd("FAILED", "work", "it broke")

    def test_a_failure_that_is_not_skipped_ends_the_run(self) -> None:
        decision = wanders(GRAPH, "search", BAD, visited=["in"])
        assert (decision.status, decision.started) == ("FAILED", ())
        assert decision.end == RunEnd("FAILED", "search", "it broke")


def _final(following: str) -> dict[str, Any]:
    return {"next": following, "reason": "r", "isFinal": True}


class TestTheEnd:
    def test_an_output_that_gave_something_ends_the_run_final_or_not(self) -> None:
        for final in (True, False):
            decision = wanders(GRAPH, PLANNER, chose("out", final=final), visited=["in", "search"])
            assert ended(decision) == [("out", "SUCCESS")]
            assert (decision.started, decision.end) == ((), RunEnd("SUCCESS"))

    def test_what_is_final_is_followed_by_an_output_that_nobody_decided(self) -> None:
        decision = wanders(GRAPH, "search", visited=["in"], decided=_final("search"))
        (out,) = decision.ended
        assert (out.node_id, out.source, out.decided) == ("out", "search", None)
        assert out.place == Place(1, 1, ((SEARCH, 1), (IN, 1)))
        assert (decision.started, decision.end) == ((), RunEnd("SUCCESS"))

    def test_so_is_a_light_node_in_the_same_commit(self) -> None:
        graph = drawn("in > pick; pick:yes > out1; out2 >", planner={})
        decision = wanders(graph, PLANNER, chose("pick", final=True), visited=["in"])
        assert ended(decision) == [("pick", "SUCCESS"), ("out1", "SUCCESS")]
        assert decision.end == RunEnd("SUCCESS")

    def test_nothing_more_is_visited_where_next_is_null(self) -> None:
        decision = wanders(GRAPH, PLANNER, chose(None, final=True), visited=["in", "search"])
        assert ended(decision) == [("out", "SUCCESS")]
        assert decision.ended[0].source == "search"

    @pytest.mark.parametrize(
        ("arrows", "last"),
        [
            ("in > work; out1 >; out2 >", "out1"),
            ("in > work; out1 >; work > out2", "out2"),
            ("in > work; out1 >; out2 >; work > out3 out2", "out3"),
            ("in > out2 work; out1 >; out3 >", "out2"),
        ],
    )
    def test_the_output_is_one_that_the_last_node_leads_to_else_the_first(self, arrows: str, last: str) -> None:
        visited = ["in"] if last == "out2" and "in > out2" in arrows else ["in", "work"]
        decision = wanders(drawn(arrows, planner={}), PLANNER, chose(None, final=True), visited=visited)
        assert ended(decision) == [(last, "SUCCESS")]

    def test_an_output_that_failed_and_is_skipped_leaves_it_to_the_planner(self) -> None:
        rides = Rides(outcomes={"out": BAD})
        decision = wanders(GRAPH, PLANNER, chose("out"), visited=["in"], run=SKIPPING, rides=rides)
        assert ended(decision) == [("out", "SKIPPED")]
        assert (started(decision), decision.end) == ([PLANNER], None)

    def test_where_it_was_to_be_the_last_it_is_and_runs_once(self) -> None:
        rides = Rides(outcomes={"out": BAD})
        decision = wanders(GRAPH, PLANNER, chose("out", final=True), visited=["in"], run=SKIPPING, rides=rides)
        assert rides.ran == ["out"]
        assert ended(decision) == [("out", "SKIPPED")]
        assert (decision.started, decision.end) == ((), RunEnd("SUCCESS"))

    def test_an_output_that_failed_before_may_be_visited_again(self) -> None:
        decision = wanders(GRAPH, PLANNER, chose("out"), visited=["in", "out", "search"])
        assert (decision.ended[0].place.iteration, decision.end) == (2, RunEnd("SUCCESS"))

    def test_an_output_that_fails_and_is_not_skipped_fails_the_run(self) -> None:
        rides = Rides(outcomes={"out": BAD})
        for outcome in (chose("out"), chose(None, final=True)):
            decision = wanders(GRAPH, PLANNER, outcome, visited=["in"], rides=rides)
            assert (ended(decision), decision.end) == ([("out", "FAILED")], RunEnd("FAILED", "out", "it broke"))


class TestOffCanvas:
    GRAPH = drawn("in > work; off-canvas > out", planner={"allowOffCanvas": True})

    def test_the_node_beside_the_drawing_has_a_name_that_no_other_has(self) -> None:
        assert self.GRAPH.off_canvas == "off-canvas-2"
        assert drawn("in > out", planner={"allowOffCanvas": True}).off_canvas == "off-canvas"
        assert drawn("in > out", planner={}).off_canvas is None

    def test_it_is_visited_like_any_other(self) -> None:
        first = wanders(self.GRAPH, PLANNER, chose("off-canvas-2"), visited=["in"])
        assert started(first) == ["off-canvas-2"]
        again = wanders(self.GRAPH, PLANNER, chose("off-canvas-2"), visited=["in", "off-canvas-2"])
        assert again.started[0].place.iteration == 2
        assert started(wanders(self.GRAPH, "off-canvas-2", visited=["in"])) == [PLANNER]


class TestFacts:
    def test_what_a_rider_refers_to_is_asked_for_and_what_just_ended_is_known(self) -> None:
        rides = Rides(needs={"out": ["search", "critique"]})
        own = visit(GRAPH, "search", ledger=ledger_of(GRAPH, ["in", "critique"]))
        with pytest.raises(FactsMissing) as missing:
            decide_agentic(GRAPH, Facts(RUN, own, GOOD, decided=_final("search")), rides)
        assert missing.value.bodies == {"critique"}

    def test_a_rider_that_refers_to_itself_sees_its_visit_before(self) -> None:
        rides = Rides(needs={"out": ["out"]})
        wanders(GRAPH, PLANNER, chose("out"), visited=["in", "out"], rides=rides)
        (seen,) = rides.saw["out"]
        assert seen is not None
        assert seen.output == {"data": {"by": "out"}}


def test_each_decision_fits_a_transaction_of_eight_items() -> None:
    """Own head and body, RUN, the events, and two visits that ride along with what they leave behind."""
    graph: Graph = drawn("in > pick; pick:yes > out", planner={})
    decision = wanders(graph, PLANNER, chose("pick", final=True), visited=["in"], bounds=Bounds(items=8))
    assert 4 + 2 * len(decision.ended) + len(decision.started) <= 8
