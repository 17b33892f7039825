"""`http_get` reads the public internet, and nothing can make it read anything else."""

import asyncio
import gzip
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import httpx2
import pytest

from stepweave.agents.tools.files import Files
from stepweave.agents.tools.http_get import http_get_tool
from stepweave.agents.tools.lent import Lent
from stepweave.agents.tools.toolbox import Toolbox, ToolResult
from stepweave.web.transport import GuardedTransport
from tests.functional.web_server import drips, says, web_server

PUBLIC = "93.184.216.34"
OTHER_PUBLIC = "8.8.8.8"

Handler = Callable[[httpx2.Request], httpx2.Response]


class Names:
    """A resolver that is told what to say, and counts how often it is asked."""

    def __init__(self, **addresses: Sequence[str]) -> None:
        self._addresses = {name.replace("_", "."): list(found) for name, found in addresses.items()}
        self.asked: list[str] = []

    async def __call__(self, host: str, port: int) -> Sequence[str]:
        self.asked.append(host)
        return self._addresses.get(host, [host])


class Internet:
    """Answers requests in memory; `requests` are those that got through."""

    def __init__(self, handler: Handler) -> None:
        self._handler = handler
        self.requests: list[httpx2.Request] = []

    def connect(self) -> httpx2.AsyncBaseTransport:
        def handle(request: httpx2.Request) -> httpx2.Response:
            self.requests.append(request)
            return self._handler(request)

        return httpx2.MockTransport(handle)


def get(url: str, transport: GuardedTransport, seconds: float = 10) -> ToolResult:
    async def call() -> ToolResult:
        tool = replace(http_get_tool(Lent(Files(None, None), transport, lambda _: None)), seconds=seconds)
        try:
            return await Toolbox([tool], "en").call("http_get", {"url": url})
        finally:
            await transport.aclose()

    return asyncio.run(call())


def guarded(internet: Internet, names: Any) -> GuardedTransport:
    return GuardedTransport(resolve=names, connect=internet.connect)


def local() -> GuardedTransport:
    return GuardedTransport(private_hosts=True)


def page(text: str) -> httpx2.Response:
    return httpx2.Response(200, stream=httpx2.ByteStream(text.encode()))


def redirects(to: str) -> Handler:
    return lambda request: httpx2.Response(302, headers={"Location": to})


# What may not be called


@pytest.mark.parametrize(
    "host",
    [
        *("127.0.0.1", "127.1", "2130706433", "0x7f000001", "localhost", "localhost.", "0.0.0.0", "10.0.0.1"),
        *("169.254.169.254", "[::1]", "[::ffff:127.0.0.1]", "[64:ff9b::7f00:1]", "[fe80::1]", "[::]"),
    ],
)
def test_no_form_of_a_private_address_is_called(host: str) -> None:
    internet = Internet(lambda request: page("secret"))
    result = get(f"http://{host}:1/", GuardedTransport(connect=internet.connect))
    assert (result.success, internet.requests) == (False, [])


def test_a_name_with_one_private_address_among_public_ones_is_not_called() -> None:
    internet = Internet(lambda request: page("secret"))
    result = get("http://mixed.example/", guarded(internet, Names(mixed_example=[PUBLIC, "10.0.0.1"])))
    assert (result.success, internet.requests) == (False, [])
    assert "not public" in result.content


def test_a_redirect_to_a_private_address_is_not_followed() -> None:
    with web_server({"/": says(b"secret")}) as inside:
        internet = Internet(redirects(f"{inside.base_url}/"))
        result = get("http://public.example/", guarded(internet, Names(public_example=[PUBLIC])))
        assert (result.success, inside.requests) == (False, [])
    assert len(internet.requests) == 1


@pytest.mark.parametrize(
    "to", ["file:///etc/passwd", "ftp://example.org/", "gopher://x/", "http://u:p@public.example/x"]
)
def test_a_redirect_to_what_is_no_plain_web_address_is_not_followed(to: str) -> None:
    internet = Internet(redirects(to))
    result = get("http://public.example/", guarded(internet, Names(public_example=[PUBLIC])))
    assert (result.success, len(internet.requests)) == (False, 1)


def test_a_name_that_answers_differently_the_second_time_gains_nothing() -> None:
    class Rebinding:
        def __init__(self) -> None:
            self.answers = [[PUBLIC], ["127.0.0.1"], ["127.0.0.1"]]

        async def __call__(self, host: str, port: int) -> Sequence[str]:
            return self.answers.pop(0)

    names = Rebinding()
    internet = Internet(lambda request: page("fine"))
    assert get("http://rebinding.example/", guarded(internet, names)).success
    assert [request.url.host for request in internet.requests] == [PUBLIC]
    assert len(names.answers) == 2  # resolved once: what was checked is what was called


def test_each_hop_of_a_redirect_is_checked_anew() -> None:
    answers = [[PUBLIC], ["127.0.0.1"]]

    async def resolve(host: str, port: int) -> Sequence[str]:
        return answers.pop(0)

    internet = Internet(redirects("/again"))
    result = get("http://rebinding.example/", guarded(internet, resolve))
    assert (result.success, len(internet.requests)) == (False, 1)


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("file:///etc/passwd", "only http and https"),
        ("ftp://example.org/a", "only http and https"),
        ("example.org", "only http and https"),
        ("http://", "only http and https"),
        ("http://me:secret@public.example/", "no user name or password"),
        ("http://[::1", "no valid address"),
    ],
)
def test_what_is_no_web_address_is_told(url: str, words: str) -> None:
    internet = Internet(lambda request: httpx2.Response(200))
    result = get(url, guarded(internet, Names(public_example=[PUBLIC])))
    assert (result.success, internet.requests) == (False, [])
    assert words in result.content
    assert "secret" not in result.content


def test_where_private_hosts_are_allowed_the_credentials_of_the_cloud_still_are_not() -> None:
    internet = Internet(lambda request: page("secret"))
    transport = GuardedTransport(private_hosts=True, connect=internet.connect)
    assert not get("http://169.254.169.254/latest/meta-data/", transport).success
    assert internet.requests == []


def test_a_name_that_does_not_exist_is_told() -> None:
    async def resolve(host: str, port: int) -> Sequence[str]:
        raise OSError("no such name")

    result = get("http://nowhere.example/", GuardedTransport(resolve=resolve))
    assert "cannot be found" in result.content


# How it calls


def test_the_address_is_called_in_the_name_of_the_host() -> None:
    internet = Internet(lambda request: page("hi"))
    result = get("https://public.example/a?b=c", guarded(internet, Names(public_example=[PUBLIC])))
    [request] = internet.requests
    assert (request.url.host, request.url.raw_path) == (PUBLIC, b"/a?b=c")
    assert request.headers["Host"] == "public.example"
    assert request.extensions["sni_hostname"] == "public.example"
    assert result.content["url"] == "https://public.example/a?b=c"


def test_another_address_is_tried_where_one_cannot_be_reached() -> None:
    def handle(request: httpx2.Request) -> httpx2.Response:
        if request.url.host == PUBLIC:
            raise httpx2.ConnectError("unreachable")
        return page("hi")

    internet = Internet(handle)
    assert get("http://two.example/", guarded(internet, Names(two_example=[PUBLIC, OTHER_PUBLIC]))).success


def test_redirects_are_followed_and_the_last_address_is_told() -> None:
    def handle(request: httpx2.Request) -> httpx2.Response:
        return page("here") if request.url.path == "/b" else redirects("/b")(request)

    result = get("http://public.example/a", guarded(Internet(handle), Names(public_example=[PUBLIC])))
    assert (result.content["url"], result.content["text"]) == ("http://public.example/b", "here")


def test_redirects_that_do_not_end_are_given_up_after_five() -> None:
    internet = Internet(redirects("/again"))
    result = get("http://public.example/", guarded(internet, Names(public_example=[PUBLIC])))
    assert (result.success, len(internet.requests)) == (False, 6)
    assert "redirects" in result.content


# What it reads


def test_a_page_is_read_as_text_with_its_status() -> None:
    with web_server({"/": says("你好".encode()), "/gone": says(b"gone", status=410)}) as server:
        page, gone = get(f"{server.base_url}/", local()), get(f"{server.base_url}/gone", local())
    assert page.content == {
        "url": f"{server.base_url}/",
        "status": 200,
        "contentType": "text/plain; charset=utf-8",
        "text": "你好",
    }
    assert gone.content["status"] == 410
    assert "Authorization" not in server.headers[0]
    assert "Cookie" not in server.headers[0]


def test_the_encoding_that_the_server_names_is_used() -> None:
    with web_server(
        {"/": says("你好".encode("gbk"), "text/html; charset=gbk"), "/x": says(b"a", "text/x; charset=no")}
    ) as server:
        assert get(f"{server.base_url}/", local()).content["text"] == "你好"
        assert get(f"{server.base_url}/x", local()).content["text"] == "a"


def test_what_is_no_text_is_told_as_such() -> None:
    with web_server({"/": says(b"\x89PNG\0\0", "image/png")}) as server:
        assert get(f"{server.base_url}/", local()).content["binary"] is True


def test_a_body_without_end_is_read_up_to_a_megabyte() -> None:
    with web_server({"/": drips(b"x" * 100_000, 0.0)}) as server:
        told = get(f"{server.base_url}/", local()).content
    assert told["truncated"] is True
    assert len(told["text"]) == 80_000


def test_a_body_that_drips_is_given_up() -> None:
    begin = time.perf_counter()
    with web_server({"/": drips(b"x", 0.02)}) as server:
        result = get(f"{server.base_url}/", local(), seconds=0.5)
    assert (result.success, "0.5 seconds" in result.content) == (False, True)
    assert time.perf_counter() - begin < 8


def test_a_packed_body_is_unpacked_up_to_a_megabyte() -> None:
    bomb = gzip.compress(b"x" * 50_000_000)
    assert len(bomb) < 100_000
    answers = {"/": says(bomb, Content_Encoding="gzip"), "/a": says(gzip.compress(b"hi"), Content_Encoding="gzip")}
    with web_server(answers) as server:
        told = get(f"{server.base_url}/", local()).content
        assert get(f"{server.base_url}/a", local()).content["text"] == "hi"
    assert (len(told["text"]), told["truncated"]) == (80_000, True)


@pytest.mark.parametrize(("encoding", "words"), [("br", "packed"), ("gzip", "broken")])
def test_a_body_that_cannot_be_unpacked_is_told(encoding: str, words: str) -> None:
    with web_server({"/": says(b"nonsense", Content_Encoding=encoding)}) as server:
        result = get(f"{server.base_url}/", local())
    assert (result.success, words in result.content) == (False, True)


def test_a_server_that_is_not_there_is_told() -> None:
    with web_server({}) as server:
        pass
    result = get(f"{server.base_url}/", local())
    assert (result.success, "ConnectError" in result.content) == (False, True)
