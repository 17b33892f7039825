"""What follows from the end of a node (architecture law 4, protocol rule E), as examples."""

from dataclasses import replace

import pytest

from stepweave.execution.visit import START, Join
from stepweave.scheduling.decide import decide, joins_ahead
from stepweave.scheduling.decision import END, Bounds, Facts, FactsMissing, RunEnd, StaleFacts, Started
from tests.unit.scheduling.drawings import (
    BAD,
    GOOD,
    RUN,
    Rides,
    arrived,
    drawn,
    edges_of,
    ends,
    takes,
    visit,
)

SKIPPING = replace(RUN, fail_strategy="skip")


class TestTheNextStep:
    def test_the_only_successor_goes_on_in_the_same_chain(self) -> None:
        decision = ends(drawn("in > work1; work1 > work2; work2 > out"), "work1")
        assert decision.status == "SUCCESS"
        assert decision.started == (Started("work2", 0b011, "work1", forked=False),)
        assert decision.end is None

    def test_of_several_the_first_goes_on_and_each_other_gets_a_chain(self) -> None:
        decision = ends(drawn("in > work1; work1 > work2 work3 work4; work2 > out; work3 > out; work4 > out"), "work1")
        assert [(each.node_id, each.forked) for each in decision.started] == [
            ("work2", False),
            ("work3", True),
            ("work4", True),
        ]

    def test_what_becomes_ready_after_an_earlier_commit_of_the_visit_gets_a_chain(self) -> None:
        decision = ends(drawn("in > work1; work1 > work2; work2 > out"), "work1", outs=("an earlier one",))
        assert [each.forked for each in decision.started] == [True]

    def test_a_chain_that_is_long_enough_hands_everything_over(self) -> None:
        decision = ends(drawn("in > work1; work1 > work2; work2 > out"), "work1", hand_over=True)
        assert [each.forked for each in decision.started] == [True]

    def test_a_run_starts_at_the_user_inputs_that_nothing_leads_to(self) -> None:
        decision = ends(drawn("in1 > in2 work1; in3 > work2; in2 > out; work1 > out; work2 > out"), START, None)
        assert [each.node_id for each in decision.ended] == ["in1", "in3", "in2"]
        assert [each.node_id for each in decision.started] == ["work1", "work2"]
        assert [each.source for each in decision.ended] == [None, None, "in1"]


class TestRiders:
    def test_light_nodes_ride_along_one_after_another(self) -> None:
        rides = Rides(outcomes={"pick": takes("yes")})
        decision = ends(
            drawn("in > work1; work1 > pick; pick:yes > in2; in2 > work2; work2 > out"), "work1", rides=rides
        )
        assert rides.ran == ["pick", "in2"]
        assert [each.node_id for each in decision.ended] == ["pick", "in2"]
        assert [each.node_id for each in decision.started] == ["work2"]

    def test_all_of_them_also_after_a_fork(self) -> None:
        rides = Rides()
        decision = ends(
            drawn("in > work1; work1 > work2 work3 in2; in2 > in3; work2 > out; work3 > out; in3 > out"),
            "work1",
            rides=rides,
        )
        assert rides.ran == ["in2", "in3"]
        assert [each.node_id for each in decision.started] == ["work2", "work3"]

    def test_a_rider_sees_what_has_just_ended_and_what_ended_before(self) -> None:
        rides = Rides(needs={"in2": ["work1"], "in3": ["in2", "in"]})
        ends(drawn("in > work1; work1 > in2; in2 > in3; in3 > work2; work2 > out"), "work1", rides=rides)
        seen = [body.output for name in ("in2", "in3") for body in rides.saw[name] if body is not None]
        assert seen == [GOOD.envelope, GOOD.envelope, {"data": {"by": "in"}}]

    def test_its_reach_is_everything_that_leads_to_it(self) -> None:
        decision = ends(drawn("in > work1; work1 > in2; in2 > in3; in3 > work2"), "work1")
        assert [each.reach for each in decision.ended] == [0b0011, 0b0111]


class TestJoins:
    GRAPH = drawn("in > work1 work2; work1 > join; work2 > work3; work3 > join; join > out")
    SHORT, LONG = 2, 4  # its edges

    def test_the_first_branch_leaves_word_and_starts_nothing(self) -> None:
        decision = ends(self.GRAPH, "work1")
        assert decision.started == ()
        assert decision.joins == {"join": Join(0, {self.SHORT: 0b00011})}

    def test_the_last_branch_starts_it_with_all_that_lead_there_from_the_nearest(self) -> None:
        decision = ends(self.GRAPH, "work3", joins={"join": arrived(e2=0b00011)})
        assert decision.started == (Started("join", 0b10111, "work3", forked=False),)

    def test_a_join_stands_at_the_version_at_which_it_was_read(self) -> None:
        decision = ends(self.GRAPH, "work3", joins={"join": arrived(e2=0b00011)})
        assert decision.joins["join"].version == 1

    def test_one_live_edge_is_enough(self) -> None:
        decision = ends(self.GRAPH, "work3", joins={"join": arrived(e2=None)})
        assert decision.started == (Started("join", 0b10101, "work3", forked=False),)

    def test_two_handles_into_one_node_are_two_edges(self) -> None:
        graph = drawn("in > work1; work1 > pick; pick:yes > work2; pick:no > work2; work2 > out")
        decision = ends(graph, "work1", rides=Rides(outcomes={"pick": takes("no")}))
        assert [each.node_id for each in decision.started] == ["work2"]
        assert decision.joins["work2"].known() == {2: None, 3: 0b0111}

    def test_the_joins_that_an_end_touches_for_sure_are_known_in_advance(self) -> None:
        graph = drawn("in > work1 work2; work1 > work3 out1; work2 > work3; work3 > out2")
        assert joins_ahead(graph, "work1") == ["work3"]
        assert joins_ahead(graph, "out2") == [END]
        assert joins_ahead(self.GRAPH, "out") == []


class TestDeadPaths:
    def test_what_is_behind_a_branch_not_taken_is_skipped_through_the_chain(self) -> None:
        graph = drawn(
            "in > work1; work1 > pick; pick:yes > work2; pick:no > work3; work3 > in3; in3 > work4; work4 > out; work2 > out"
        )
        decision = ends(graph, "work1", rides=Rides(outcomes={"pick": takes("yes")}))
        dead = [each for each in decision.ended if each.dead]
        assert [each.node_id for each in dead] == ["work3", "in3", "work4"]
        assert all(each.status == "SKIPPED" and each.reach == 0 and each.source is None for each in dead)
        assert [each.node_id for each in decision.started] == ["work2"]

    def test_its_edges_are_dead_where_it_meets_another_branch(self) -> None:
        graph = drawn("in > work1; work1 > pick; pick:yes > work2; pick:no > work3; work3 > out; work2 > out")
        decision = ends(graph, "work1", rides=Rides(outcomes={"pick": takes("yes")}))
        assert decision.joins == {"out": Join(0, {4: None})}

    def test_a_join_of_dead_branches_is_skipped_too(self) -> None:
        graph = drawn(
            "in > work1; work1 > pick; pick:yes > work2; pick:no > work3; work2 > join; work3 > join; join > out1; in > out2"
        )
        decision = ends(graph, "work1", rides=Rides(outcomes={"pick": takes(None)}))
        assert [each.node_id for each in decision.ended] == ["pick", "work2", "work3", "join", "out1"]
        assert decision.started == ()

    def test_a_run_none_of_whose_outputs_is_live_succeeds(self) -> None:
        graph = drawn("in > work1; work1 > pick; pick:yes > out")
        decision = ends(graph, "work1", rides=Rides(outcomes={"pick": takes(None)}))
        assert [(each.node_id, each.status) for each in decision.ended] == [("pick", "SUCCESS"), ("out", "SKIPPED")]
        assert decision.end == RunEnd("SUCCESS")


class TestFailures:
    GRAPH = drawn("in > work1; work1 > work2 in2; work2 > out; in2 > out")

    def test_abort_ends_the_run_at_once_and_starts_nothing(self) -> None:
        decision = ends(self.GRAPH, "work1", BAD)
        assert decision.status == "FAILED"
        assert decision.end == RunEnd("FAILED", "work1", "it broke")
        assert (decision.started, decision.ended, decision.pending) == ((), (), ())

    def test_skip_lets_the_nodes_after_it_run(self) -> None:
        graph = drawn("in > work1; work1 > work2; work2 > out", work1={"failStrategy": "skip"})
        decision = ends(graph, "work1", BAD)
        assert decision.status == "SKIPPED"
        assert decision.started == (Started("work2", 0b011, "work1", forked=False),)

    @pytest.mark.parametrize(("strategy", "status"), [("skip", "SKIPPED"), ("abort", "FAILED")])
    def test_the_strategy_of_the_run_overrides_that_of_the_node(self, strategy: str, status: str) -> None:
        other = "abort" if strategy == "skip" else "skip"
        graph = drawn("in > work1; work1 > work2; work2 > out", work1={"failStrategy": other})
        assert ends(graph, "work1", BAD, run=replace(RUN, fail_strategy=strategy)).status == status

    def test_a_rider_that_fails_takes_back_what_was_about_to_start(self) -> None:
        decision = ends(self.GRAPH, "work1", rides=Rides(outcomes={"in2": BAD}))
        assert decision.status == "SUCCESS"
        assert [(each.node_id, each.status) for each in decision.ended] == [("in2", "FAILED")]
        assert decision.started == ()
        assert decision.end == RunEnd("FAILED", "in2", "it broke")

    @pytest.mark.parametrize(("otherwise", "live"), [("no", ["work3"]), (None, [])])
    def test_a_choice_that_fails_under_skip_takes_its_else_branch(self, otherwise: str | None, live: list[str]) -> None:
        graph = drawn("in > work1; work1 > pick; pick:yes > work2; pick:no > work3; work2 > out1; work3 > out2")
        decision = ends(graph, "work1", run=SKIPPING, rides=Rides(outcomes={"pick": BAD}, otherwise=otherwise))
        assert decision.ended[0].status == "SKIPPED"
        assert [each.node_id for each in decision.started] == live


class TestTheEndOfTheRun:
    def test_a_single_sink_ends_it_without_an_item(self) -> None:
        decision = ends(drawn("in > work1; work1 > out"), "work1")
        assert (decision.end, decision.joins) == (RunEnd("SUCCESS"), {})

    def test_of_several_sinks_the_last_ends_it(self) -> None:
        graph = drawn("in > work1 work2; work1 > out1; work2 > out2")
        first = ends(graph, "work1")
        assert (first.end, first.joins) == (None, {END: Join(0, {graph.order["out1"]: 0})})
        last = ends(graph, "work2", joins={END: first.joins[END].known()})
        assert last.end == RunEnd("SUCCESS")

    def test_a_skipped_sink_counts_too(self) -> None:
        graph = drawn("in > work1; work1 > pick; pick:yes > out1; pick:no > out2")
        decision = ends(graph, "work1", rides=Rides(outcomes={"pick": takes("yes")}))
        assert decision.end == RunEnd("SUCCESS")


class TestTheBound:
    """A transaction holds own head and body, RUN, the events, JOIN#END, and for each edge a join, a head and a body."""

    GRAPH = drawn("in > work0; work0 > work1 work2 work3 work4; work1 > out; work2 > out; work3 > out; work4 > out")

    def test_what_does_not_fit_is_pending(self) -> None:
        decision = ends(self.GRAPH, "work0", bounds=Bounds(items=5 + 3 + 2))
        assert [each.node_id for each in decision.started] == ["work1", "work2"]
        assert edges_of(decision.pending) == [("work0", (3, 4))]
        assert decision.status == "SUCCESS", "the visit is over with its first commit all the same"

    def test_the_next_commit_goes_on_where_the_first_stopped(self) -> None:
        first = ends(self.GRAPH, "work0", bounds=Bounds(items=10))
        second = ends(
            self.GRAPH, "work0", None, bounds=Bounds(items=10), status="SUCCESS", pending=first.pending, outs=("a", "b")
        )
        assert second.status is None
        assert [(each.node_id, each.forked) for each in second.started] == [("work3", True), ("work4", True)]
        assert second.pending == ()

    def test_what_a_rider_leads_to_is_pending_with_its_branch_and_reach(self) -> None:
        graph = drawn("in > work0; work0 > pick; pick:yes > work1; pick:no > work2; work1 > out; work2 > out")
        decision = ends(graph, "work0", rides=Rides(outcomes={"pick": takes("no")}), bounds=Bounds(items=9))
        (pending,) = decision.pending
        assert (pending.node_id, pending.branch, pending.reach, pending.edges) == ("pick", "no", 0b00111, (2, 3))

    def test_bytes_are_counted_too(self) -> None:
        graph = drawn("in > work0; work0 > in1 in2 in3; in1 > out; in2 > out; in3 > out")
        decision = ends(graph, "work0", rides=Rides(weighs=600), bounds=Bounds(size=1000))
        assert [each.node_id for each in decision.ended] == ["in1", "in2"]
        assert edges_of(decision.pending) == [("work0", (3,)), ("in1", (4,)), ("in2", (5,))]

    def test_a_bound_too_small_for_a_single_edge_is_refused(self) -> None:
        with pytest.raises(ValueError, match="8 items"):
            Bounds(items=7)

    def test_an_abort_leaves_nothing_pending(self) -> None:
        graph = drawn("in > work0; work0 > in1 work1 work2; in1 > out; work1 > out; work2 > out")
        decision = ends(graph, "work0", rides=Rides(outcomes={"in1": BAD}), bounds=Bounds(items=8))
        assert (decision.pending, decision.end) == ((), RunEnd("FAILED", "in1", "it broke"))


class TestFacts:
    GRAPH = drawn("in > work1 work2; work1 > join; work2 > join; join > out1; in > out2")

    def test_an_edge_that_is_there_already_shows_a_read_across_another_commit(self) -> None:
        with pytest.raises(StaleFacts):
            ends(self.GRAPH, "work1", joins={"join": arrived(e2=0b0011)})

    def test_so_does_a_sink_that_has_ended_already(self) -> None:
        with pytest.raises(StaleFacts):
            ends(self.GRAPH, "join", joins={END: {self.GRAPH.order["out1"]: 0}})

    def test_a_join_that_is_not_known_is_asked_for(self) -> None:
        with pytest.raises(FactsMissing) as missing:
            decide(self.GRAPH, Facts(RUN, visit(self.GRAPH, "work1"), GOOD), Rides())
        assert (missing.value.joins, missing.value.bodies) == ({"join"}, frozenset())

    def test_so_is_what_an_earlier_node_left_behind(self) -> None:
        graph = drawn("in > work1; work1 > out")
        with pytest.raises(FactsMissing) as missing:
            decide(graph, Facts(RUN, visit(graph, "work1"), GOOD), Rides(needs={"out": ["in"]}))
        assert missing.value.bodies == {"in"}
