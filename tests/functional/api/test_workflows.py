"""Workflows over HTTP: what a key may call, and how the platform saves definitions (contract §2 and §4)."""

from tests.functional.api.definitions import echo
from tests.functional.api.stack import Stack


def test_lists_workflows_with_inputs_and_outputs_derived_from_their_nodes(stack: Stack) -> None:
    data = stack.data("GET", "/api/v1/workflows?page=1&size=20&search=")
    assert data == {
        "total": 1,
        "items": [
            {
                "id": 1,
                "name": "echo",
                "title": None,
                "description": "",
                "inputs": [
                    {"name": "topic", "type": "string", "required": True, "description": "What to say"},
                    {"name": "count", "type": "number", "required": False, "default": 3},
                ],
                "outputs": [{"name": "said", "type": "string", "description": "It"}],
            }
        ],
    }


def test_lists_only_workflows_that_the_key_may_call(stack: Stack) -> None:
    stack.save(echo("other"))
    key = stack.data("POST", "/api/keys", {"workflows": ["other"]}, admin=True)["key"]
    assert [item["name"] for item in stack.data("GET", "/api/v1/workflows", key=key)["items"]] == ["other"]


def test_pages_and_search_cut_the_list_while_total_counts_all_that_was_found(stack: Stack) -> None:
    for number in range(5):
        stack.save(echo(f"flow-{number}", title=f"研究报告 {number}", description="Finds THINGS"))
    second = stack.data("GET", "/api/v1/workflows?page=2&size=2&search=things")
    assert second["total"] == 5
    assert [item["name"] for item in second["items"]] == ["flow-2", "flow-3"]
    assert stack.data("GET", "/api/v1/workflows?search=研究报告 4")["total"] == 1
    assert stack.data("GET", "/api/v1/workflows?page=9")["items"] == []


def test_saving_gives_id_name_and_version_and_each_save_makes_the_next_version(stack: Stack) -> None:
    assert stack.data("POST", "/api/workflows", echo("fresh"), admin=True) == {"id": 2, "name": "fresh", "version": 1}
    changed = echo("fresh", description="changed")
    assert stack.data("PUT", "/api/workflows/fresh", changed, admin=True)["version"] == 2
    assert stack.data("GET", "/api/workflows/fresh", admin=True)["description"] == "changed"
    first = stack.data("GET", "/api/workflows/2?version=1", admin=True)
    assert (first["version"], first["latestVersion"], first["id"]) == (1, 2, 2)
    assert first["graphData"] == echo("fresh")["graphData"]


def test_a_definition_may_be_sent_back_as_it_was_shown(stack: Stack) -> None:
    shown = stack.data("GET", "/api/workflows/echo", admin=True)
    assert stack.data("PUT", "/api/workflows/echo", shown, admin=True)["version"] == 2
    again = stack.data("GET", "/api/workflows/echo", admin=True)
    assert again == {**shown, "version": 2, "latestVersion": 2}


def test_a_name_that_is_left_out_in_a_put_is_that_of_the_path_and_another_is_refused(stack: Stack) -> None:
    unnamed = {name: value for name, value in echo().items() if name != "name"}
    assert stack.data("PUT", "/api/workflows/echo", unnamed, admin=True)["name"] == "echo"
    response = stack.call("PUT", "/api/workflows/echo", echo("renamed"), admin=True)
    assert response.status_code == 400
    assert "name" in response.json()["message"]


def test_an_invalid_definition_is_refused_with_every_problem(stack: Stack) -> None:
    broken = echo("broken")
    broken["graphData"]["edges"] = [{"source": "in", "target": "ghost"}]
    response = stack.call("POST", "/api/workflows", broken, admin=True)
    assert response.status_code == 422
    answer = response.json()
    assert answer["code"] == "GRAPH_INVALID"
    codes = {problem["code"] for problem in answer["data"]["problems"]}
    assert "UNKNOWN_NODE" in codes
    assert len(answer["data"]["problems"]) > 2
    assert answer["message"]


def test_problems_are_told_in_the_callers_language(stack: Stack) -> None:
    broken = echo("broken")
    broken["graphData"]["edges"] = []
    chinese = stack.data("POST", "/api/workflows/validate", broken, admin=True, headers={"Accept-Language": "zh-CN"})
    english = stack.data("POST", "/api/workflows/validate", broken, admin=True)
    assert any("节点" in problem["message"] for problem in chinese["problems"])
    assert all("节点" not in problem["message"] for problem in english["problems"])


def test_validating_saves_nothing(stack: Stack) -> None:
    data = stack.data("POST", "/api/workflows/validate", echo("fresh"), admin=True)
    assert data == {"valid": True, "problems": []}
    assert stack.call("GET", "/api/workflows/fresh", admin=True).status_code == 404


def test_a_deleted_workflow_leaves_the_lists_and_its_runs_stay_readable(stack: Stack) -> None:
    run_id = stack.finish_run("echo", variables={"topic": "hi"})
    stack.data("DELETE", "/api/workflows/echo", admin=True)
    assert stack.data("GET", "/api/workflows", admin=True)["total"] == 0
    assert stack.call("POST", "/api/v1/workflows/echo/runs", {}).json()["code"] == "WORKFLOW_NOT_FOUND"
    assert stack.call("GET", "/api/workflows/echo", admin=True).status_code == 404
    assert stack.data("GET", f"/api/v1/workflows/echo/runs/{run_id}")["outputs"]["data"] == {"said": "hi"}
    assert stack.data("GET", "/api/v1/workflows/echo/runs")["items"][0]["runId"] == run_id


def test_the_name_of_a_deleted_workflow_may_be_used_again_with_the_next_version(stack: Stack) -> None:
    stack.data("DELETE", "/api/workflows/echo", admin=True)
    assert stack.data("POST", "/api/workflows", echo(), admin=True) == {"id": 1, "name": "echo", "version": 2}


def test_a_run_keeps_the_version_that_it_was_created_with(stack: Stack) -> None:
    run_id = stack.create_run("echo", variables={"topic": "old"})
    newer = echo()
    newer["graphData"]["nodes"][1]["data"]["script"] = [[{"text": "new"}]]
    stack.data("PUT", "/api/workflows/echo", newer, admin=True)
    stack.data("POST", f"/api/v1/workflows/echo/runs/{run_id}/start")
    stack.drive()
    result = stack.data("GET", f"/api/v1/workflows/echo/runs/{run_id}")
    assert (result["version"], result["outputs"]["data"]) == (1, {"said": "old"})
