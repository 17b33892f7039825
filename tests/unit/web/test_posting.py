"""A POST goes to the public host that was named, or nowhere."""

import time
from collections.abc import Iterator, Sequence

import httpx2
import pytest

from stepweave.web import posting
from stepweave.web.addresses import AddressRefused
from stepweave.web.posting import NotTaken, post, receiver
from stepweave.web.transport import Resolve
from tests.functional.receiver import receiver as listening
from tests.functional.web_server import WebServer, drips, says_nothing, web_server

PUBLIC = "93.184.216.34"


class Internet:
    """Answers in memory; `requests` are those that got through."""

    def __init__(self, status: int = 200, location: str | None = None) -> None:
        self._answer = (status, {"Location": location} if location else {})
        self.requests: list[httpx2.Request] = []

    def connect(self) -> httpx2.AsyncBaseTransport:
        def handle(request: httpx2.Request) -> httpx2.Response:
            self.requests.append(request)
            return httpx2.Response(self._answer[0], headers=self._answer[1])

        return httpx2.MockTransport(handle)


def says(*answers: Sequence[str]) -> Resolve:
    """A resolver that gives its answers in turn."""
    left = list(answers)

    async def resolve(host: str, port: int) -> Sequence[str]:
        return left.pop(0)

    return resolve


# What is refused before any name is looked up


@pytest.mark.parametrize(
    "url",
    [
        *(
            "http://example.com/",
            "ftp://example.com/",
            "file:///etc/passwd",
            "https://",
            "https:/example.com",
            "nonsense",
        ),
        *("https://user@example.com/", "https://user:pass@example.com/", "https://:pass@example.com/", "//example.com"),
        *("https://127.0.0.1/", "https://127.1/", "https://2130706433/", "https://0x7f000001/", "https://0177.0.0.1/"),
        *("https://localhost/", "https://10.0.0.1:8443/", "https://169.254.169.254/latest/meta-data", "https://0/"),
        *("https://[::1]/", "https://[::ffff:127.0.0.1]/", "https://[::ffff:8.8.8.8]/", "https://[64:ff9b::a00:1]/"),
        *("https://[2002:7f00:1::]/", "https://[fe80::1%25eth0]/", "https://[fd00:ec2::254]/", "https://１２７.0.0.1/"),
        *(
            "https://example.com:99999/",
            "https://example.com:0/",
            "https://exa mple.com/",
            "https://a.com\\@b/",
            "https://127。0。0。1/",
        ),
    ],
)
def test_no_form_of_a_private_or_strange_address_is_a_receiver(url: str) -> None:
    with pytest.raises(AddressRefused) as refused:
        receiver(url, private_hosts=False)
    assert refused.value.text.zh != refused.value.text.en
    assert "pass@" not in str(refused.value)


@pytest.mark.parametrize(
    "url",
    ["https://example.com", "https://example.com:8443/a?b=c#d", "https://8.8.8.8/", "https://[2606:4700:4700::1111]/"],
)
def test_an_https_address_of_the_internet_is_a_receiver(url: str) -> None:
    receiver(url, private_hosts=False)


def test_where_private_hosts_are_allowed_http_is_too_but_no_place_that_hands_out_credentials() -> None:
    for url in ("http://127.0.0.1:3000/", "http://localhost/", "https://10.0.0.1/"):
        receiver(url, private_hosts=True)
    for url in ("http://169.254.169.254/", "http://[::ffff:169.254.169.254]/", "http://u:p@localhost/", "ftp://x/"):
        with pytest.raises(AddressRefused):
            receiver(url, private_hosts=True)


# What is refused when the name is looked up


@pytest.mark.parametrize(
    "address", ["127.0.0.1", "10.0.0.1", "::1", "::ffff:127.0.0.1", "169.254.169.254", "2002:7f00:1::"]
)
def test_a_public_name_of_a_private_address_is_not_called(address: str) -> None:
    """As `127.0.0.1.nip.io` is; also where it has a public address beside it."""
    internet = Internet()
    with pytest.raises(AddressRefused):
        post("https://name.example/", {}, b"", resolve=says([PUBLIC, address]), connect=internet.connect)
    assert not internet.requests


def test_a_name_is_resolved_once_and_what_was_checked_is_what_is_called() -> None:
    internet = Internet()
    resolve = says([PUBLIC], ["127.0.0.1"])
    assert post("https://rebinding.example:8443/x", {}, b"{}", resolve=resolve, connect=internet.connect) == 200
    [request] = internet.requests
    assert (request.url.host, request.url.port) == (PUBLIC, 8443)
    assert request.headers["host"] == "rebinding.example:8443"
    assert request.extensions["sni_hostname"] == "rebinding.example"


def test_a_name_in_any_script_is_resolved_and_certified_in_ascii() -> None:
    internet = Internet()
    post("https://例子.example/", {}, b"", resolve=says([PUBLIC]), connect=internet.connect)
    [request] = internet.requests
    assert request.extensions["sni_hostname"] == request.headers["host"] == "xn--fsqu00a.example"


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_an_answer_and_never_followed(status: int) -> None:
    with listening() as inside:
        internet = Internet(status, f"{inside.base_url}/")
        assert post("https://name.example/", {}, b"", resolve=says([PUBLIC]), connect=internet.connect) == status
        assert (len(internet.requests), inside.told) == (1, [])


# What comes back


@pytest.fixture
def endless() -> Iterator[WebServer]:
    """Answers POSTs without end at `/`, and never at `/silent`."""
    with web_server({"/": drips(b"x" * 1000, 0.001), "/silent": says_nothing}) as server:
        yield server


def test_a_receiver_gets_the_body_and_the_headers_as_they_are() -> None:
    with listening(204) as server:
        assert post(f"{server.base_url}/ended?run=1", {"X-A": "b"}, b'{"x": 1}', private_hosts=True) == 204
        [told] = server.told
    assert (told.path, told.body, told.headers["x-a"]) == ("/ended?run=1", b'{"x": 1}', "b")
    assert "cookie" not in told.headers


def test_of_an_endless_answer_only_the_first_line_counts(endless: WebServer) -> None:
    began = time.monotonic()
    assert post(f"{endless.base_url}/", {}, b"", private_hosts=True) == 200
    assert time.monotonic() - began < 5


def test_a_receiver_that_says_nothing_is_given_up(endless: WebServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(posting, "SECONDS", 0.2)
    with pytest.raises(NotTaken, match=r"no answer within 0\.2 seconds"):
        post(f"{endless.base_url}/silent", {}, b"", private_hosts=True)


def test_nobody_there_is_told_in_words() -> None:
    with listening() as server:
        pass
    with pytest.raises(NotTaken, match="ConnectError"):
        post(server.base_url, {}, b"", private_hosts=True)
