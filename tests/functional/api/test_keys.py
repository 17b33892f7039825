"""API keys over HTTP: shown once, bound to workflows, revoked within seconds (contract §4)."""

from datetime import timedelta

import pytest

from tests.functional.api.definitions import echo
from tests.functional.api.stack import Stack


def make(stack: Stack, **body: object) -> tuple[str, str]:
    data = stack.data("POST", "/api/keys", body, admin=True)
    return data["keyId"], data["key"]


def test_a_key_is_shown_once_and_kept_hashed(stack: Stack) -> None:
    key_id, secret = make(stack, name="shop", scopes=["run"], workflows=["echo"])
    listed = stack.data("GET", "/api/keys", admin=True)
    mine = next(item for item in listed["items"] if item["keyId"] == key_id)
    assert set(mine) == {"keyId", "name", "scopes", "workflows", "createdAt"}
    assert (mine["name"], mine["scopes"], mine["workflows"]) == ("shop", ["run"], ["echo"])
    assert listed["total"] == 3
    assert secret not in repr(stack.items._items)


def test_the_secret_that_signs_callbacks_is_shown_once_and_is_another_for_each_key(stack: Stack) -> None:
    made = [stack.data("POST", "/api/keys", {}, admin=True) for _ in range(2)]
    secrets = {each["callbackSecret"] for each in made}
    assert len(secrets | {each["key"] for each in made}) == 4
    listed = stack.call("GET", "/api/keys", admin=True).text
    assert not [secret for secret in secrets if secret in listed]


def test_a_key_without_fields_runs_every_workflow(stack: Stack) -> None:
    _, secret = make(stack)
    assert stack.data("GET", "/api/v1/workflows", key=secret)["total"] == 1
    assert stack.call("GET", "/api/keys", key=secret).status_code == 401


def test_an_admin_key_calls_workflows_too(stack: Stack) -> None:
    assert stack.data("GET", "/api/v1/workflows", admin=True)["total"] == 1


def test_a_bound_key_may_call_its_workflows_only(stack: Stack) -> None:
    stack.save(echo("other"))
    _, secret = make(stack, workflows=["other"])
    assert stack.call("POST", "/api/v1/workflows/other/runs", {}, key=secret).status_code == 200
    assert stack.call("POST", "/api/v1/workflows/2/runs", {}, key=secret).status_code == 200
    for path in ("/api/v1/workflows/echo/runs", "/api/v1/workflows/1/runs", "/api/v1/workflows/none/runs"):
        response = stack.call("POST", path, {}, key=secret)
        assert (response.status_code, response.json()["code"]) == (401, "UNAUTHORIZED")


def test_of_runs_of_other_workflows_a_bound_key_learns_nothing(stack: Stack) -> None:
    stack.save(echo("other"))
    run_id = stack.create_run("echo")
    _, secret = make(stack, workflows=["other"])
    for method, rest in [("GET", "state"), ("GET", "events"), ("POST", "cancel"), ("GET", "stream")]:
        there = stack.call(method, f"/api/v1/runs/{run_id}/{rest}", key=secret)
        absent = stack.call(method, f"/api/v1/runs/00000000/{rest}", key=secret)
        assert there.status_code == absent.status_code == 404
        assert there.text.replace(run_id, "00000000") == absent.text
    body = {"clarifyId": "clar-000000000000", "answer": "x"}
    assert stack.call("POST", f"/api/v1/runs/{run_id}/resume", body, key=secret).json()["code"] == "RUN_NOT_FOUND"


def test_a_revoked_key_ends_within_ten_seconds_in_every_process(stack: Stack) -> None:
    from stepweave.services.keys import ApiKeys
    from stepweave.store.keys import Keys

    key_id, secret = make(stack)
    elsewhere = ApiKeys(Keys(stack.items), stack.clock)
    assert elsewhere.recognise(secret) is not None
    assert stack.call("GET", "/api/v1/workflows", key=secret).status_code == 200
    assert stack.data("DELETE", f"/api/keys/{key_id}", admin=True) == {"keyId": key_id, "revoked": True}
    assert stack.call("GET", "/api/v1/workflows", key=secret).status_code == 401
    stack.clock.ahead += timedelta(seconds=10)
    assert elsewhere.recognise(secret) is None
    again = stack.call("DELETE", f"/api/keys/{key_id}", admin=True)
    assert (again.status_code, again.json()["code"]) == (404, "NOT_FOUND")
    assert key_id not in {item["keyId"] for item in stack.data("GET", "/api/keys", admin=True)["items"]}


def test_the_name_of_the_roll_is_no_key(stack: Stack) -> None:
    assert stack.call("GET", "/api/v1/workflows", key="#keys").status_code == 401


@pytest.mark.parametrize(
    ("body", "named"),
    [
        ({"scopes": []}, "scopes"),
        ({"scopes": ["root"]}, "scopes"),
        ({"scopes": "run"}, "scopes"),
        ({"workflows": ["Not Kebab"]}, "workflows"),
        ({"workflows": "echo"}, "workflows"),
        ({"name": "x" * 201}, "name"),
        ({"scopes": ["admin"], "workflows": ["echo"]}, "workflows"),
    ],
)
def test_a_wrong_field_of_a_key_is_refused_by_name(stack: Stack, body: object, named: str) -> None:
    response = stack.call("POST", "/api/keys", body, admin=True)
    assert (response.status_code, response.json()["code"]) == (400, "VALIDATION_FAILED")
    assert named in response.json()["message"]


def test_a_key_id_of_a_wrong_form_is_refused(stack: Stack) -> None:
    assert stack.call("DELETE", "/api/keys/x", admin=True).json()["code"] == "VALIDATION_FAILED"
