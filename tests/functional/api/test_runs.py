"""Runs over HTTP: created, started, looked at, listed and cancelled (contract §4)."""

import re
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest

from tests.functional.api.definitions import definition, failing, scripted
from tests.functional.api.stack import Stack, parse

TOPIC = {"topic": "hi"}


def test_creating_gives_an_id_a_status_and_links_with_the_workflows_name(stack: Stack) -> None:
    data = stack.data("POST", "/api/v1/workflows/1/runs", {"variables": TOPIC, "async": True})
    assert re.fullmatch(r"[0-9a-f]{8}", data["runId"])
    base = f"/api/v1/workflows/echo/runs/{data['runId']}"
    assert data["links"] == {
        "start": f"{base}/start",
        "stream": f"{base}/stream",
        "result": base,
        "workspace": f"{base}/workspace",
    }
    assert (data["workflowId"], data["status"]) == (1, "CREATED")
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", data["createdAt"])


def test_optional_fields_may_be_null_or_missing_and_no_body_is_an_empty_one(stack: Stack) -> None:
    nulls = dict.fromkeys(("variables", "inputs", "async", "failStrategy", "ttlHours", "callbackUrl"))
    assert stack.data("POST", "/api/v1/workflows/echo/runs", nulls)["status"] == "CREATED"
    assert stack.data("POST", "/api/v1/workflows/echo/runs")["status"] == "CREATED"


def test_inputs_go_under_variables_and_undeclared_ones_are_kept(stack: Stack) -> None:
    run_id = stack.create_run(
        "echo",
        variables={"topic": "from variables", "extra": [1]},
        inputs={"topic": "x", "count": 7, "uploadedFiles": []},
    )
    assert stack.engine.store.inputs(run_id) == {"topic": "from variables", "extra": [1], "count": 7}


def test_starting_gives_the_stream_and_a_second_start_is_refused(stack: Stack) -> None:
    run_id = stack.create_run("echo", variables=TOPIC)
    path = f"/api/v1/workflows/echo/runs/{run_id}"
    assert stack.data("POST", f"{path}/start") == {"runId": run_id, "status": "RUNNING", "streamUrl": f"{path}/stream"}
    again = stack.call("POST", f"{path}/start")
    assert (again.status_code, again.json()["code"]) == (409, "RUN_ALREADY_STARTED")


def test_of_many_starts_at_once_one_wins(stack: Stack) -> None:
    run_id = stack.create_run("echo", variables=TOPIC)
    with ThreadPoolExecutor(8) as pool:
        statuses = list(
            pool.map(lambda _: stack.call("POST", f"/api/v1/workflows/echo/runs/{run_id}/start").status_code, range(8))
        )
    assert sorted(statuses) == [200] + [409] * 7


@pytest.mark.parametrize(
    ("variables", "named"), [({}, "topic"), ({"topic": 3.5, "count": "many"}, "count"), ({"topic": []}, "topic")]
)
def test_inputs_that_are_missing_or_of_another_type_are_refused_at_the_start(
    stack: Stack, variables: dict[str, object], named: str
) -> None:
    run_id = stack.create_run("echo", variables=variables)
    response = stack.call("POST", f"/api/v1/workflows/echo/runs/{run_id}/start")
    assert (response.status_code, response.json()["code"]) == (400, "VALIDATION_FAILED")
    assert named in response.json()["message"]


def test_the_result_tells_status_times_outputs_and_nodes(stack: Stack) -> None:
    run_id = stack.finish_run("echo", variables=TOPIC)
    result = stack.data("GET", f"/api/v1/workflows/echo/runs/{run_id}")
    assert (result["status"], result["error"], result["failedNodeId"]) == ("SUCCESS", None, None)
    assert result["outputs"] == {"status": 200, "message": "workflow completed", "data": {"said": "hi"}}
    assert result["startedAt"] <= result["completedAt"]
    assert [node["nodeId"] for node in result["nodes"]] == ["in", "say", "out"]
    start, say, _ = result["nodes"]
    assert (start["nodeType"], start["label"], start["status"]) == ("userInput", "Start", "SUCCESS")
    assert start["output"] == {"status": 200, "message": "processed", "data": {"topic": "hi", "count": 3}}
    assert "trace" not in say["output"]
    assert say["logsUrl"] == f"/api/v1/workflows/echo/runs/{run_id}/nodes/say/logs"
    (visit,) = say["visits"]
    assert (visit["iterSeq"], visit["sortOrder"], visit["status"]) == (1, 2, "SUCCESS")
    assert result["workspace"]["fileCount"] == 0


def test_before_the_end_the_result_has_no_outputs_and_only_nodes_with_visits(stack: Stack) -> None:
    run_id = stack.create_run("echo", variables=TOPIC)
    created = stack.data("GET", f"/api/v1/workflows/echo/runs/{run_id}")
    assert (created["status"], created["outputs"], created["nodes"]) == ("CREATED", None, [])
    stack.data("POST", f"/api/v1/workflows/echo/runs/{run_id}/start")
    running = stack.data("GET", f"/api/v1/workflows/echo/runs/{run_id}")
    assert {node["nodeId"]: node["status"] for node in running["nodes"]} == {"in": "SUCCESS", "say": "RUNNING"}
    assert running["nodes"][1]["output"] is None


def test_a_failed_run_names_its_node_and_reason_in_the_language_of_the_create_call(stack: Stack) -> None:
    stack.save(failing())
    run_id = stack.data("POST", "/api/v1/workflows/failing/runs", {}, headers={"Accept-Language": "zh"})["runId"]
    stack.data("POST", f"/api/v1/workflows/failing/runs/{run_id}/start")
    stack.drive()
    result = stack.data("GET", f"/api/v1/workflows/failing/runs/{run_id}")
    assert (result["status"], result["failedNodeId"]) == ("FAILED", "bad")
    assert result["error"].startswith("节点 bad 执行失败：")
    assert result["outputs"]["status"] == 400
    assert result["outputs"]["message"] == result["error"]
    bad = result["nodes"][1]
    assert "no luck" in bad["error"]
    assert bad["output"]["status"] == 400


def test_the_runs_fail_strategy_overrides_the_nodes(stack: Stack) -> None:
    stack.save(failing())
    run_id = stack.finish_run("failing", failStrategy="skip")
    result = stack.data("GET", f"/api/v1/workflows/failing/runs/{run_id}")
    assert result["status"] == "SUCCESS"
    assert {node["nodeId"]: node["status"] for node in result["nodes"]}["bad"] == "SKIPPED"


def test_a_node_on_a_dead_path_has_a_skipped_visit_without_output(stack: Stack) -> None:
    choice = {
        "type": "condition",
        "branches": [{"id": "yes", "logic": "AND", "conditions": [{"left": "1", "operator": "eq", "right": "1"}]}],
        "elseBranch": "no",
    }
    nodes = {
        "in": {"type": "userInput"},
        "if": choice,
        "left": scripted("left"),
        "right": scripted("right"),
        "out": {"type": "output"},
    }
    edges = [("in", "if"), ("if", "left", "yes"), ("if", "right", "no"), ("left", "out"), ("right", "out")]
    stack.save(definition("forked", nodes, edges))
    run_id = stack.finish_run("forked")
    result = stack.data("GET", f"/api/v1/workflows/forked/runs/{run_id}")
    right = next(node for node in result["nodes"] if node["nodeId"] == "right")
    assert (right["status"], right["output"], right["error"], len(right["visits"])) == ("SKIPPED", None, None, 1)


def test_logs_of_a_node_carry_their_visit_and_can_be_filtered_by_it(stack: Stack) -> None:
    run_id = stack.finish_run("echo", variables=TOPIC)
    path = f"/api/v1/workflows/echo/runs/{run_id}/nodes/say/logs"
    told = stack.data("GET", path)
    assert told["nodeId"] == "say"
    thinking = next(entry for entry in told["logs"] if entry["type"] == "THINKING")
    assert thinking["message"].startswith("hm")
    assert set(thinking) == {"type", "timestamp", "message", "detail", "visitUuid"}
    assert stack.data("GET", f"{path}?visitUuid={thinking['visitUuid']}") == told
    assert stack.data("GET", f"{path}?visitUuid=00000000-0000-4000-8000-000000000000")["logs"] == []


def test_outputs_of_a_run_and_of_a_node_can_be_asked_for_alone(stack: Stack) -> None:
    run_id = stack.finish_run("echo", variables=TOPIC)
    base = f"/api/v1/workflows/echo/runs/{run_id}"
    result = stack.data("GET", base)
    assert stack.data("GET", f"{base}/output") == result["outputs"]
    say = result["nodes"][1]
    assert stack.data("GET", f"{base}/nodes/say/output") == say["output"]
    assert stack.data("GET", f"{base}/nodes/say/output?visitUuid={say['visits'][0]['visitUuid']}") == say["output"]
    other = result["nodes"][0]["visits"][0]["visitUuid"]
    refused = stack.call("GET", f"{base}/nodes/say/output?visitUuid={other}")
    assert (refused.status_code, refused.json()["code"]) == (404, "NODE_NOT_FOUND")


# Lists


def test_runs_are_listed_newest_first_by_pages_without_repeats_or_holes(stack: Stack) -> None:
    made = []
    for _ in range(7):
        made.append(stack.create_run("echo"))
        stack.clock.ahead += timedelta(seconds=1)
    listed: list[str] = []
    cursor: str | None = ""
    while cursor is not None:
        page = stack.data("GET", f"/api/v1/workflows/echo/runs?limit=3&cursor={cursor}")
        listed += [item["runId"] for item in page["items"]]
        cursor = page["nextCursor"]
    assert listed == made[::-1]


def test_a_list_that_ends_with_its_page_has_no_further_cursor(stack: Stack) -> None:
    for _ in range(3):
        stack.create_run("echo")
    page = stack.data("GET", "/api/v1/workflows/echo/runs?limit=3")
    assert (len(page["items"]), page["nextCursor"]) == (3, None)


def test_runs_are_filtered_by_status(stack: Stack) -> None:
    waiting = stack.create_run("echo")
    done = [stack.finish_run("echo", variables=TOPIC) for _ in range(3)]
    page = stack.data("GET", "/api/v1/workflows/echo/runs?status=SUCCESS&limit=2")
    rest = stack.data("GET", f"/api/v1/workflows/echo/runs?status=SUCCESS&limit=2&cursor={page['nextCursor']}")
    found = [item["runId"] for item in page["items"] + rest["items"]]
    assert sorted(found) == sorted(done)
    assert rest["nextCursor"] is None
    created = stack.data("GET", "/api/v1/workflows/echo/runs?status=CREATED")
    assert [item["runId"] for item in created["items"]] == [waiting]


# Once


def test_the_same_request_under_the_same_idempotency_key_gives_the_same_run(stack: Stack) -> None:
    headers = {"Idempotency-Key": "order-1"}
    path = "/api/v1/workflows/echo/runs"
    first = stack.data("POST", path, {"variables": {"topic": "a", "count": 1}}, headers=headers)
    again = stack.data("POST", path, {"async": None, "variables": {"count": 1, "topic": "a"}}, headers=headers)
    assert again == first
    other = stack.call("POST", path, {"variables": {"topic": "b"}}, headers=headers)
    assert (other.status_code, other.json()["code"]) == (409, "IDEMPOTENCY_CONFLICT")


def test_an_idempotency_key_belongs_to_one_api_key_and_ends_after_24_hours(stack: Stack) -> None:
    headers = {"Idempotency-Key": "order-1"}
    path = "/api/v1/workflows/echo/runs"
    first = stack.data("POST", path, {}, headers=headers)["runId"]
    assert stack.data("POST", path, {}, headers=headers, admin=True)["runId"] != first
    stack.clock.ahead = timedelta(hours=23, minutes=59)
    assert stack.data("POST", path, {}, headers=headers)["runId"] == first
    stack.clock.ahead = timedelta(hours=24, seconds=2)
    assert stack.data("POST", path, {"variables": TOPIC}, headers=headers)["runId"] != first


def test_of_the_same_request_made_many_times_at_once_one_run_comes(stack: Stack) -> None:
    headers = {"Idempotency-Key": "at-once"}
    with ThreadPoolExecutor(8) as pool:
        made = list(
            pool.map(
                lambda _: stack.data("POST", "/api/v1/workflows/echo/runs", {}, headers=headers)["runId"], range(8)
            )
        )
    assert len(set(made)) == 1
    assert len(stack.data("GET", "/api/v1/workflows/echo/runs")["items"]) == 1


# In one call


@pytest.mark.parametrize(
    ("path", "body", "admin"),
    [("/api/v1/workflows/echo/runs", {"async": False}, False), ("/api/workflows/echo/run", {}, True)],
)
def test_a_run_can_be_created_started_and_streamed_in_one_call(
    stack: Stack, path: str, body: dict[str, object], admin: bool
) -> None:
    with stack.driven():
        response = stack.call("POST", path, {"variables": TOPIC, **body}, admin=admin)
    run_id = response.headers["X-Run-Id"]
    assert response.headers["Content-Type"].startswith("text/event-stream")
    assert response.headers["Link"] == f'</api/v1/workflows/echo/runs/{run_id}/stream>; rel="stream"'
    events = parse(response.text)
    assert [number for number, _, _ in events] == list(range(1, len(events) + 1))
    assert events[-1][1] == "workflow_complete"
    assert events[-1][2]["output"]["data"] == {"said": "hi"}


def test_a_repeated_call_with_the_stream_gives_the_same_run_again(stack: Stack) -> None:
    headers = {"Idempotency-Key": "once"}
    body = {"variables": TOPIC, "async": False}
    with stack.driven():
        first = stack.call("POST", "/api/v1/workflows/echo/runs", body, headers=headers)
        again = stack.call("POST", "/api/v1/workflows/echo/runs", body, headers=headers)
    assert again.headers["X-Run-Id"] == first.headers["X-Run-Id"]
    assert parse(again.text) == parse(first.text)


def test_an_error_before_the_start_of_a_streaming_call_is_json(stack: Stack) -> None:
    response = stack.call("POST", "/api/v1/workflows/echo/runs", {"async": False})
    assert response.status_code == 400
    assert response.json()["code"] == "VALIDATION_FAILED"


# Cancel, redrive


def test_a_cancelled_run_ends_failed_with_its_visits_and_one_terminal_event(stack: Stack) -> None:
    run_id = stack.start_run("echo", variables=TOPIC)
    told = stack.data("POST", f"/api/v1/runs/{run_id}/cancel")
    assert told == {"runId": run_id, "status": "FAILED", "error": "CANCELLED"}
    result = stack.data("GET", f"/api/v1/workflows/echo/runs/{run_id}")
    assert (result["status"], result["error"]) == ("FAILED", "CANCELLED")
    say = result["nodes"][1]
    assert (say["status"], say["error"], say["output"]["status"]) == ("FAILED", "CANCELLED", 400)
    last = stack.events(run_id)[-1]
    assert (last["type"], last["data"]["error"]) == ("workflow_error", "CANCELLED")
    again = stack.call("POST", f"/api/v1/runs/{run_id}/cancel")
    assert (again.status_code, again.json()["code"]) == (410, "RUN_ALREADY_FINISHED")


def test_a_run_can_be_cancelled_before_its_start_and_cannot_be_started_then(stack: Stack) -> None:
    run_id = stack.create_run("echo", variables=TOPIC)
    stack.data("POST", f"/api/v1/runs/{run_id}/cancel")
    (event,) = stack.events(run_id)
    assert (event["id"], event["type"], event["data"]["error"]) == (1, "workflow_error", "CANCELLED")
    assert stack.call("POST", f"/api/v1/workflows/echo/runs/{run_id}/start").json()["code"] == "RUN_ALREADY_STARTED"
    stack.clock.ahead = timedelta(hours=26)
    stack.engine.sweep.sweep()
    assert stack.engine.store.events(run_id, 0, 10) == []


def test_redrive_starts_again_what_lost_its_execution(stack: Stack) -> None:
    run_id = stack.start_run("echo", variables=TOPIC)
    stack.chains.running.clear()
    data = stack.data("POST", f"/api/runs/{run_id}/redrive", admin=True)
    assert data == {"runId": run_id, "status": "RUNNING", "restarted": 1}
    stack.drive()
    assert stack.data("GET", f"/api/v1/workflows/echo/runs/{run_id}")["status"] == "SUCCESS"


def test_the_language_of_stored_texts_is_that_of_the_create_call(stack: Stack) -> None:
    response = stack.data(
        "POST", "/api/v1/workflows/echo/runs", {"variables": TOPIC}, headers={"Accept-Language": "zh-CN,zh;q=0.9"}
    )
    stack.data("POST", f"/api/v1/workflows/echo/runs/{response['runId']}/start")
    stack.drive()
    result = stack.data("GET", f"/api/v1/workflows/echo/runs/{response['runId']}")
    assert result["outputs"]["message"] == "工作流执行成功"
    assert result["nodes"][0]["output"]["message"] == "处理成功"
