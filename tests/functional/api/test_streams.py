"""Live streams of events (contract §5), read while runs move, cut and resumed anywhere."""

import asyncio
import random
from datetime import timedelta

import pytest

from stepweave.api.streams import Pace
from tests.functional.api.definitions import asking, echo, much, wide
from tests.functional.api.stack import Reading, Stack, parse, run_async

TOPIC = {"topic": "hi"}


def path_of(run_id: str, after: int | None = None) -> str:
    return f"/api/v1/runs/{run_id}/stream" + ("" if after is None else f"?lastEventId={after}")


def test_events_have_the_form_of_the_contract(stack: Stack) -> None:
    run_id = stack.finish_run("echo", variables=TOPIC)
    text = stack.call("GET", path_of(run_id)).text
    first = text.split("\n\n")[0].split("\n")
    assert [line.split(": ")[0] for line in first] == ["event", "id", "data"]
    events = parse(text)
    assert [number for number, _, _ in events] == list(range(1, len(events) + 1))
    assert all(data["type"] == kind and data["runId"] == run_id for _, kind, data in events)
    assert [kind for _, kind, _ in events][-1] == "workflow_complete"
    assert all(line.count("\n") == 2 for line in text.split("\n\n")[:-1])


def test_all_paths_of_a_stream_tell_the_same(stack: Stack) -> None:
    run_id = stack.finish_run("echo", variables=TOPIC)
    text = stack.call("GET", path_of(run_id)).text
    assert stack.call("GET", f"/api/v1/workflows/echo/runs/{run_id}/stream").text == text
    assert stack.call("GET", f"/api/v1/workflows/1/runs/{run_id}/stream").text == text
    assert stack.call("GET", f"/api/workflows/runs/{run_id}/stream", admin=True).text == text


def test_a_stream_cut_at_any_event_and_resumed_gives_the_same_events(stack: Stack) -> None:
    run_id = stack.finish_run("echo", variables=TOPIC)
    whole = parse(stack.call("GET", path_of(run_id)).text)
    for cut in range(len(whole)):
        by_header = stack.call("GET", path_of(run_id), headers={"Last-Event-ID": str(cut)})
        by_query = stack.call("GET", path_of(run_id, cut))
        assert whole[:cut] + parse(by_header.text) == whole
        assert by_query.text == by_header.text


def test_the_header_wins_over_the_query_and_an_empty_one_is_none(stack: Stack) -> None:
    run_id = stack.finish_run("echo", variables=TOPIC)
    response = stack.call("GET", path_of(run_id, 2), headers={"Last-Event-ID": "5"})
    assert parse(response.text)[0][0] == 6
    response = stack.call("GET", path_of(run_id, 2), headers={"Last-Event-ID": ""})
    assert parse(response.text)[0][0] == 3


def test_at_the_terminal_event_or_beyond_it_there_is_no_content(stack: Stack) -> None:
    run_id = stack.finish_run("echo", variables=TOPIC)
    last = stack.events(run_id)[-1]["id"]
    for after in (last, last + 1, 10**14):
        response = stack.call("GET", path_of(run_id, after))
        assert (response.status_code, response.content) == (204, b"")


def test_a_stream_waits_for_the_start_and_ends_after_the_terminal_event(stack: Stack) -> None:
    run_id = stack.create_run("echo", variables=TOPIC)

    async def read() -> str:
        async with stack.open(path_of(run_id)) as reading:
            assert reading.status == 200
            assert reading.headers["content-type"].startswith("text/event-stream")
            await reading.until(lambda text: text.count(":keep-alive\n\n") >= 2)
            assert parse(reading.text) == []
            await stack.acall("POST", f"/api/v1/workflows/echo/runs/{run_id}/start")
            await asyncio.to_thread(stack.drive)
            return await reading.whole()

    events = parse(run_async(read()))
    assert events[-1][1] == "workflow_complete"
    assert events == parse(stack.call("GET", path_of(run_id)).text)


def test_a_start_in_the_same_process_is_told_at_once_however_slowly_the_log_is_looked_at() -> None:
    stack = Stack(pace=Pace(quickest=60, slowest=60, keep_alive=0.1))
    stack.save(echo())
    run_id = stack.create_run("echo", variables=TOPIC)

    async def read() -> str:
        async with stack.open(path_of(run_id)) as reading:
            await reading.until(lambda text: ":keep-alive" in text)
            await asyncio.to_thread(stack.engine.starting.start, stack.engine.runs.get(run_id))
            stack.app.state.api.streams.wake(run_id)
            return await asyncio.wait_for(reading.until(lambda text: "node_status" in text), 5)

    assert parse(run_async(read()))


def test_a_stream_holds_while_a_run_waits_for_a_person(stack: Stack) -> None:
    stack.save(asking())
    run_id = stack.finish_run("asking")

    async def read() -> str:
        async with stack.open(path_of(run_id)) as reading:
            await reading.until(lambda text: "clarify_request" in text and ":keep-alive" in text)
            ask = next(data for _, _, data in parse(reading.text) if data.get("kind") == "clarify_request")
            body = {"clarifyId": ask["data"]["clarifyId"], "answer": "this"}
            assert (await stack.acall("POST", f"/api/v1/runs/{run_id}/resume", body)).status_code == 200
            await asyncio.to_thread(stack.drive)
            return await reading.whole()

    events = parse(run_async(read()))
    answers = [data for _, _, data in events if data.get("kind") == "tool_result"]
    assert [(data["toolName"], data["content"]) for data in answers] == [("clarify", "this")]
    assert events[-1][2]["output"]["data"] == {"result": "this"}


@pytest.mark.parametrize(("longest", "stream_seconds"), [(0.3, 86_400), (86_400, 0.3)])
def test_a_connection_ends_after_its_longest_time_and_can_be_taken_up(longest: float, stream_seconds: float) -> None:
    pace = Pace(quickest=0.002, slowest=0.05, keep_alive=0.05, longest=longest)
    stack = Stack(pace=pace, stream_seconds=stream_seconds)
    stack.save(echo())
    run_id = stack.start_run("echo", variables=TOPIC)
    first = parse(stack.call("GET", path_of(run_id)).text)
    assert first
    stack.drive()
    rest = parse(stack.call("GET", path_of(run_id, first[-1][0])).text)
    assert first + rest == parse(stack.call("GET", path_of(run_id)).text)


def test_a_stopping_server_ends_the_streams(stack: Stack) -> None:
    run_id = stack.create_run("echo", variables=TOPIC)

    async def read() -> None:
        async with stack.open(path_of(run_id)) as reading:
            await reading.until(lambda text: ":keep-alive" in text)
            stack.app.state.api.streams.close()
            await asyncio.wait_for(reading.whole(), 2)

    run_async(read())


def test_a_reader_that_goes_away_leaves_nothing_behind(stack: Stack) -> None:
    run_id = stack.create_run("echo", variables=TOPIC)
    streams = stack.app.state.api.streams

    async def read() -> None:
        async with stack.open(path_of(run_id)) as one, stack.open(path_of(run_id)) as other:
            await one.until(lambda text: ":keep-alive" in text)
            await other.until(lambda text: ":keep-alive" in text)
            assert streams._feeds[run_id].readers == 2
        await asyncio.sleep(0.05)
        assert streams._feeds == {}

    run_async(read())


def test_all_readers_of_a_run_share_one_look_at_the_log(stack: Stack, monkeypatch: pytest.MonkeyPatch) -> None:
    run_id = stack.create_run("echo", variables=TOPIC)
    looks = 0
    read = stack.engine.events.read

    def counted(*args: object) -> object:
        nonlocal looks
        looks += 1
        return read(*args)  # type: ignore[arg-type]

    monkeypatch.setattr(stack.engine.events, "read", counted)

    async def looked(readers: int) -> int:
        nonlocal looks
        async with _many(stack, path_of(run_id), readers) as readings:
            await asyncio.gather(*(reading.until(lambda text: ":keep-alive" in text) for reading in readings))
            before = looks
            await asyncio.sleep(0.5)
            return looks - before

    alone, many = run_async(looked(1)), run_async(looked(20))
    assert many < 3 * alone


class _many:  # noqa: N801 - reads as the function that it stands for
    def __init__(self, stack: Stack, path: str, count: int) -> None:
        self._open = [stack.open(path) for _ in range(count)]

    async def __aenter__(self) -> list[Reading]:
        return [await each.__aenter__() for each in self._open]

    async def __aexit__(self, *error: object) -> None:
        for each in self._open:
            await each.__aexit__(None, None, None)


# Many writers, readers anywhere


def test_with_many_writers_at_once_every_reader_sees_the_same_sequence_from_wherever_it_starts(stack: Stack) -> None:
    stack.save(wide("wide", 20))
    run_id = stack.create_run("wide")
    chance = random.Random(7)

    async def one(seed: int) -> list[tuple[int | None, str, dict[str, object]]]:
        """Connects at some time, goes away after some events, comes back with the last id that it saw."""
        luck = random.Random(seed)
        await asyncio.sleep(luck.random() * 2)
        told: list[tuple[int | None, str, dict[str, object]]] = []
        while True:
            after = told[-1][0] if told else 0
            async with stack.open(path_of(run_id), {"last-event-id": str(after)}) as reading:
                if reading.status == 204:
                    return told
                enough = luck.choice([1, 5, 30, 10_000])
                while len(parse(reading.text)) < enough and await reading.more():
                    pass
                told += parse(reading.text)
            if told[-1][1] in ("workflow_complete", "workflow_error") and luck.random() < 0.5:
                return told

    async def read() -> list[list[tuple[int | None, str, dict[str, object]]]]:
        readers = [asyncio.create_task(one(chance.randrange(1000))) for _ in range(12)]
        await asyncio.sleep(0.1)
        await stack.acall("POST", f"/api/v1/workflows/wide/runs/{run_id}/start")
        return await asyncio.wait_for(asyncio.gather(*readers), 60)

    with stack.driven(24):
        sequences = run_async(read())
    whole = parse(stack.call("GET", path_of(run_id)).text)
    assert whole[-1][1] == "workflow_complete"
    assert [number for number, _, _ in whole] == list(range(1, len(whole) + 1))
    assert sum(1 for _, kind, _ in whole if kind == "node_stream") > 60
    for sequence in sequences:
        assert sequence == whole


# What is not kept


def test_a_reader_too_far_behind_is_told_how_many_events_are_gone() -> None:
    stack = Stack(events_max_per_run=4)
    stack.save(echo())
    run_id = stack.finish_run("echo", variables=TOPIC)
    last = stack.engine.runs.get(run_id).last_seq
    text = stack.call("GET", path_of(run_id)).text
    assert text.startswith(f":{last - 4} events ")
    assert [number for number, _, _ in parse(text)] == list(range(last - 3, last + 1))
    near = stack.call("GET", path_of(run_id, last - 4)).text
    assert not near.startswith(":")
    page = stack.data("GET", f"/api/v1/runs/{run_id}/events?after=1")
    assert (page["gone"], page["events"][0]["id"]) == (last - 5, last - 3)


@pytest.mark.parametrize("swept", [False, True])
@pytest.mark.parametrize("live", [True, False])
def test_of_an_expired_log_a_comment_and_the_terminal_event_remain(live: bool, swept: bool) -> None:
    stack = Stack(live=live)
    stack.save(echo())
    run_id = stack.finish_run("echo", variables=TOPIC)
    last = stack.events(run_id)[-1]
    stack.clock.ahead = timedelta(hours=25, minutes=1)
    if swept:
        stack.engine.sweep.sweep()
    text = stack.call("GET", path_of(run_id)).text
    assert f":{last['id'] - 1} events " in text
    assert parse(text) == [(last["id"], last["type"], last["data"])]
    assert stack.call("GET", path_of(run_id, last["id"])).status_code == 204
    assert stack.events(run_id) == [last]


def test_the_terminal_event_of_a_failed_run_remains_too(stack: Stack) -> None:
    run_id = stack.start_run("echo", variables=TOPIC)
    stack.data("POST", f"/api/v1/runs/{run_id}/cancel")
    last = stack.events(run_id)[-1]
    stack.clock.ahead = timedelta(hours=26)
    assert stack.events(run_id) == [last]


# Pages


def test_pages_of_events_give_the_same_as_the_stream(stack: Stack) -> None:
    run_id = stack.finish_run("echo", variables=TOPIC)
    told = []
    after, done = 0, False
    while not done:
        page = stack.data("GET", f"/api/v1/runs/{run_id}/events?after={after}&limit=5")
        assert len(page["events"]) <= 5
        told += [(event["id"], event["type"], event["data"]) for event in page["events"]]
        after, done = page["lastId"], page["done"]
    assert told == parse(stack.call("GET", path_of(run_id)).text)
    assert page["status"] == "SUCCESS"
    beyond = stack.data("GET", f"/api/v1/runs/{run_id}/events?after={after}")
    assert beyond == {"events": [], "lastId": after, "status": "SUCCESS", "done": True}


def test_a_page_of_a_run_that_has_not_started_is_empty(stack: Stack) -> None:
    run_id = stack.create_run("echo")
    page = stack.data("GET", f"/api/v1/runs/{run_id}/events?waitSeconds=0.1")
    assert page == {"events": [], "lastId": 0, "status": "CREATED", "done": False}


@pytest.mark.parametrize("live", [True, False])
def test_a_long_poll_returns_when_something_happens(live: bool) -> None:
    stack = Stack(live=live)
    stack.save(echo())
    run_id = stack.create_run("echo", variables=TOPIC)

    async def poll() -> tuple[dict[str, object], float]:
        clock = asyncio.get_running_loop().time
        waiting = asyncio.create_task(stack.acall("GET", f"/api/v1/runs/{run_id}/events?waitSeconds=20"))
        await asyncio.sleep(0.2)
        assert not waiting.done()
        began = clock()
        await asyncio.to_thread(stack.engine.starting.start, stack.engine.runs.get(run_id))
        page = (await waiting).json()["data"]
        return page, clock() - began

    page, seconds = run_async(poll())
    assert page["events"]
    assert page["status"] == "RUNNING"
    assert seconds < 10


def test_pages_stay_under_5_mb_and_lose_nothing(stack: Stack) -> None:
    stack.save(much("much", *[900_000] * 8))
    run_id = stack.finish_run("much")
    numbers: list[int] = []
    after, done = 0, False
    while not done:
        response = stack.call("GET", f"/api/v1/runs/{run_id}/events?after={after}&limit=1000")
        assert len(response.content) < 5_000_000
        page = response.json()["data"]
        numbers += [event["id"] for event in page["events"]]
        after, done = page["lastId"], page["done"]
    assert numbers == list(range(1, len(numbers) + 1))


def test_the_pace_of_the_contract_holds_unless_it_is_changed() -> None:
    pace = Pace()
    assert (pace.keep_alive, pace.longest, pace.held) == (30, 24 * 3600, 25)
    assert pace.pause(0) == 0.02
    assert pace.pause(1) == pytest.approx(0.1)
    assert pace.pause(3600) == 1
