"""The router on loopback, inside a function that runs agents: three routes, and nothing that anybody else could use."""

import http.client
import json
import socket
import threading
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import pytest

from stepweave.execution.context_query import ContextQuery
from tests.functional.api.definitions import definition, scripted
from tests.functional.api.inside import Inside, go_to
from tests.functional.api.stack import Stack

NODES = {"A": {"type": "userInput"}, "B": scripted("b"), "G": scripted("g"), "out": {"type": "output"}}
CHAIN = definition("chain", NODES, [("A", "B"), ("B", "G"), ("G", "out")])


@dataclass(frozen=True)
class Router:
    """A router that is open, for the visit of `inside`."""

    inside: Inside
    query: ContextQuery

    @property
    def port(self) -> int:
        return int(urlsplit(self.query.base_url).port or 0)

    def send(
        self, method: str = "POST", path: str = "/internal/context/output", body: bytes | None = None, **headers: str
    ) -> tuple[int, Any, http.client.HTTPMessage]:
        if body is None:
            body = json.dumps({"runId": self.query.run_id, "nodeId": "B"}).encode()
        given = {"Content-Type": "application/json", "X-Context-Token": self.query.token}
        given |= {name.replace("_", "-"): value for name, value in headers.items()}
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=5)
        try:
            connection.request(method, path, body=body, headers=given)
            response = connection.getresponse()
            return response.status, json.loads(response.read() or b"null"), response.headers
        finally:
            connection.close()


@pytest.fixture
def router() -> Iterator[Router]:
    stack = Stack()
    inside = go_to(stack, CHAIN, "G")
    context = stack.engine.equipment.context
    assert context is not None
    with context.open(inside.visit) as query:
        yield Router(inside, query)


def test_it_answers_as_the_api_does(router: Router) -> None:
    status, answer, headers = router.send()
    assert (status, answer["code"], answer["data"]["data"]) == (200, 200, {"result": "b"})
    assert headers["Content-Type"] == "application/json"


def test_it_listens_on_loopback_alone_at_a_port_of_the_systems_choice(router: Router) -> None:
    assert router.query.base_url.startswith("http://127.0.0.1:")
    context = router.inside.stack.engine.equipment.context
    assert context is not None
    with context.open(router.inside.visit) as other:
        assert other.base_url != router.query.base_url


@pytest.mark.parametrize(
    "host", ["example.com", "127.0.0.1", "127.0.0.1.nip.io:{port}", "[::1]:{port}", "localhost:1", ""]
)
def test_a_request_that_was_meant_for_another_host_is_refused(router: Router, host: str) -> None:
    status, answer, _ = router.send(Host=host.format(port=router.port))
    assert (status, answer["data"]) == (403, None)


def test_the_name_of_this_machine_is_its_address_too(router: Router) -> None:
    assert router.send(Host=f"localhost:{router.port}")[0] == 200


@pytest.mark.parametrize("method", ["GET", "HEAD", "OPTIONS", "PUT", "DELETE", "PATCH", "TRACE", "NONSENSE"])
def test_no_other_method_is_there_and_browsers_are_told_nothing(router: Router, method: str) -> None:
    status, _, headers = router.send(method, Origin="https://example.com")
    assert status == 404
    assert not [name for name in headers if name.lower().startswith("access-control") or name.lower() == "server"]


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/internal/context",
        "/internal/context/",
        "/internal/context/logs",
        "/api/v1/workflows",
        "/mcp",
        "/internal/context/output?x=1",
        "/internal/context/output/",
    ],
)
def test_no_other_path_is_there(router: Router, path: str) -> None:
    assert router.send(path=path)[0] == 404


def test_an_address_that_names_another_host_is_refused(router: Router) -> None:
    assert router.send(path="http://127.0.0.1/internal/context/output")[0] == 403


def test_a_body_may_have_8_kb(router: Router) -> None:
    body = json.dumps({"runId": router.query.run_id, "nodeId": "B"}).encode()
    assert router.send(body=body.ljust(8 * 1024))[0] == 200
    assert router.send(body=body.ljust(8 * 1024 + 1))[0] == 400


def test_only_json_is_taken(router: Router) -> None:
    assert router.send(Content_Type="application/x-www-form-urlencoded")[0] == 400
    assert router.send(body=b"runId=1")[0] == 400


@pytest.mark.parametrize(
    "head",
    [
        b"POST /internal/context/output HTTP/1.1\r\nHost: %s\r\n\r\n",
        b"POST /internal/context/output HTTP/1.1\r\nHost: %s\r\nContent-Length: -1\r\n\r\n",
        b"POST /internal/context/output HTTP/1.1\r\nHost: %s\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\n{}",
        b"POST /internal/context/output HTTP/1.1\r\nHost: %s\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"POST /internal/context/output HTTP/1.1\r\nHost: %s\r\nHost: %s\r\nContent-Length: 2\r\n\r\n{}",
        b"POST\r\n\r\n",
        b"nonsense\r\n\r\n",
        b"POST /internal/context/output HTTP/9.9\r\nHost: %s\r\n\r\n",
        b"POST /internal/context/output HTTP/1.1\r\n" + b"X-A: b\r\n" * 200 + b"\r\n",
    ],
)
def test_what_is_no_plain_request_is_refused_in_the_same_shape(router: Router, head: bytes) -> None:
    with socket.create_connection(("127.0.0.1", router.port), timeout=5) as connection:
        connection.sendall(head.replace(b"%s", f"127.0.0.1:{router.port}".encode()))
        told = b""
        while chunk := connection.recv(4096):
            told += chunk
    assert 400 <= int(told.split(b" ", 2)[1]) < 500
    answer = json.loads(told.partition(b"\r\n\r\n")[2])
    assert list(answer) == ["code", "message", "data"]


def test_a_token_of_another_process_is_worth_nothing_here(router: Router) -> None:
    foreign = Stack()
    token = go_to(foreign, CHAIN, "G").token
    assert router.send(X_Context_Token=token)[0] == 401
    stored_elsewhere = router.inside.stack.engine.context_tokens
    stored_elsewhere._own.clear()  # as if another process had made them
    assert router.send()[0] == 401


def test_a_token_of_another_run_in_the_same_process_is_403(router: Router) -> None:
    stack = router.inside.stack
    run_id = stack.start_run("chain")
    while not (others := [visit for visit in stack.engine.store.visits(run_id) if visit.node_id == "B"]):
        assert stack.step()
    [other] = others
    assert router.send(X_Context_Token=stack.engine.context_tokens.issue(other))[0] == 403


def test_with_the_invocation_the_token_and_the_port_are_gone() -> None:
    stack = Stack()
    inside = go_to(stack, CHAIN, "G")
    context = stack.engine.equipment.context
    assert context is not None
    before = threading.active_count()
    with context.open(inside.visit) as query:
        port = int(urlsplit(query.base_url).port or 0)
    with pytest.raises(OSError, match="refused"):
        socket.create_connection(("127.0.0.1", port), timeout=5).close()
    assert stack.engine.context_tokens.recognise([query.token]) is None
    assert threading.active_count() == before


def test_many_ask_at_once(router: Router) -> None:
    statuses: list[int] = []
    threads = [threading.Thread(target=lambda: statuses.append(router.send()[0])) for _ in range(24)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert statuses == [200] * 24


# A connection that is kept


def kept(router: Router) -> http.client.HTTPConnection:
    return http.client.HTTPConnection("127.0.0.1", router.port, timeout=5)


def ask(router: Router, connection: http.client.HTTPConnection, body: bytes | None = None, **headers: str) -> int:
    content = body or json.dumps({"runId": router.query.run_id, "nodeId": "B"}).encode()
    given = {"Content-Type": "application/json", "X-Context-Token": router.query.token, **headers}
    connection.request("POST", "/internal/context/output", content, given)
    response = connection.getresponse()
    response.read()
    return response.status


def test_a_connection_is_good_for_many_queries_each_judged_by_itself(router: Router) -> None:
    with closing(kept(router)) as connection:
        assert ask(router, connection) == 200
        used = connection.sock
        assert ask(router, connection, body=b"{}") == 400
        assert ask(router, connection, **{"X-Context-Token": "0" * 48}) == 401
        assert ask(router, connection) == 200
        assert connection.sock is used


@pytest.mark.parametrize(
    ("body", "headers"),
    [(b"{}".ljust(8 * 1024 + 2), {}), (None, {"Host": "example.com"}), (None, {"Connection": "close"})],
)
def test_it_ends_with_what_is_no_plain_request_and_when_the_client_says_so(
    router: Router, body: bytes | None, headers: dict[str, str]
) -> None:
    with closing(kept(router)) as connection:
        ask(router, connection, body, **headers)
        assert connection.sock is None


def test_what_comes_behind_a_body_of_another_length_is_no_query(router: Router) -> None:
    body = json.dumps({"runId": router.query.run_id, "nodeId": "B"}).encode()
    head = (
        f"POST /internal/context/output HTTP/1.1\r\nHost: 127.0.0.1:{router.port}\r\n"
        f"Content-Type: application/json\r\nX-Context-Token: {router.query.token}\r\n"
    )
    for length in ("0", "0000000000000", "-0", "+5", "0x10", "5, 5"):
        with socket.create_connection(("127.0.0.1", router.port), timeout=5) as connection:
            connection.sendall(f"{head}Content-Length: {length}\r\n\r\n".encode() + body)
            connection.shutdown(socket.SHUT_WR)
            told = b""
            while chunk := connection.recv(4096):
                told += chunk
        assert b" 200 " not in told
        assert b'"result"' not in told


def test_with_the_invocation_a_connection_that_was_kept_ends_too() -> None:
    stack = Stack()
    inside = go_to(stack, CHAIN, "G")
    context = stack.engine.equipment.context
    assert context is not None
    with context.open(inside.visit) as query:
        router = Router(inside, query)
        connection = kept(router)
        assert ask(router, connection) == 200
        assert connection.sock is not None
    with closing(connection):
        assert connection.sock.recv(1) == b""
