"""`/internal/context` over HTTP: the shapes of the seed, what a visit may see, and every status (contract §6)."""

import hashlib
import hmac
import json
import logging
from datetime import timedelta
from typing import Any

import httpx
import pytest

from stepweave import ids
from stepweave.items import TOKENS_EXPIRING
from stepweave.services.context_index import VisitIndex
from stepweave.services.context_queries import ContextQueries
from stepweave.services.context_view import VisitView
from stepweave.services.memory import RunMemory
from stepweave.store.tokens import Tokens
from tests.functional.api.definitions import definition, much, scripted
from tests.functional.api.inside import Inside, go_to
from tests.functional.api.stack import Stack, run_async
from tests.functional.api.test_agentic import agentic, decide, llm
from tests.functional.api.test_agents import TODO_LIST, agent

B = scripted(
    '{"result": "hello", "count": 10}',
    outputs=[{"name": "result", "type": "string"}, {"name": "count", "type": "number"}],
)
CHAIN = {"A": {"type": "userInput"}, "B": B, "C": scripted("c"), "G": scripted("g"), "out": {"type": "output"}}


@pytest.fixture
def stack() -> Stack:
    return Stack(hermes_context_query_public=True)


def chain(name: str = "chain", **nodes: Any) -> dict[str, Any]:
    """A to G, one after the other."""
    return definition(name, CHAIN | nodes, [("A", "B"), ("B", "C"), ("C", "G"), ("G", "out")])


def in_seed_words(inside: Inside, answer: Any, *visits: tuple[str, int]) -> Any:
    """The answer with the visits' uuids as the seed writes them: v1, v2, …"""
    text = json.dumps(answer)
    for number, visit in enumerate(visits, start=1):
        text = text.replace(inside.uuid_of(*visit), f"v{number}")
    return json.loads(text)


# The seed's own examples


def test_the_path_of_a_chain_is_that_of_the_seed(stack: Stack) -> None:
    inside = go_to(stack, chain(), "G")
    response = inside.post("path", {"runId": inside.run.run_id, "visitUuid": inside.visit.visit_uuid})
    told = in_seed_words(inside, response.json(), ("A", 1), ("B", 1), ("C", 1), ("G", 1))
    assert json.dumps(told) == json.dumps(
        {
            "code": 200,
            "message": "success",
            "data": {
                "visitUuids": ["v1", "v2", "v3", "v4"],
                "nodeIds": ["A", "B", "C", "G"],
                "paths": [
                    {
                        "sequence": ["A", "B", "C", "G"],
                        "visitUuids": ["v1", "v2", "v3", "v4"],
                        "hasBacktrack": False,
                    }
                ],
                "backtrackEdgeKeys": [],
            },
        }
    )


def test_the_path_with_a_step_back_is_that_of_the_seed(stack: Stack) -> None:
    nodes = {
        "A": {"type": "userInput", "data": {}},
        **{name: llm(name) for name in "BCG"},
        "out": {"type": "output", "data": {}},
    }
    script = [decide("B"), decide("C"), decide("G"), decide("C", "again"), decide("out", final=True)]
    inside = go_to(stack, agentic(nodes, script), "C", iteration=2)
    told = in_seed_words(
        inside, inside.data("path", visitUuid=inside.visit.visit_uuid), ("A", 1), ("B", 1), ("G", 1), ("C", 2)
    )
    assert json.dumps(told) == json.dumps(
        {
            "visitUuids": ["v1", "v2", "v3", "v4"],
            "nodeIds": ["A", "B", "G", "C"],
            "paths": [{"sequence": ["A", "B", "G", "C"], "visitUuids": ["v1", "v2", "v3", "v4"], "hasBacktrack": True}],
            "backtrackEdgeKeys": ["G->C"],
        }
    )


@pytest.mark.parametrize(
    ("field", "data"), [(None, {"result": "hello", "count": 10}), ("result", "hello"), ("count", 10)]
)
def test_an_output_is_that_of_the_seed(stack: Stack, field: str | None, data: Any) -> None:
    inside = go_to(stack, chain(), "G")
    told = in_seed_words(inside, inside.data("output", nodeId="B", field=field, iterSeq=None), ("A", 1), ("B", 1))
    assert json.dumps(told) == json.dumps(
        {
            "nodeId": "B",
            "iterSeq": 1,
            "visitUuid": "v2",
            "status": 200,
            "message": "called",
            "data": data,
            "requestedField": field,
        }
    )


def talker() -> dict[str, Any]:
    done = [{"text": "A", "status": "completed"}]
    return agent(
        [{"thinking": "第一步"}, {"todo": TODO_LIST}],
        [{"thinking": "第二步"}, {"todo": done}],
        [{"text": "完成"}],
        tools=["todo"],
    )


def test_the_meta_of_each_kind_has_the_shape_of_the_seed(stack: Stack) -> None:
    inside = go_to(stack, chain(B=talker()), "G")
    visit = {"nodeId": "B", "iterSeq": 1, "visitUuid": inside.uuid_of("B")}
    assert inside.data("meta", nodeId="B", kind="THINKING", visitUuid=None, iterSeq=None) == {
        **visit,
        "thinking": "第一步\n第二步\n完成",
    }
    calls = inside.data("meta", nodeId="B", kind="TOOL_CALLS")
    assert list(calls) == ["nodeId", "iterSeq", "visitUuid", "toolCalls"]
    assert [list(call) for call in calls["toolCalls"]] == [["tool", "args"], ["tool", "result"]] * 2
    assert {call["tool"] for call in calls["toolCalls"]} == {"todo"}
    assert inside.data("meta", visitUuid=visit["visitUuid"], kind="TODO") == {
        **visit,
        "todoList": [{"text": "A", "status": "completed"}],
    }
    everything = inside.data("meta", nodeId="B", kind=None)
    assert list(everything) == ["nodeId", "iterSeq", "visitUuid", "thinking", "toolCalls", "todoList", "logs"]
    assert {tuple(entry) for entry in everything["logs"]} == {("type", "timestamp", "message", "detail")}
    assert [entry["type"] for entry in everything["logs"]].count("THINKING") == 3


def test_a_visit_named_goes_before_a_node_named(stack: Stack) -> None:
    inside = go_to(stack, chain(), "G")
    assert inside.data("meta", visitUuid=inside.uuid_of("C"), nodeId="B")["nodeId"] == "C"


# What else a visit may know


def test_the_fields_of_all_that_can_be_seen_and_a_value_by_its_path(stack: Stack) -> None:
    inside = go_to(stack, chain(), "G")
    nodes = inside.data("meta", kind="FIELDS")["nodes"]
    assert [(node["nodeId"], node["iterSeq"], node["data"]) for node in nodes] == [
        ("A", 1, []),
        ("B", 1, ["result", "count"]),
        ("C", 1, ["result"]),
    ]
    assert nodes[1]["trace"] == ["thinking", "tool_calls"]
    assert "model" in nodes[1]["metadata"]
    assert inside.data("meta", kind="VALUE", nodeId="B", field="metadata.model")["value"] == "scripted:inline"
    assert inside.data("meta", kind="VALUE", nodeId="B", path="[count, result]")["value"] == [10, "hello"]
    assert inside.ask("meta", kind="VALUE", nodeId="B", field="metadata.nothing")[0] == 404
    assert inside.ask("meta", kind="VALUE")[0] == 400


def forked() -> dict[str, Any]:
    """A condition takes x; y and z are on the path not taken; s is beside; the join sees x alone, and both ends of s."""
    branches = [{"id": "yes", "conditions": [{"left": "1", "operator": "eq", "right": "1"}]}]
    nodes = {
        "in": {"type": "userInput"},
        "if": {"type": "condition", "branches": branches, "elseBranch": "no"},
        "x": scripted("x"),
        "y": scripted("y"),
        "s": scripted("s"),
        "join": scripted("j"),
        "beside": scripted("b"),
        "out": {"type": "output"},
    }
    edges = [
        ("in", "if"),
        ("if", "x", "yes"),
        ("if", "y", "no"),
        ("if", "join", "no"),
        ("in", "s"),
        ("in", "beside"),
        ("x", "join"),
        ("y", "join"),
        ("s", "join"),
        ("join", "out"),
        ("beside", "out"),
    ]
    return definition("forked", nodes, edges)


def test_paths_go_over_live_edges_only(stack: Stack) -> None:
    inside = go_to(stack, forked(), "join")
    told = inside.data("path", visitUuid=inside.visit.visit_uuid)
    assert [path["sequence"] for path in told["paths"]] == [["in", "if", "x", "join"], ["in", "s", "join"]]
    assert sorted(told["nodeIds"]) == sorted(["in", "if", "x", "s", "join"])
    assert told["nodeIds"][-1] == "join"


@pytest.mark.parametrize("hidden", ["y", "beside", "join", "out", "nobody", "", "#planner"])
def test_what_does_not_lead_to_the_visit_is_not_there(stack: Stack, hidden: str) -> None:
    inside = go_to(stack, forked(), "join")
    assert inside.ask("output", nodeId=hidden)[0] == 404
    assert inside.ask("meta", nodeId=hidden)[0] == 404
    assert inside.ask("meta", visitUuid=ids.visit_uuid(inside.run.run_id, hidden, 1))[0] == 404
    assert inside.ask("path", visitUuid=ids.visit_uuid(inside.run.run_id, hidden, 1))[0] == (
        200 if hidden == "join" else 404
    )


def test_a_ladder_of_diamonds_is_cut_at_a_hundred_paths(stack: Stack) -> None:
    nodes: dict[str, Any] = {"in": {"type": "userInput"}}
    edges: list[tuple[str, ...]] = []
    last = "in"
    join = {"type": "much", "bytes": 1}
    for rung in range(20):
        nodes |= {f"l{rung}": join, f"r{rung}": join, f"j{rung}": join}
        edges += [(last, f"l{rung}"), (last, f"r{rung}"), (f"l{rung}", f"j{rung}"), (f"r{rung}", f"j{rung}")]
        last = f"j{rung}"
    nodes |= {"end": scripted("e"), "out": {"type": "output", "outputs": [{"name": "result"}]}}
    inside = go_to(stack, definition("ladder", nodes, [*edges, (last, "end"), ("end", "out")]), "end")
    told = inside.data("path", visitUuid=inside.visit.visit_uuid)
    assert told["truncated"] is True
    assert len({tuple(path["sequence"]) for path in told["paths"]}) == 100
    assert len(told["nodeIds"]) == 62


def test_earlier_visits_of_a_planner_are_seen_one_by_one(stack: Stack) -> None:
    nodes = {
        "in": {"type": "userInput", "data": {}},
        "say": llm("say"),
        "ask": llm("ask"),
        "out": {"type": "output", "data": {}},
    }
    script = [decide("say"), decide("say"), decide("ask"), decide("say"), decide("out", final=True)]
    inside = go_to(stack, agentic(nodes, script), "ask")
    assert [inside.data("output", nodeId="say", iterSeq=each)["iterSeq"] for each in (None, 1, 2)] == [2, 1, 2]
    assert inside.ask("output", nodeId="say", iterSeq=3)[0] == 404  # it has not been yet
    assert [node["nodeId"] for node in inside.data("meta", kind="FIELDS")["nodes"]] == ["in", "say"]


def test_a_node_that_failed_under_skip_tells_its_status(stack: Stack) -> None:
    broken = {**scripted("x", script=[[{"error": "no luck"}]]), "failStrategy": "skip"}
    inside = go_to(stack, chain(B=broken), "G")
    told = inside.data("output", nodeId="B")
    assert (told["status"], told["data"]) == (400, {})
    assert "no luck" in told["message"]


# What is remembered

WANDERING = ["say", "ask", "say", "say", "ask", "say"]


def wandering() -> dict[str, Any]:
    nodes = {
        "in": {"type": "userInput", "data": {}},
        "say": llm("say"),
        "ask": llm("ask"),
        "out": {"type": "output", "data": {}},
    }
    return agentic(nodes, [*(decide(node) for node in WANDERING), decide("out", final=True)])


@pytest.mark.parametrize("drawn", [wandering, chain, forked])
def test_a_process_that_remembers_answers_as_one_that_does_not_while_another_one_writes(drawn: Any) -> None:
    stack = Stack()
    stack.save(drawn())
    run_id = stack.start_run(drawn()["name"])
    engine = stack.engine  # this one writes
    memory = RunMemory(engine.store)
    warm = ContextQueries(engine.store, memory, VisitIndex(stack.clock, memory), stack.clock)
    answered = 0
    while stack.step():
        run = engine.runs.get(run_id)
        graph = engine.workflows.graph(run.workflow, run.version)
        for visit in engine.store.visits(run_id):
            if visit.status != "RUNNING" or visit.is_hidden:
                continue
            view = VisitView(run, graph, visit)
            forgetful = RunMemory(engine.store)
            cold = ContextQueries(engine.store, forgetful, VisitIndex(stack.clock, forgetful), stack.clock)
            assert warm.path(view, visit.visit_uuid) == cold.path(view, visit.visit_uuid)
            assert warm.fields(view) == cold.fields(view)
            for node_id, iteration in view.visible():
                assert warm.output(view, node_id, None, iteration) == cold.output(view, node_id, None, iteration)
                assert warm.meta(view, node_id, "ALL", iteration) == cold.meta(view, node_id, "ALL", iteration)
            answered += 1
    assert answered >= 2


def test_what_is_remembered_is_not_read_again(stack: Stack, monkeypatch: pytest.MonkeyPatch) -> None:
    inside = go_to(stack, forked(), "join")
    view = VisitView(inside.run, stack.engine.workflows.graph("forked", 1), inside.visit)
    queries = stack.engine.context_queries
    told = queries.path(view, inside.visit.visit_uuid), queries.output(view, "x", None, None), queries.fields(view)
    for name in ("get", "get_many", "query"):
        monkeypatch.setattr(stack.items, name, None)
    assert told == (
        queries.path(view, inside.visit.visit_uuid),
        queries.output(view, "x", None, None),
        queries.fields(view),
    )


# Sizes


def test_a_value_over_100_kb_is_cut_and_marked(stack: Stack) -> None:
    inside = go_to(stack, with_asker(much("large", 102_400, 102_401)), "ask")
    whole = inside.data("output", nodeId="much0", field="result")
    assert (len(whole["data"]), "truncated" in whole) == (102_400, False)
    cut = inside.data("output", nodeId="much1")
    assert (len(cut["data"]["result"]), cut["truncated"]) == (102_400, True)


def test_field_names_made_to_confuse_are_names_like_others(stack: Stack) -> None:
    names = [
        "__class__",
        "__proto__",
        "constructor",
        "data",
        "status",
        "token",
        "code",
        "$ref",
        "a.b",
        "x" * 300,
        "\u202e",
    ]
    confusing = scripted(
        json.dumps({name: f"value of {name}" for name in names}), outputs=[{"name": "result", "type": "object"}]
    )
    inside = go_to(stack, chain(B=confusing), "G")
    whole = inside.data("output", nodeId="B")
    assert list(whole) == ["nodeId", "iterSeq", "visitUuid", "status", "message", "data", "requestedField"]
    values = whole["data"]["result"]
    values = json.loads(values) if isinstance(values, str) else values
    assert values == {name: f"value of {name}" for name in names}
    told = inside.data("meta", kind="VALUE", nodeId="B", field="result.__class__")
    assert told["value"] == "value of __class__"
    for name in ("__class__", "__init__.__globals__", "result.__init__", "..", "$", "{{x}}", "' OR 1=1"):
        assert inside.ask("output", nodeId="B", field=name)[0] == 404
        assert inside.ask("meta", kind="VALUE", nodeId="B", field=name)[0] == 404


def with_asker(definition: dict[str, Any]) -> dict[str, Any]:
    """A model before the output."""
    graph = definition["graphData"]
    data = {key: value for key, value in scripted("a").items() if key != "type"}
    graph["nodes"].append({"id": "ask", "type": "llm", "data": data})
    [last] = [edge for edge in graph["edges"] if edge["target"] == "out"]
    graph["edges"] += [{"source": last["source"], "target": "ask"}, {"source": "ask", "target": "out"}]
    graph["edges"].remove(last)
    return definition


# Tokens, and how they are misused


def test_a_missing_field_is_told_with_those_there_are(stack: Stack) -> None:
    status, message = go_to(stack, chain(), "G").ask("output", nodeId="B", field="resutl")
    assert status == 404
    assert "result, count" in message


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b"nonsense",
        b'{"nodeId": "B"}',
        b'{"runId": 5, "nodeId": "B"}',
        b'{"runId": "%s", "nodeId": "B", "iterSeq": 0}',
        b'{"runId": "%s", "nodeId": "B", "iterSeq": true}',
        b'{"runId": "%s", "nodeId": "B", "field": {}}',
        b'{"runId": "%s"}',
        b'{"runId": "%s", "nodeId": "B", "field": "' + b"x" * 9_000 + b'"}',
        b"[" * 8_000,
    ],
)
def test_a_bad_body_is_400(stack: Stack, body: bytes) -> None:
    inside = go_to(stack, chain(), "G")
    content = body.replace(b"%s", inside.run.run_id.encode())
    headers = {"X-Context-Token": inside.token, "Content-Type": "application/json"}
    response = stack.call("POST", "/internal/context/output", headers=headers, content=content)
    assert (response.status_code, response.json()["code"]) == (400, 400)


def test_meta_needs_a_node_or_a_visit_and_a_kind_that_there_is(stack: Stack) -> None:
    inside = go_to(stack, chain(), "G")
    assert inside.ask("meta")[0] == 400
    assert inside.ask("meta", nodeId="B", kind="thinking")[0] == 400


def test_anything_but_json_is_400(stack: Stack) -> None:
    inside = go_to(stack, chain(), "G")
    headers = {"X-Context-Token": inside.token, "Content-Type": "text/plain"}
    content = json.dumps({"runId": inside.run.run_id, "nodeId": "B"})
    assert stack.call("POST", "/internal/context/output", headers=headers, content=content).status_code == 400


def test_a_token_that_is_none_is_401(stack: Stack) -> None:
    inside = go_to(stack, chain(), "G")
    body = {"runId": inside.run.run_id, "nodeId": "B"}
    changed = ("1" if inside.token[0] == "0" else "0") + inside.token[1:]
    for wrong in (changed, inside.token[:-1], inside.token.upper() + "0", "", "0" * 48, "é" * 48, f" {inside.token}x"):
        response = stack.call(
            "POST", "/internal/context/output", body, headers={"X-Context-Token": wrong.encode("utf-8")}
        )
        assert response.status_code == 401, wrong
        assert response.json()["data"] is None
    assert stack.call("POST", "/internal/context/output", body).status_code == 401
    assert inside.post("output", body).status_code == 200


def test_no_refusal_of_a_token_tells_why(stack: Stack, monkeypatch: pytest.MonkeyPatch) -> None:
    """Finished, expired, one digit changed, none, two: one answer, and only hashes are compared, in constant time."""
    compared: list[tuple[str, str]] = []
    compare_digest = hmac.compare_digest

    def recording(one: str, other: str) -> bool:
        compared.append((one, other))
        return compare_digest(one, other)

    monkeypatch.setattr(hmac, "compare_digest", recording)
    inside = go_to(stack, chain(), "G")
    body = {"runId": inside.run.run_id, "nodeId": "B"}
    changed = inside.token[:-1] + ("1" if inside.token[-1] == "0" else "0")
    refused = [
        run_async(post_as_it_is(stack, body, [("X-Context-Token", token) for token in tokens]))
        for tokens in ((), ("",), (changed,), (inside.token, changed), (inside.token, inside.token))
    ]
    stack.clock.ahead = timedelta(seconds=121)
    refused.append(run_async(post_as_it_is(stack, body, [("X-Context-Token", inside.token)])))
    stack.clock.ahead = timedelta()
    assert run_async(post_as_it_is(stack, body, [("X-Context-Token", inside.token)])).status_code == 200
    stack.drive()
    refused.append(run_async(post_as_it_is(stack, body, [("X-Context-Token", inside.token)])))
    assert {response.status_code for response in refused} == {401}
    assert len({response.content for response in refused}) == 1
    hashed = hashlib.sha256(inside.token.encode()).hexdigest()
    assert (hashed, hashed) in compared
    assert inside.token not in str(compared)


def test_an_item_under_another_tokens_hash_is_worth_nothing(stack: Stack, monkeypatch: pytest.MonkeyPatch) -> None:
    inside = go_to(stack, chain(), "G")
    [stored] = stack.items.query_index(TOKENS_EXPIRING, "context")
    find = Tokens.find
    monkeypatch.setattr(Tokens, "find", lambda self, _: find(self, stored["tokenHash"]))  # whatever is asked for
    assert inside.ask("output", nodeId="B")[0] == 200
    body = {"runId": inside.run.run_id, "nodeId": "B"}
    response = stack.call("POST", "/internal/context/output", body, headers={"X-Context-Token": "0" * 48})
    assert response.status_code == 401


def test_two_tokens_at_once_are_401_even_when_both_are_good(stack: Stack) -> None:
    inside = go_to(stack, chain(), "G")
    twice = [("X-Context-Token", inside.token)] * 2
    response = run_async(post_as_it_is(stack, {"runId": inside.run.run_id, "nodeId": "B"}, twice))
    assert response.status_code == 401


async def post_as_it_is(stack: Stack, body: Any, headers: list[tuple[str, str]]) -> httpx.Response:
    transport = httpx.ASGITransport(stack.app)
    async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
        return await client.post("/internal/context/output", json=body, headers=headers)


def test_a_token_of_another_run_is_403(stack: Stack) -> None:
    inside = go_to(stack, chain(), "G")
    other = stack.start_run("chain")
    assert inside.post("output", {"runId": other, "nodeId": "B"}).status_code == 403
    assert inside.post("output", {"runId": "nonsense", "nodeId": "B"}).status_code == 403


def test_an_expired_token_is_401_though_it_is_still_stored(stack: Stack) -> None:
    inside = go_to(stack, chain(), "G")
    stack.clock.ahead = timedelta(seconds=119)
    assert inside.ask("output", nodeId="B")[0] == 200
    stack.clock.ahead = timedelta(seconds=120)
    assert inside.ask("output", nodeId="B")[0] == 401


def test_a_token_of_a_finished_visit_is_401(stack: Stack) -> None:
    inside = go_to(stack, chain(), "G")
    stack.drive()
    assert inside.ask("output", nodeId="B")[0] == 401


def test_no_other_route_is_there_and_no_other_method(stack: Stack) -> None:
    inside = go_to(stack, chain(), "G")
    assert inside.post("logs", {}).json()["code"] == 404
    assert stack.call("GET", "/internal/context/path", headers={"X-Context-Token": inside.token}).status_code == 405


@pytest.mark.parametrize("public", [True, False])
def test_switched_off_everything_is_503_and_no_token_is_needed_to_learn_it(public: bool) -> None:
    stack = Stack(hermes_context_query_public=public, hermes_context_query_enabled=False)
    assert stack.call("POST", "/internal/context/path", {}).json()["code"] == 503
    assert stack.call("POST", "/internal/context/nonsense", {}).status_code == 503


def test_the_public_api_answers_no_context_query_unless_it_is_told_to() -> None:
    stack = Stack()
    inside = go_to(stack, chain(), "G")
    response = inside.post("path", {"runId": inside.run.run_id, "visitUuid": inside.visit.visit_uuid})
    assert (response.status_code, response.json()["code"]) == (404, "NOT_FOUND")


def test_no_log_line_holds_the_token(stack: Stack, caplog: pytest.LogCaptureFixture) -> None:
    inside = go_to(stack, chain(), "G")
    with caplog.at_level(logging.DEBUG):
        inside.ask("output", nodeId="B")
        inside.ask("output", nodeId="nobody")
        inside.post("output", {"runId": "00000000", "nodeId": "B"})
        stack.drive()
        inside.ask("output", nodeId="B")
    told = [record for record in caplog.records if record.name == "stepweave.services.context_desk"]
    assert [(record.route, record.status) for record in told] == [  # type: ignore[attr-defined]
        ("output", 200),
        ("output", 404),
        ("output", 403),
        ("output", 401),
    ]
    assert inside.token not in " ".join(str(vars(record)) for record in caplog.records)
    assert inside.token[:12] not in caplog.text


def test_words_are_in_the_callers_language(stack: Stack) -> None:
    inside = go_to(stack, chain(), "G")
    body = {"runId": inside.run.run_id, "nodeId": "nobody"}
    assert "看不到" in inside.post("output", body, Accept_Language="zh").json()["message"]
    assert "cannot be seen" in inside.post("output", body).json()["message"]
