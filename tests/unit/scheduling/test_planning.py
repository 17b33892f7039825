"""What a planner answers, read and held against the palette and the limits (contract §2)."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepweave.execution.ledger import Ledger, after
from stepweave.graph.topology import Graph
from stepweave.scheduling.planning import Refused, read_decision, visits_left
from stepweave.texts import Text
from tests.unit.scheduling.drawings import drawn

ARROWS = "in > search; search > critique; critique > out"
IN, SEARCH, CRITIQUE, OUT = range(4)  # their places in the drawing


def graph(**planner: Any) -> Graph:
    return drawn(ARROWS, planner=planner)


def visited(*positions: int) -> Ledger:
    ledger: Ledger = ()
    for position in positions:
        ledger = after(ledger, position)
    return ledger


def read(answer: Any, *positions: int, **planner: Any) -> dict[str, Any]:
    text = answer if isinstance(answer, str) else json.dumps(answer)
    return read_decision(text, graph(**planner), visited(IN, *positions))


def refusal(answer: Any, *positions: int, **planner: Any) -> str:
    with pytest.raises(Refused) as refused:
        read(answer, *positions, **planner)
    return refused.value.text.en


@pytest.mark.parametrize(
    "answer",
    [
        '{"next": "search", "reason": "r", "isFinal": false}',
        'Surely:\n```json\n{"next": "search", "reason": "r"}\n```',
        'I choose {"next": " search ", "reason": "r", "isFinal": "false"} now.',
        '{"next": "search", "reason": "r", "isFinal": null, "confidence": 0.9}',
        '{"next": "search", "reason": "r", "instruction": ""}',
    ],
)
def test_models_may_dress_a_decision(answer: str) -> None:
    assert read(answer) == {"next": "search", "reason": "r", "isFinal": False}


@pytest.mark.parametrize("nothing", [None, "", "null", " None ", 0, []])
def test_nothing_next_is_the_end_where_it_is_final_and_refused_where_it_is_not(nothing: Any) -> None:
    assert read({"next": nothing, "reason": "r", "isFinal": True}) == {"next": None, "reason": "r", "isFinal": True}
    assert "isFinal" in refusal({"next": nothing, "reason": "r", "isFinal": False})


@pytest.mark.parametrize("following", ["Search", "in2", "#planner", "off-canvas", {"id": "search"}, 7, True])
def test_a_node_that_is_not_there_is_named_with_those_that_are(following: Any) -> None:
    told = refusal({"next": following, "reason": "r"})
    assert "there is no node" in told
    assert '"search", "critique", "out"' in told


def test_a_user_input_may_be_visited_again_though_it_is_not_offered() -> None:
    assert read({"next": "in", "reason": "ask again"})["next"] == "in"


def test_the_limit_of_a_node_names_the_node_and_the_limit() -> None:
    told = refusal({"next": "search", "reason": "r"}, SEARCH, CRITIQUE, SEARCH, maxVisitsPerNode=2)
    assert "search" in told
    assert "maxVisitsPerNode (2)" in told
    assert read({"next": "critique", "reason": "r"}, SEARCH, CRITIQUE, SEARCH, maxVisitsPerNode=2)


def test_at_the_limit_of_all_visits_only_an_end_is_taken() -> None:
    assert visits_left(graph(maxVisits=2), visited(IN, SEARCH, CRITIQUE)) == 0
    assert "maxVisits (2)" in refusal({"next": "search", "reason": "r"}, SEARCH, CRITIQUE, maxVisits=2)
    assert read({"next": "out", "reason": "r"}, SEARCH, CRITIQUE, maxVisits=2)["next"] == "out"
    assert read({"next": None, "reason": "r", "isFinal": True}, SEARCH, CRITIQUE, maxVisits=2)["isFinal"]


def test_an_instruction_is_for_the_node_beside_the_palette_where_that_is_allowed() -> None:
    own = {"next": None, "instruction": "do this", "reason": "r"}
    assert "allowOffCanvas" in refusal(own)
    assert read(own, allowOffCanvas=True) == {
        "next": "off-canvas",
        "instruction": "do this",
        "reason": "r",
        "isFinal": False,
    }
    assert "instruction" in refusal({"next": "off-canvas", "reason": "r"}, allowOffCanvas=True)
    assert read({**own, "next": "search"}, allowOffCanvas=True)["next"] == "search", "a node that is drawn comes first"


def test_words_of_a_planner_are_bounded() -> None:
    decided = read({"next": None, "instruction": "x" * 50_000, "reason": "y" * 50_000}, allowOffCanvas=True)
    assert (len(decided["instruction"]), len(decided["reason"])) == (20_000, 2_000)


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text() | st.sampled_from(["search", "out", "in"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)
ANSWERS = st.dictionaries(st.sampled_from(["next", "reason", "isFinal", "instruction", "script"]), JSON)


@given(
    ANSWERS.map(json.dumps) | st.text(), st.lists(st.sampled_from([SEARCH, CRITIQUE, OUT]), max_size=6), st.booleans()
)
def test_any_answer_is_a_decision_that_can_be_carried_out_or_refused_in_words(
    answer: str, positions: list[int], off_canvas: bool
) -> None:
    limits = {"maxVisits": 4, "maxVisitsPerNode": 2, "allowOffCanvas": off_canvas}
    drawing = graph(**limits)
    decided, said = _outcome(answer, drawing, visited(IN, *positions))
    if said is not None:
        assert said.zh
        assert said.en
        return
    assert decided["next"] in (*drawing.nodes, None)
    assert isinstance(decided["isFinal"], bool)
    assert decided["next"] is not None or decided["isFinal"]
    assert (decided["next"] == "off-canvas") == ("instruction" in decided)
    if decided["next"] not in ("out", None):
        assert positions.count(drawing.order[decided["next"]]) < 2
        assert len(positions) < 4


def _outcome(answer: str, drawing: Graph, ledger: Ledger) -> tuple[dict[str, Any], Text | None]:
    try:
        return read_decision(answer, drawing, ledger), None
    except Refused as refused:
        return {}, refused.text
