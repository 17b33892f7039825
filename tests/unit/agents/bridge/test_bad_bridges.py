"""Whatever a bridge does, its node ends, with what had been told by then (issue: never stuck)."""

import socket
from collections.abc import Callable
from itertools import chain, repeat
from typing import Any

import pytest

from stepweave.agents.bridge.wire import MOST_BYTES
from stepweave.execution.bridge import Bridge
from stepweave.execution.outcome import Outcome, Unfinished
from stepweave.execution.work import RunEnded
from stepweave.nodes.agent import Agent
from tests.functional.fake_bridge import FakeBridge, Reply, answers, event, fake_bridge, hangs, streams
from tests.unit.agents.visits import VisitPlayer, agent_node
from tests.unit.agents.work import RecordingWork

STEP = event("step", iteration=1)
HALF = event("thinking", content="half a thought")
DONE = event("result", text="done", usage={"inputTokens": 7, "outputTokens": 2})

TOKEN = "very-secret-token"


PATIENT = 30.0


def player(
    url: str, work: Callable[..., RecordingWork] = RecordingWork, *, idle: float = PATIENT, **data: Any
) -> VisitPlayer:
    """`idle` seconds is how long the bridge may be silent; only a case about silence may take less than `PATIENT`."""
    bridge = Bridge(url, TOKEN, idle_seconds=idle)
    return VisitPlayer(Agent(), agent_node(**data), work=lambda: work(bridge=bridge, language="en"))


def ended(result: Any) -> Outcome:
    assert isinstance(result, Outcome)
    return result


SILENCE = "nothing has come for"

TRANSIENT: dict[str, tuple[Reply, str]] = {
    "hangs without a byte": (hangs(), SILENCE),
    "hangs in mid-stream": (hangs(STEP, HALF), SILENCE),
    "drips half an event": (hangs(STEP, HALF, between=0.02, again=b"x"), SILENCE),
    "drops the stream": (streams(STEP, HALF), "the stream ended before its last event"),
    "sends nothing": (streams(), "the stream ended before its last event"),
    "sends half an event": (streams(STEP, HALF, DONE[:-2]), "the stream ended before its last event"),
    "dies after the last event before the terminal one": (
        streams(STEP, HALF, event("turn", history=["h"])),
        "the stream ended before its last event",
    ),
    "sends broken JSON": (streams(STEP, HALF, b'event: result\ndata: {"text": \n\n'), "event result is no JSON"),
    "sends JSON that is none": (streams(STEP, HALF, b"event: result\ndata: NaN\n\n"), "event result is no JSON"),
    "sends an event without what it needs": (streams(STEP, HALF, event("result")), "text is missing"),
    "sends two calls with one id": (
        streams(STEP, HALF, event("calls", history=["h"], calls=[{"callId": "1", "name": "a"}] * 2)),
        "two calls with one callId",
    ),
    "sends an event that is too large": (
        streams(STEP, HALF, b"event: thinking\ndata: ", b"x" * (MOST_BYTES + 1)),
        f"an event has more than {MOST_BYTES} bytes",
    ),
    "is overloaded": (answers(503, b'{"error": "come back"}'), "HTTP 503: come back"),
    "throttles": (answers(429), "HTTP 429"),
    "breaks": (answers(500, b"<html>"), "HTTP 500"),
}

LASTING: dict[str, tuple[Reply, str]] = {
    "wants another token": (answers(401), "HTTP 401: check HERMES_BRIDGE_TOKEN"),
    "forbids": (answers(403), "HTTP 403: check HERMES_BRIDGE_TOKEN"),
    "redirects": (answers(307, location="http://127.0.0.1:1/"), "redirects are not followed"),
    "is not there": (answers(404), "HTTP 404"),
    "speaks another protocol": (answers(400, b'{"error": "protocol must be 2"}'), "protocol must be 2"),
    "quotes the token": (answers(400, f'{{"error": "not {TOKEN}"}}'.encode()), "not ***"),
    "is a website": (streams(b"<html>", content_type="text/html"), "no stream of events: check HERMES_BRIDGE_URL"),
    "says that the model failed": (
        streams(STEP, HALF, event("failure", message="no credit", retryable=False)),
        "no credit",
    ),
}


@pytest.mark.parametrize(("reply", "told"), TRANSIENT.values(), ids=TRANSIENT)
def test_what_may_pass_is_tried_again(reply: Reply, told: str) -> None:
    with fake_bridge(reply, streams(STEP, DONE)) as bridge:
        visit = player(bridge.url, idle=0.5 if told == SILENCE else PATIENT)
        failed = ended(visit.invoke())
        visit.work = player(bridge.url).work
        assert (failed.status, failed.retryable) == ("FAILED", True)
        assert told in (failed.error or "")
        assert ended(visit.invoke()).envelope["data"] == {"result": "done"}


@pytest.mark.parametrize(("reply", "told"), LASTING.values(), ids=LASTING)
def test_what_will_not_pass_is_not_tried_again(reply: Reply, told: str) -> None:
    with fake_bridge(reply) as bridge:
        failed = ended(player(bridge.url).play())
        assert (failed.status, failed.retryable, len(bridge.bodies)) == ("FAILED", False, 1)
    assert told in (failed.error or "")
    assert TOKEN not in repr(failed)


def test_a_bridge_that_stays_bad_fails_its_node() -> None:
    with fake_bridge(hangs()) as bridge:
        visit = player(bridge.url, idle=0.3)
        assert ended(visit.play()).status == "FAILED"
        assert len(visit.works) == 3


def test_nobody_listens() -> None:
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        failed = ended(player(f"http://127.0.0.1:{nobody.getsockname()[1]}").invoke())
    assert failed.retryable
    assert "it cannot be connected to" in (failed.error or "")


@pytest.mark.parametrize("case", [case for case, (_, told) in TRANSIENT.items() if "HTTP" not in told])
def test_what_had_been_told_stays_in_the_failed_envelope(case: str) -> None:
    told_nothing = {"hangs without a byte", "sends nothing"}
    reply, told = TRANSIENT[case]
    with fake_bridge(reply) as bridge:
        failed = ended(player(bridge.url, idle=1.5 if told == SILENCE else PATIENT).invoke())
    assert failed.envelope["trace"]["thinking"] == ("" if case in told_nothing else "half a thought")


def test_events_that_nobody_knows_are_passed_over() -> None:
    pieces = (b": hello\n\n", event("weather", sunny=True), b"event: odd\ndata: {broken\n\n", STEP, HALF, DONE)
    with fake_bridge(streams(*pieces)) as bridge:
        outcome = ended(player(bridge.url).invoke())
    assert (outcome.status, outcome.envelope["trace"]["thinking"]) == ("SUCCESS", "half a thought")


def test_a_second_end_changes_nothing() -> None:
    other = event("result", text="other")
    with fake_bridge(streams(STEP, DONE, other, event("failure", message="no"))) as bridge:
        assert ended(player(bridge.url).invoke()).envelope["data"] == {"result": "done"}


def test_signs_of_life_keep_a_slow_stream_alive() -> None:
    class Patient:
        """Alive for longer than the bridge may be silent, then done."""

        def __call__(self, handler: Any) -> None:
            streams(STEP)(handler)
            for _ in range(25):
                handler.server.told.closing.wait(0.1)
                handler.wfile.write(b":keep-alive\n\n")
            handler.wfile.write(DONE)

    with fake_bridge(Patient()) as bridge:
        assert ended(player(bridge.url, idle=2.0).invoke()).status == "SUCCESS"


def test_a_run_that_ends_leaves_the_bridge_at_once() -> None:
    endless = hangs(STEP, between=0.02, again=HALF)

    def work(**conditions: Any) -> RecordingWork:
        return RecordingWork(ends_at_event=5, **conditions)

    with fake_bridge(endless) as bridge:
        with pytest.raises(RunEnded):
            player(bridge.url, work).invoke()
        assert bridge.left.wait(10)


def test_the_time_limit_of_the_node_counts_across_a_bridge() -> None:
    with fake_bridge(hangs(STEP, between=0.02, again=HALF)) as bridge:
        failed = ended(player(bridge.url, timeoutSeconds=0.3).invoke())
    assert (failed.retryable, "timeoutSeconds" in (failed.error or "")) == (False, True)


def test_a_bridge_that_goes_on_and_on_is_left_when_the_platforms_time_is_over() -> None:
    def work(**conditions: Any) -> RecordingWork:
        passing = chain(range(900, 0, -30), repeat(0))
        return RecordingWork(seconds_left=lambda: float(next(passing)), **conditions)

    with fake_bridge(hangs(STEP, between=0.02, again=HALF)) as bridge:
        visit = player(bridge.url, work)
        assert isinstance(visit.invoke(), Unfinished)
        failed = ended(visit.invoke())
    assert (failed.retryable, "longer than the platform allows" in (failed.error or "")) == (False, True)


@pytest.mark.parametrize("limit", [{"maxSteps": 2}, {"maxTotalTokens": 10}])
def test_a_bridge_that_keeps_to_no_limit_is_held_to_it(limit: dict[str, int]) -> None:
    turns = [
        piece
        for number in range(1, 5)
        for piece in (
            event("step", iteration=number),
            event("turn", history=[number], usage={"inputTokens": 5 * number, "outputTokens": 0}),
        )
    ]
    with fake_bridge(streams(*turns, DONE)) as bridge:
        failed = ended(player(bridge.url, **limit).invoke())
    assert next(iter(limit)) in (failed.error or "")
    assert failed.envelope["metadata"]["steps"] == 2


def test_calls_without_end_reach_the_limit(bridge_that_calls: FakeBridge) -> None:
    failed = ended(player(bridge_that_calls.url, maxSteps=3).invoke())
    assert "maxSteps (3)" in (failed.error or "")
    assert len(bridge_that_calls.bodies) == 3


@pytest.fixture
def bridge_that_calls() -> Any:
    """Never says a step, and wants a tool each time."""
    calls = event("calls", history=["h"], calls=[{"callId": "1", "name": "nothing", "arguments": {}}])
    with fake_bridge(streams(calls)) as bridge:
        yield bridge
