"""AGENTIC runs over HTTP (contract §2): a planner chooses node after node, comes back, ends; and what stands in its way."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from stepweave.services import visit_work
from tests.functional.api.stack import Stack


def decide(following: str | None, reason: str = "r", *, final: bool = False, **more: Any) -> list[dict[str, Any]]:
    return [{"decide": {"next": following, "reason": reason, "isFinal": final, **more}}]


def says(text: str) -> list[list[dict[str, Any]]]:
    return [[{"text": text}]]


def llm(prompt: str, output: str = "result", script: Any = None, **data: Any) -> dict[str, Any]:
    """Says its prompt, unless there is a script."""
    played = says("$prompt") if script is None else script
    outputs = [{"name": output, "type": "string"}]
    return {
        "type": "llm",
        "data": {"model": "scripted:inline", "userPrompt": prompt, "outputs": outputs, "script": played, **data},
    }


IN = {"type": "userInput", "data": {"variables": [{"name": "topic", "type": "string"}]}}
OUT = {"type": "output", "data": {}}
LOOP = {
    "in": IN,
    "search": llm("find {{topic}} after {{verdict}}", "found"),
    "critique": llm("judge {{found}}", "verdict"),
    "out": {"type": "output", "data": {"outputs": [{"name": "found"}, {"name": "verdict"}]}},
}


def agentic(nodes: dict[str, Any], script: list[Any], *edges: tuple[str, str], **planner: Any) -> dict[str, Any]:
    return {
        "name": "wandering",
        "mode": "AGENTIC",
        "graphData": {
            "nodes": [{"id": name, **node} for name, node in nodes.items()],
            "edges": [{"source": source, "target": target} for source, target in edges],
        },
        "planner": {"model": "scripted:inline", "instructions": "until good", "script": script, **planner},
    }


def play(stack: Stack, nodes: dict[str, Any], script: list[Any], *edges: tuple[str, str], **planner: Any) -> str:
    run = planner.pop("run", {})
    definition = agentic(nodes, script, *edges, **planner)
    if stack.call("POST", "/api/workflows", definition, admin=True).status_code == 409:
        stack.data("PUT", "/api/workflows/wandering", definition, admin=True)
    return stack.finish_run("wandering", variables={"topic": "tea"}, **run)


def result(stack: Stack, run_id: str) -> dict[str, Any]:
    shown: dict[str, Any] = stack.data("GET", f"/api/v1/workflows/wandering/runs/{run_id}")
    return shown


def visited(stack: Stack, run_id: str) -> list[tuple[str, int]]:
    """The visits as their events tell them, in order."""
    told = [event["data"]["visit"] for event in stack.events(run_id) if event["type"] == "visit_recorded"]
    assert [visit["sortOrder"] for visit in told] == list(range(1, len(told) + 1))
    return [(visit["nodeId"], visit["iterSeq"]) for visit in told]


def decisions(stack: Stack, run_id: str) -> list[Any]:
    return [event["data"]["decision"] for event in stack.events(run_id) if event["type"] == "planner_decision"]


def test_the_planner_comes_back_and_each_visit_sees_the_latest_of_the_others(stack: Stack) -> None:
    script = [decide("search"), decide("critique"), decide("search", "again"), decide("out", final=True)]
    run_id = play(stack, LOOP, script)
    shown = result(stack, run_id)
    assert shown["status"] == "SUCCESS", shown["error"]
    assert shown["outputs"]["data"] == {
        "found": "find tea after judge find tea after ",
        "verdict": "judge find tea after ",
    }
    assert visited(stack, run_id) == [("in", 1), ("search", 1), ("critique", 1), ("search", 2), ("out", 1)]
    assert decisions(stack, run_id) == [
        {"next": "search", "reason": "r", "isFinal": False},
        {"next": "critique", "reason": "r", "isFinal": False},
        {"next": "search", "reason": "again", "isFinal": False},
        {"next": "out", "reason": "r", "isFinal": True},
    ]
    assert [len(node["visits"]) for node in shown["nodes"]] == [1, 2, 1, 1]


def test_a_visit_tells_the_decision_it_follows_from_and_the_visit_it_comes_from(stack: Stack) -> None:
    script = [decide("search", "first"), decide("critique"), decide("search", "second"), decide(None, final=True)]
    run_id = play(stack, LOOP, script)
    visits = [event["data"]["visit"] for event in stack.events(run_id) if event["type"] == "visit_recorded"]
    uuids = [visit["visitUuid"] for visit in visits]
    assert len(set(uuids)) == 5
    assert [visit["fromVisitUuid"] for visit in visits] == [None, *uuids[:-1]]
    assert [visit["fromNodeId"] for visit in visits] == [None, "in", "search", "critique", "search"]
    told = [visit["decisionJson"] and json.loads(visit["decisionJson"])["reason"] for visit in visits]
    assert told == [None, "first", "r", "second", None]
    assert {visit["offCanvas"] for visit in visits} == {False}


@pytest.fixture
def looking() -> list[Any]:
    """A planner that looks closer before it decides, is refused, and decides with what it has seen."""
    look = [{"tool": {"name": "get_node_output", "args": {"nodeId": "search", "field": "found"}}}]
    return [
        decide("search"),
        look,
        decide("nowhere"),
        [{"decide": {"next": "out", "reason": "$tool", "isFinal": True}}],
    ]


def test_the_planner_looks_closer_with_the_context_tools(stack: Stack, looking: list[Any]) -> None:
    run_id = play(stack, LOOP, looking)
    assert result(stack, run_id)["status"] == "SUCCESS"
    seen = json.loads(decisions(stack, run_id)[1]["reason"])
    assert (seen["nodeId"], seen["data"], seen["iterSeq"]) == ("search", "find tea after ", 1)


def test_the_planner_sees_the_chain_of_visits_that_it_decides_after(stack: Stack) -> None:
    look = [{"tool": {"name": "get_predecessor_paths", "args": {}}}]
    script = [decide(each) for each in ("search", "critique", "search")]
    run_id = play(stack, LOOP, [*script, look, [{"decide": {"next": None, "reason": "$tool", "isFinal": True}}]])
    seen = json.loads(decisions(stack, run_id)[3]["reason"])
    assert seen["nodeIds"][:-1] == ["in", "critique", "search"]
    assert seen["backtrackEdgeKeys"] == ["critique->search"]


def test_a_planner_without_context_queries_decides_all_the_same(looking: list[Any]) -> None:
    stack = Stack(hermes_context_query_enabled=False)
    run_id = play(stack, LOOP, looking)
    assert result(stack, run_id)["status"] == "SUCCESS"
    assert "get_node_output" in decisions(stack, run_id)[1]["reason"], "it is told that there is no such tool"


def test_a_planner_that_asks_on_and_on_ends_the_run_with_a_sentence(stack: Stack) -> None:
    look = [{"tool": {"name": "workflow_context_list", "args": {}}}]
    shown = result(stack, play(stack, LOOP, [decide("search"), *[look] * 30], maxSteps=5))
    assert shown["status"] == "FAILED"
    assert "maxSteps (5)" in shown["error"]


def test_history_and_events_tell_the_same_visits_and_decisions(stack: Stack) -> None:
    script = [decide("search"), decide("critique"), decide("search", "again"), decide("out", final=True)]
    run_id = play(stack, LOOP, script)
    told = {
        event["data"]["visit"]["visitUuid"]: event["data"]["visit"]
        for event in stack.events(run_id)
        if event["type"] == "visit_recorded"
    }
    entries = stack.data("GET", f"/api/runs/{run_id}/nodes", admin=True)
    entries = entries["items"] if isinstance(entries, dict) else entries
    assert [entry["visitUuid"] for entry in entries] == list(told)
    for entry in entries:
        visit = told[entry["visitUuid"]]
        same = ["nodeId", "nodeType", "iterSeq", "status", "sortOrder", "fromVisitUuid", "fromNodeId", "offCanvas"]
        assert {name: entry[name] for name in same} == {name: visit[name] for name in same}
        assert entry["decision"] == (json.loads(visit["decisionJson"]) if visit["decisionJson"] else None)
        assert entry["output"] == json.loads(visit["outputJson"])
        assert entry["variables"] == json.loads(visit["variablesJson"])


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (decide("nowhere"), "nowhere"),
        ([{"text": "search, please"}], "JSON"),
        (decide(None), "isFinal"),
        (decide("search", final=False, isFinal="maybe"), "isFinal"),
        (decide(None, instruction="do as I say"), "allowOffCanvas"),
        ([{"text": "[1, 2]"}], "JSON"),
        (decide("#planner"), "#planner"),
    ],
)
def test_a_decision_that_cannot_be_carried_out_is_asked_for_again_three_times(
    stack: Stack, answer: list[Any], told: str
) -> None:
    run_id = play(stack, LOOP, [answer, answer, answer, decide("search"), decide("out", final=True)])
    assert result(stack, run_id)["status"] == "SUCCESS"
    assert [each["next"] for each in decisions(stack, run_id)] == ["search", "out"]
    run_id = play(stack, LOOP, [answer] * 4 + [decide("out", final=True)])
    shown = result(stack, run_id)
    assert shown["status"] == "FAILED"
    assert told in shown["error"]
    assert "planner" in shown["error"]
    assert shown["failedNodeId"] is None
    assert decisions(stack, run_id) == []


@pytest.mark.parametrize(("limits", "visits"), [({"maxVisitsPerNode": 3}, 3), ({"maxVisits": 3}, 3)])
def test_a_planner_that_loops_for_ever_stops_at_the_limit_with_everything_readable(
    stack: Stack, limits: dict[str, int], visits: int
) -> None:
    run_id = play(stack, LOOP, [decide("search")] * 20, **limits)
    shown = result(stack, run_id)
    assert shown["status"] == "FAILED"
    assert next(iter(limits)) in shown["error"]
    assert "3" in shown["error"]
    assert visited(stack, run_id) == [("in", 1), *(("search", number) for number in range(1, visits + 1))]
    search = next(node for node in shown["nodes"] if node["nodeId"] == "search")
    assert search["output"]["data"] == {"found": "find tea after "}


def test_at_the_limit_of_all_visits_the_planner_may_still_end_the_run(stack: Stack) -> None:
    run_id = play(stack, LOOP, [decide("search")] * 4 + [decide(None, final=True)], maxVisits=3)
    assert result(stack, run_id)["outputs"]["data"] == {"found": "find tea after ", "verdict": None}


def test_is_final_runs_next_and_then_an_output(stack: Stack) -> None:
    run_id = play(stack, LOOP, [decide("search", final=True)])
    assert visited(stack, run_id) == [("in", 1), ("search", 1), ("out", 1)]
    assert result(stack, run_id)["status"] == "SUCCESS"


def test_an_output_ends_the_run_also_without_is_final(stack: Stack) -> None:
    run_id = play(stack, LOOP, [decide("search"), decide("out")])
    assert result(stack, run_id)["outputs"]["data"]["found"] == "find tea after "


def test_of_several_outputs_the_one_that_the_last_node_leads_to_is_the_end(stack: Stack) -> None:
    nodes = LOOP | {"other": {"type": "output", "data": {"outputs": [{"name": "found"}]}}}
    run_id = play(stack, nodes, [decide("search", final=True)], ("search", "other"))
    assert visited(stack, run_id)[-1] == ("other", 1)


def test_a_failure_that_is_skipped_is_told_to_the_planner_who_goes_on(stack: Stack) -> None:
    broken = llm("x", script=[[{"error": "no such page"}]], failStrategy="skip")
    nodes = LOOP | {"broken": broken}
    run_id = play(stack, nodes, [decide("broken"), [{"text": "$prompt"}], decide("search"), decide("out")])
    shown = result(stack, run_id)
    assert shown["status"] == "SUCCESS"
    node = next(each for each in shown["nodes"] if each["nodeId"] == "broken")
    assert (node["status"], node["error"]) == ("SKIPPED", "no such page")


def test_a_failure_ends_the_run_where_it_is_not_skipped(stack: Stack) -> None:
    run_id = play(stack, LOOP | {"broken": llm("x", script=[[{"error": "no"}]])}, [decide("broken")])
    shown = result(stack, run_id)
    assert (shown["status"], shown["failedNodeId"]) == ("FAILED", "broken")


def test_a_planner_whose_provider_fails_is_tried_again_and_then_ends_the_run(stack: Stack) -> None:
    busy = {"error": "busy", "retryable": True}
    run_id = play(stack, LOOP, [[busy, *decide("search")], [busy, *decide("out")]])
    assert result(stack, run_id)["status"] == "SUCCESS"
    shown = result(stack, play(stack, LOOP, [[busy, busy, busy, *decide("search")]]))
    assert (shown["status"], shown["error"]) == ("FAILED", "the planner failed: busy")


def test_a_condition_is_one_more_node_of_the_palette(stack: Stack) -> None:
    condition = {
        "type": "condition",
        "data": {
            "branches": [
                {"id": "tea", "logic": "AND", "conditions": [{"left": "{{topic}}", "operator": "eq", "right": "tea"}]}
            ],
            "elseBranch": "other",
        },
    }
    run_id = play(stack, LOOP | {"pick": condition}, [decide("pick"), decide("search"), decide("out")])
    assert visited(stack, run_id) == [("in", 1), ("pick", 1), ("search", 1), ("out", 1)]


def test_off_canvas_the_planner_gives_an_instruction_of_its_own(stack: Stack) -> None:
    script = [
        decide(None, instruction="sum up {{topic}}"),
        decide(None, instruction="and again", script=says("done")),
        decide("out"),
    ]
    run_id = play(stack, LOOP | {"out": OUT}, script, allowOffCanvas=True)
    shown = result(stack, run_id)
    assert shown["status"] == "SUCCESS", shown["error"]
    assert visited(stack, run_id) == [("in", 1), ("off-canvas", 1), ("off-canvas", 2), ("out", 1)]
    visits = [event["data"]["visit"] for event in stack.events(run_id) if event["type"] == "visit_recorded"]
    assert [visit["offCanvas"] for visit in visits] == [False, True, True, False]
    assert [visit["nodeType"] for visit in visits[1:3]] == ["smartAction"] * 2
    assert shown["outputs"]["data"]["result"] == "done"
    first = json.loads(visits[1]["outputJson"])["data"]
    assert first == {"result": "sum up {{topic}}"}, "the planner's words are no template"
    assert decisions(stack, run_id)[1] == {
        "next": "off-canvas",
        "reason": "r",
        "isFinal": False,
        "instruction": "and again",
    }


def test_a_node_asks_a_person_and_the_planner_goes_on_with_the_answer(stack: Stack) -> None:
    asking = {
        "type": "agent",
        "data": {
            "model": "scripted:inline",
            "prompt": "which?",
            "script": [
                [{"ask": {"question": "which?", "options": [{"label": "A", "value": "a"}]}}],
                [{"text": "took $answer"}],
            ],
        },
    }
    run_id = play(stack, {"in": IN, "ask": asking, "out": OUT}, [decide("ask"), decide("ask"), decide("out")])
    for _ in range(2):
        pause = stack.data("GET", f"/api/v1/runs/{run_id}/state")["currentPause"]
        stack.data("POST", f"/api/v1/runs/{run_id}/resume", {"clarifyId": pause["clarifyId"], "answer": "a"})
        stack.drive()
    assert result(stack, run_id)["outputs"]["data"]["result"] == "took a"
    assert visited(stack, run_id) == [("in", 1), ("ask", 1), ("ask", 2), ("out", 1)]


def test_a_run_cancelled_between_decision_and_visit_ends_as_cancelled(stack: Stack) -> None:
    stack.save(agentic(LOOP, [decide("search"), decide("out")]))
    run_id = stack.start_run("wandering", variables={"topic": "tea"})
    stack.step()  # the planner
    stack.data("POST", f"/api/v1/runs/{run_id}/cancel")
    stack.drive()
    shown = result(stack, run_id)
    assert (shown["status"], shown["error"]) == ("FAILED", "CANCELLED")
    assert len(decisions(stack, run_id)) == 1
    assert [node["nodeId"] for node in shown["nodes"]] == ["in", "search"]


@contextmanager
def counted(items: Any) -> Iterator[list[str]]:
    """The requests that are made of a store meanwhile, by their names."""
    requests: list[str] = []

    def counting(name: str, request: Any) -> Any:
        def call(*arguments: Any, **options: Any) -> Any:
            requests.append(name)
            return request(*arguments, **options)

        return call

    names = [name for name in dir(type(items)) if not name.startswith("_")]
    for name in names:
        setattr(items, name, counting(name, getattr(items, name)))
    yield requests
    for name in names:
        delattr(items, name)


def test_a_visit_costs_the_same_however_long_the_run_is(stack: Stack, monkeypatch: pytest.MonkeyPatch) -> None:
    """Law 6: the requests of a decision and a visit, early in the run and late."""
    monkeypatch.setattr(visit_work, "FLUSH_SECONDS", 3600)  # how often a slow machine writes deltas is another matter
    stack.save(agentic(LOOP, [decide("search"), decide("critique")] * 60 + [decide("out")], maxVisitsPerNode=100))
    stack.start_run("wandering", variables={"topic": "tea"})
    spent: list[int] = []
    with counted(stack.items) as requests:
        while stack.step():
            spent.append(len(requests))
            requests.clear()
    rounds = [sum(spent[place : place + 4]) for place in range(9, len(spent) - 4, 4)]
    assert len(rounds) > 50
    assert set(rounds) == {rounds[0]}


@pytest.mark.parametrize(
    ("planner", "place"),
    [
        ({"model": "nobody"}, "planner.model"),
        ({"model": "  "}, "planner.model"),
        ({"script": [[{"sing": "x"}]]}, "planner.script[0][0]"),
        ({"script": "decide"}, "planner.script"),
        ({"maxVisits": 0}, "planner.maxVisits"),
    ],
)
def test_a_planner_that_cannot_plan_is_refused_when_it_is_saved(
    stack: Stack, planner: dict[str, Any], place: str
) -> None:
    refused = stack.call(
        "POST",
        "/api/workflows",
        agentic(LOOP, [decide("out")])
        | {"planner": {"model": "scripted:inline", "script": [decide("out")], **planner}},
        admin=True,
    )
    assert (refused.status_code, refused.json()["code"]) == (422, "GRAPH_INVALID")
    problems = refused.json()["data"]["problems"]
    assert [problem["code"] for problem in problems] == ["BAD_PLANNER"]
    assert place in problems[0]["message"]
