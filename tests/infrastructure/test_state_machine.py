import json
from typing import Any

import pytest

from stepweave.execution.step import ASK, END, WAIT, Step
from stepweave.nodes.table import TYPES, spec_of
from tests.infrastructure.template import ROOT, chain, function_of, resources, tasks, timeout

STATES: dict[str, dict[str, Any]] = chain()["States"]
ROUTES = {choice["StringEquals"]: choice["Next"] for choice in STATES["Route"]["Choices"]}
TASKS = sorted(tasks())
CALLED = [name for name in TASKS if not STATES[name]["Resource"].endswith(".waitForTaskToken")]


def following(state: dict[str, Any]) -> set[str]:
    ways = {state[way] for way in ("Next", "Default") if way in state}
    return ways | {each["Next"] for each in (*state.get("Choices", []), *state.get("Catch", []))}


def test_every_state_is_reached_and_leads_to_a_state_that_is_there() -> None:
    seen: set[str] = set()
    ahead = {chain()["StartAt"]}
    while ahead:
        seen |= ahead
        ahead = set().union(*(following(STATES[name]) for name in ahead)) - seen
    assert seen == set(STATES)


def test_a_state_either_goes_on_or_ends_the_chain() -> None:
    ends = {name for name, state in STATES.items() if not following(state)}
    assert {STATES[name]["Type"] for name in ends} == {"Succeed", "Fail"}


@pytest.mark.parametrize("node_type", TYPES)
def test_each_node_type_has_a_task_of_its_kind(node_type: str) -> None:
    spec = spec_of(node_type)
    assert spec is not None
    assert STATES[ROUTES[spec.chain]]["Type"] == "Task"


def test_the_steps_of_every_chain_are_routed_and_an_unknown_kind_fails_with_its_reason() -> None:
    assert STATES[ROUTES[END]]["Type"] == "Succeed"
    assert STATES[ROUTES[WAIT]]["Type"] == "Wait"
    unknown = STATES[STATES["Route"]["Default"]]
    assert unknown["Type"] == "Fail"
    assert "Deploy the stack again" in unknown["Cause"]


@pytest.mark.parametrize("name", TASKS)
def test_a_task_tries_again_for_whatever_the_platform_did_to_it_and_then_is_caught(name: str) -> None:
    task = STATES[name]
    assert task["Retry"][-1]["ErrorEquals"] == ["States.ALL"]
    assert {retry["JitterStrategy"] for retry in task["Retry"]} == {"FULL"}
    [catch] = task["Catch"]
    assert catch["ErrorEquals"] == ["States.ALL"]
    assert catch["ResultPath"] == "$.error"  # the step's ids stay beside it
    assert catch["Next"] == ("NotRecovered" if name == "Recover" else "Recover")


@pytest.mark.parametrize("name", [name for name in TASKS if name != "Recover"])
def test_a_step_that_was_superseded_is_called_again_long_before_it_counts_as_failed(name: str) -> None:
    first = STATES[name]["Retry"][0]
    assert first["ErrorEquals"] == ["Superseded"]
    assert first["MaxAttempts"] >= 10 * STATES[name]["Retry"][-1]["MaxAttempts"]


@pytest.mark.parametrize("name", CALLED)
def test_a_task_waits_longer_than_its_function_may_take(name: str) -> None:
    assert STATES[name]["TimeoutSeconds"] > timeout(function_of(STATES[name]))


@pytest.mark.parametrize("name", CALLED)
def test_a_task_is_given_ids_only_and_its_answer_is_the_next_step(name: str) -> None:
    payload = STATES[name]["Parameters"]["Payload"]
    ids = set(Step("r", "v", "n", "flow").to_json())
    more = {"error", "chain"} if name == "Recover" else {"chain"}
    assert {key.removesuffix(".$") for key in payload} == ids | more
    assert payload["chain.$"] == "$$.Execution.Name"
    assert STATES[name]["OutputPath"] == "$.Payload"
    assert STATES[name]["Next"] == "Route"


def test_a_chain_that_asks_sleeps_without_a_limit_and_goes_on_with_the_step_it_is_woken_with() -> None:
    state = STATES[ROUTES[ASK]]
    assert state["Resource"].endswith(":lambda:invoke.waitForTaskToken")
    assert not {"TimeoutSeconds", "HeartbeatSeconds", "OutputPath"} & set(state)
    payload = state["Parameters"]["Payload"]
    step = Step("r", "v", "n", "agent").asking().to_json()
    assert {key.removesuffix(".$") for key in payload} == {*step, "chain", "token", "enteredTime", "retryCount"}
    assert payload["token.$"] == "$$.Task.Token"
    assert state["Next"] == "Route"


@pytest.mark.parametrize("name", TASKS)
def test_the_sample_event_of_a_function_is_what_its_task_sends(name: str) -> None:
    event = json.loads((ROOT / "events" / f"{function_of(STATES[name])}.json").read_text())
    assert set(event) == {key.removesuffix(".$") for key in STATES[name]["Parameters"]["Payload"]}
    assert Step.from_json(event).to_json().items() <= event.items()


def test_a_wait_goes_on_as_the_step_it_held_up() -> None:
    waiting = Step("r", "v", "n", "llm").later(5).to_json()
    assert STATES["Wait"]["SecondsPath"] == "$.seconds"
    over = STATES[STATES["Wait"]["Next"]]["Parameters"]
    step = {key.removesuffix(".$"): waiting[path.removeprefix("$.")] for key, path in over.items()}
    assert Step.from_json(step) == Step("r", "v", "n", "llm", steps=1)


def test_only_arns_that_the_template_knows_are_substituted() -> None:
    [machine] = resources("AWS::Serverless::StateMachine").values()
    used = {task["Parameters"]["FunctionName"] for task in tasks().values()}
    assert used == {f"${{{name}}}" for name in machine["DefinitionSubstitutions"]}
