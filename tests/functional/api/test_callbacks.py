"""The end of a run is told to who asked for it, whatever dies meanwhile (contract §4, "Callback")."""

import hashlib
import hmac
import json
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from functools import partial
from typing import Any

import pytest

from stepweave.errors import Unavailable
from stepweave.web.posting import post
from tests.functional.api.callbacks import URL, Fate, Killed, deliver_all, delivery, takes
from tests.functional.api.definitions import asking, definition, echo, failing, much, scripted
from tests.functional.api.stack import Stack
from tests.functional.receiver import receiver

RUNS = "/api/v1/workflows/{}/runs"
TOPIC = {"topic": "tea"}


def begun(workflow: str) -> Callable[[Stack], str]:
    def begin(stack: Stack) -> str:
        return stack.start_run(workflow, variables=TOPIC, callbackUrl=URL)

    return begin


def created(stack: Stack) -> str:
    return stack.create_run("echo", variables=TOPIC, callbackUrl=URL)


def drive(stack: Stack, run_id: str) -> None:
    stack.drive()


def cancel(stack: Stack, run_id: str) -> None:
    stack.engine.ending.cancel(run_id)


ENDINGS = {
    "success": (begun("echo"), drive, "SUCCESS", None),
    "failure": (begun("failing"), drive, "FAILED", "node bad failed: no luck"),
    "abort beside an open question": (begun("aborting"), drive, "FAILED", "node bad failed: no luck"),
    "cancel": (begun("asking"), cancel, "FAILED", "CANCELLED"),
    "cancel before the start": (created, cancel, "FAILED", "CANCELLED"),
}


@pytest.fixture
def stack() -> Stack:
    return stocked()


@pytest.fixture(scope="module")
def shared() -> Stack:
    """For what is refused, and changes nothing."""
    return stocked()


def stocked(**settings: Any) -> Stack:
    stack = Stack(**settings)
    for workflow in (echo(), failing(), asking(), aborting()):
        stack.save(workflow)
    return stack


def aborting() -> dict[str, Any]:
    """One branch waits for a person when the other fails."""
    nodes = {
        "in": {"type": "userInput"},
        "ask": {"type": "asker", "ask": {"question": "Which?"}},
        "bad": scripted("", script=[[{"delayMs": 1}, {"error": "no luck"}]]),
        "out": {"type": "output"},
    }
    return definition("aborting", nodes, [("in", "ask"), ("in", "bad"), ("ask", "out"), ("bad", "out")])


@pytest.mark.parametrize(("begin", "end", "status", "error"), ENDINGS.values(), ids=ENDINGS)
def test_the_end_is_told_once_with_the_result(
    stack: Stack,
    begin: Callable[[Stack], str],
    end: Callable[[Stack, str], None],
    status: str,
    error: str | None,
) -> None:
    run_id = begin(stack)
    assert stack.callbacks.sent == []
    end(stack, run_id)
    assert stack.callbacks.sent == [run_id]
    told: list[dict[str, str]] = []
    deliver_all(stack, takes(told))
    [one] = told
    kind = "workflow_complete" if status == "SUCCESS" else "workflow_error"
    run = stack.engine.runs.get(run_id)
    result = stack.data("GET", f"{RUNS.format(run.workflow)}/{run_id}")
    del result["nodes"]
    assert body_of(one) == {"type": kind, **result}
    assert (result["status"], result["error"]) == (status, error)
    assert (one["url"], one["Content-Type"]) == (URL, "application/json")
    assert not stack.engine.runs.get(run_id).closing


def body_of(told: dict[str, str]) -> Any:
    return json.loads(told["body"])


def test_a_run_that_nobody_wants_to_be_told_of_is_not_told(stack: Stack) -> None:
    stack.finish_run("echo", variables=TOPIC)
    stack.finish_run("failing", variables=TOPIC, callbackUrl=None)
    assert stack.callbacks.sent == []


def test_the_receiver_can_check_the_signature_with_the_secret_of_the_key() -> None:
    stack = stocked(callback_private_hosts=True)
    with receiver() as server:
        stack.finish_run("echo", variables=TOPIC, callbackUrl=f"{server.base_url}/ended?from=stepweave")
        deliver_all(stack, partial(post, private_hosts=True))
        [told] = server.told
    signed = told.headers["x-stepweave-timestamp"].encode() + b"." + told.body
    expected = hmac.new(stack.callback_secret.encode(), signed, hashlib.sha256).hexdigest()
    assert told.headers["x-stepweave-signature"] == f"sha256={expected}"
    assert told.path == "/ended?from=stepweave"


# What dies meanwhile


@pytest.mark.parametrize("done", [False, True], ids=["before", "after"])
@pytest.mark.parametrize(("begin", "end", "status", "error"), ENDINGS.values(), ids=ENDINGS)
def test_the_end_is_told_wherever_the_process_that_brings_it_is_killed(
    begin: Callable[[Stack], str], end: Callable[[Stack, str], None], status: str, error: str | None, done: bool
) -> None:
    """Each request to the tables and the queue is the last of its process once; then only the sweep comes."""
    stack = stocked()
    for step in range(200):
        run_id = begin(stack)
        fate = Fate(step, done=done)
        fate.meets(stack.items, "get", "get_many", "query", "update", "transact")
        fate.meets(stack.callbacks, "send")
        fate.meets(stack.chains, "start")
        with suppress(Killed):
            end(stack, run_id)
        fate.passes()
        stack.chains.running.clear()
        sweep(stack)
        end(stack, run_id)
        sweep(stack)
        told: list[dict[str, str]] = []
        deliver_all(stack, takes(told))
        assert len(told) == 1, step
        assert (body_of(told[0])["status"], body_of(told[0])["error"]) == (status, error)
        assert not stack.engine.runs.get(run_id).closing
        if not fate.has_struck:
            assert step > 3
            return
    pytest.fail("the end takes more requests than were tried")


def sweep(stack: Stack) -> None:
    """The tick of a minute in which everything is due."""
    stack.clock.ahead += timedelta(days=1.1)
    stack.engine.sweep.sweep()
    stack.drive()


def test_a_queue_that_does_not_take_the_message_is_asked_again_by_the_sweep(stack: Stack) -> None:
    def refuse(run_id: str) -> None:
        raise Unavailable("no queue")

    send, stack.callbacks.send = stack.callbacks.send, refuse  # type: ignore[method-assign]
    run_id = stack.finish_run("echo", variables=TOPIC, callbackUrl=URL)
    assert (stack.engine.runs.get(run_id).status, stack.engine.runs.get(run_id).closing) == ("SUCCESS", True)
    stack.callbacks.send = send  # type: ignore[method-assign]
    stack.clock.ahead += timedelta(minutes=1)
    stack.engine.sweep.sweep()
    assert stack.callbacks.sent == [run_id]
    assert not stack.engine.runs.get(run_id).closing


def test_a_run_that_waited_for_months_is_told_within_a_minute_of_its_end(stack: Stack) -> None:
    """The older a run, the rarer its checks: its end is looked at at once all the same."""
    run_id = stack.start_run("asking", callbackUrl=URL)
    stack.drive()
    for _ in range(20):
        stack.clock.ahead += timedelta(days=5)
        stack.engine.sweep.sweep()
    fate = Fate(0, done=False)
    fate.meets(stack.callbacks, "send")
    with suppress(Killed):
        cancel(stack, run_id)
    assert fate.has_struck
    fate.passes()
    stack.clock.ahead += timedelta(minutes=1)
    stack.engine.sweep.sweep()
    assert stack.callbacks.sent == [run_id]


# What comes twice, or not at all


def test_a_message_that_comes_twice_is_told_once(stack: Stack) -> None:
    run_id = stack.finish_run("echo", variables=TOPIC, callbackUrl=URL)
    told: list[dict[str, str]] = []
    stack.callbacks.sent = [run_id, run_id]
    assert [attempt.outcome for attempt in deliver_all(stack, takes(told))] == ["delivered", "needless"]
    assert len(told) == 1


def test_who_dies_before_it_is_noted_tells_again_under_the_same_delivery(stack: Stack) -> None:
    run_id = stack.finish_run("echo", variables=TOPIC, callbackUrl=URL)
    told: list[dict[str, str]] = []
    fate = Fate(0, done=False)
    fate.meets(stack.items, "update")
    with pytest.raises(Killed):
        delivery(stack, takes(told)).attempt(run_id)
    fate.passes()
    stack.clock.ahead += timedelta(minutes=3)
    assert delivery(stack, takes(told)).attempt(run_id).outcome == "delivered"
    first, second = told
    assert first["X-Stepweave-Delivery"] == second["X-Stepweave-Delivery"]
    assert first["body"] == second["body"]
    assert first["X-Stepweave-Timestamp"] != second["X-Stepweave-Timestamp"]


def test_each_run_has_a_delivery_of_its_own(stack: Stack) -> None:
    told: list[dict[str, str]] = []
    for _ in range(3):
        stack.finish_run("echo", variables=TOPIC, callbackUrl=URL)
    deliver_all(stack, takes(told))
    assert len({one["X-Stepweave-Delivery"] for one in told}) == 3


def test_only_an_answer_that_says_it_was_taken_counts(stack: Stack) -> None:
    run_id = stack.finish_run("echo", variables=TOPIC, callbackUrl=URL)
    deliveries = set()
    for status in (199, 301, 307, 400, 401, 404, 410, 429, 500, 503):
        attempt = delivery(stack, lambda url, headers, body, status=status: status).attempt(run_id)  # type: ignore[misc]
        assert (attempt.outcome, attempt.why) == ("failed", f"the receiver answered {status}")
        deliveries.add(attempt.delivery)
    told: list[dict[str, str]] = []
    assert delivery(stack, takes(told)).attempt(run_id).outcome == "delivered"
    assert {told[0]["X-Stepweave-Delivery"]} == deliveries


def test_a_receiver_whose_name_has_become_private_is_not_called(stack: Stack) -> None:
    with receiver() as inside:

        async def resolve(host: str, port: int) -> list[str]:
            return ["127.0.0.1"]

        port = inside.base_url.rpartition(":")[2]
        run_id = stack.finish_run("echo", variables=TOPIC, callbackUrl=f"https://shop.example:{port}/")
        attempt = delivery(stack, partial(post, resolve=resolve)).attempt(run_id)
        assert inside.told == []
    assert attempt.outcome == "failed"
    assert "not public" in attempt.why


def test_nothing_is_sent_for_a_key_that_was_revoked(stack: Stack) -> None:
    run_id = stack.finish_run("echo", variables=TOPIC, callbackUrl=URL)
    [mine] = [key for key in stack.data("GET", "/api/keys", admin=True)["items"] if key["name"] == "runs"]
    stack.data("DELETE", f"/api/keys/{mine['keyId']}", admin=True)
    told: list[dict[str, str]] = []
    attempt = delivery(stack, takes(told)).attempt(run_id)
    assert (attempt.outcome, told) == ("needless", [])
    assert "revoked" in attempt.why


def test_a_message_of_a_run_that_is_gone_is_done_with(stack: Stack) -> None:
    assert delivery(stack, takes([])).attempt("00000000").outcome == "needless"


def test_a_body_stays_small_whatever_the_run_has_come_to(stack: Stack) -> None:
    stack.save(much("much", 6_000_000))
    run_id = stack.finish_run("much", callbackUrl=URL)
    told: list[dict[str, str]] = []
    deliver_all(stack, takes(told))
    body = body_of(told[0])
    assert body["outputs"] is None
    assert body["outputUrl"] == f"/api/v1/workflows/much/runs/{run_id}/output"
    assert len(told[0]["body"]) < 10_000


# Asking for it


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("http://example.com/", "only https"),
        ("https://user:secret@example.com/", "no user name or password"),
        ("https://127.0.0.1/", "not public"),
        ("https://2130706433/", "not public"),
        ("https://[::ffff:10.0.0.1]/", "not public"),
        ("https://localhost:8443/", "not public"),
        ("ftp://example.com/", "http and https"),
        ("https://", ""),
        ("", ""),
        ("https://example.com/" + "x" * 2000, ""),
        (1, ""),
    ],
)
def test_an_address_that_could_never_be_called_is_refused_at_once(shared: Stack, url: Any, words: str) -> None:
    for path in (RUNS.format("echo"), "/api/workflows/echo/run"):
        answer = shared.call("POST", path, {"variables": TOPIC, "callbackUrl": url}, admin=True)
        assert answer.status_code == 400
        message = answer.json()["message"] if path.startswith("/api/v1") else answer.text
        assert "callbackUrl" in message
        assert words in message
        assert "secret" not in message


def test_a_run_in_one_call_is_told_too(stack: Stack) -> None:
    with stack.driven():
        body = {"variables": TOPIC, "async": False, "callbackUrl": URL}
        answer = stack.call("POST", RUNS.format("echo"), body)
    assert stack.callbacks.sent == [answer.headers["x-run-id"]]


def test_the_same_idempotency_key_with_another_address_is_another_request(stack: Stack) -> None:
    headers = {"Idempotency-Key": "once"}
    first = stack.call("POST", RUNS.format("echo"), {"variables": TOPIC, "callbackUrl": URL}, headers=headers)
    again = stack.call("POST", RUNS.format("echo"), {"variables": TOPIC, "callbackUrl": URL}, headers=headers)
    assert first.json()["data"]["runId"] == again.json()["data"]["runId"]
    other = stack.call("POST", RUNS.format("echo"), {"variables": TOPIC, "callbackUrl": URL + "2"}, headers=headers)
    assert other.json()["code"] == "IDEMPOTENCY_CONFLICT"


def test_a_key_from_before_callbacks_is_asked_to_be_replaced(stack: Stack) -> None:
    for item in stack.items._items.values():
        item.pop("callbackSecret", None)
    answer = stack.call("POST", RUNS.format("echo"), {"variables": TOPIC, "callbackUrl": URL})
    assert (answer.status_code, answer.json()["code"]) == (400, "VALIDATION_FAILED")
    assert "make a new key" in answer.json()["message"]
