"""The app under a real server, over a real connection: what flows, when it flows, and what a client's going does."""

import socket
import threading
import time
from collections.abc import Iterator

import httpx
import pytest
import uvicorn

from tests.functional.api.definitions import echo
from tests.functional.api.stack import Stack, parse


@pytest.fixture
def served() -> Iterator[tuple[Stack, httpx.Client]]:
    stack = Stack()
    stack.save(echo())
    listening = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(stack.app, log_level="warning", lifespan="off"))
    thread = threading.Thread(target=server.run, args=([listening],))
    thread.start()
    address = f"http://127.0.0.1:{listening.getsockname()[1]}"
    with httpx.Client(base_url=address, headers={"X-API-Key": stack.key}, timeout=60, trust_env=False) as client:
        yield stack, client
    server.should_exit = True
    thread.join()
    listening.close()


def test_events_arrive_while_the_run_goes_on(served: tuple[Stack, httpx.Client]) -> None:
    stack, client = served
    run_id = stack.start_run("echo", variables={"topic": "hi"})
    text = ""
    with client.stream("GET", f"/api/v1/runs/{run_id}/stream") as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        chunks = answer.iter_text()
        while ":keep-alive" not in text:
            text += next(chunks)
        assert parse(text)[-1][2]["nodeId"] == "say", "what follows from the inputs is told by the start"
        stack.drive()
        for chunk in chunks:
            text += chunk
    events = parse(text)
    assert [number for number, _, _ in events] == list(range(1, len(events) + 1))
    assert events[-1][1] == "workflow_complete"


def test_a_client_that_goes_away_is_noticed(served: tuple[Stack, httpx.Client]) -> None:
    stack, client = served
    run_id = stack.create_run("echo")
    streams = stack.app.state.api.streams
    with client.stream("GET", f"/api/v1/runs/{run_id}/stream") as answer:
        chunks = answer.iter_text()
        assert next(chunks)
        assert streams._feeds[run_id].readers == 1
    deadline = time.monotonic() + 5
    while streams._feeds and time.monotonic() < deadline:
        time.sleep(0.01)
    assert streams._feeds == {}


def test_a_body_that_is_too_large_is_refused_before_it_is_sent(served: tuple[Stack, httpx.Client]) -> None:
    stack, client = served
    address = client.base_url
    with socket.create_connection((address.host, address.port or 80), timeout=60) as connection:
        head = f"POST /api/v1/workflows/echo/runs HTTP/1.1\r\nHost: x\r\nX-API-Key: {stack.key}\r\n"
        connection.sendall((head + "Content-Type: application/json\r\nContent-Length: 7000000\r\n\r\n{").encode())
        answer = b"".join(iter(lambda: connection.recv(65536), b""))
    assert answer.startswith(b"HTTP/1.1 413 ")
    assert b"PAYLOAD_TOO_LARGE" in answer


def test_many_requests_at_once_are_answered(served: tuple[Stack, httpx.Client]) -> None:
    stack, client = served
    run_id = stack.finish_run("echo", variables={"topic": "hi"})
    statuses: list[int] = []

    def ask() -> None:
        statuses.append(client.get(f"/api/v1/workflows/echo/runs/{run_id}").status_code)

    threads = [threading.Thread(target=ask) for _ in range(50)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert statuses == [200] * 50
