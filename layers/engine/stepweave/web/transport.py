"""HTTP to where strangers say: a name is resolved once, every address it has is checked, and one of those is connected to.

So a name that answers differently the second time (DNS rebinding) gains nothing, and neither does a redirect: each
request that goes through the transport is judged by itself.
"""

import socket
from collections.abc import Awaitable, Callable, Sequence
from functools import cache
from typing import Any, override

import httpx2

from stepweave.graph.problem import cut, quoted
from stepweave.texts import Text
from stepweave.web.addresses import AddressRefused, NotPublic, is_credential_source, is_public
from stepweave.web.daemon import in_thread

Resolve = Callable[[str, int], Awaitable[Sequence[str]]]
"""The addresses of a host, in the order of preference."""

Connect = Callable[[], httpx2.AsyncBaseTransport]

CONNECT_SECONDS = 5.0


class GuardedTransport(httpx2.AsyncBaseTransport):
    """Raises `AddressRefused` for what may not be called. One connection pool a host: a connection made for one name is
    never used for another that has the same address."""

    def __init__(
        self, *, private_hosts: bool = False, resolve: Resolve | None = None, connect: Connect | None = None
    ) -> None:
        self._private_hosts = private_hosts
        self._resolve = resolve or resolve_host
        self._connect = connect or direct_transport
        self._pools: dict[str, httpx2.AsyncBaseTransport] = {}

    @override
    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        url = request.url
        check_url(url)
        host = _ascii_host(url)
        if host not in self._pools:
            self._pools[host] = self._connect()
        pool = self._pools[host]
        *others, last = await self._addresses(host, url.port or (443 if url.scheme == "https" else 80))
        for address in others:
            try:
                return await pool.handle_async_request(_pinned(request, address))
            except (httpx2.ConnectError, httpx2.ConnectTimeout):
                continue  # nothing was sent: another address may be in reach
        return await pool.handle_async_request(_pinned(request, last))

    async def _addresses(self, host: str, port: int) -> list[str]:
        """All of them, at least one, when every one may be called."""
        try:
            found = list(dict.fromkeys(await self._resolve(host, port)))
        except OSError as error:
            raise AddressRefused(
                Text(f"找不到主机 {quoted(host)}", f"the host {quoted(host)} cannot be found")
            ) from error
        refused = is_credential_source if self._private_hosts else _is_not_public
        if not found or any(refused(address) for address in found):
            raise NotPublic(
                Text(
                    f"不允许访问 {quoted(host)}：它的地址不是公网地址",
                    f"{quoted(host)} may not be called: it has an address that is not public",
                )
            )
        return found

    @override
    async def aclose(self) -> None:
        for pool in self._pools.values():
            await pool.aclose()


def check_url(url: httpx2.URL) -> None:
    """Raises `AddressRefused` for what is no plain http or https address."""
    if url.scheme not in {"http", "https"} or not url.host:
        shown = cut(str(url.copy_with(username=None, password=None)) if url.host else str(url))
        raise AddressRefused(
            Text(f"只支持 http 和 https 地址：{shown}", f"only http and https addresses work: {shown}")
        )
    if url.userinfo:
        raise AddressRefused(Text("地址中不能含有用户名或密码", "an address must hold no user name or password"))


async def resolve_host(host: str, port: int) -> list[str]:
    """What the system says; raises `OSError`."""
    found = await in_thread(lambda: socket.getaddrinfo(host, port, type=socket.SOCK_STREAM))
    return [str(address[0]) for *_, address in found]


def _is_not_public(address: str) -> bool:
    return not is_public(address)


def _pinned(request: httpx2.Request, address: str) -> httpx2.Request:
    """The request to that address; the `Host` header and, in TLS, the name that the certificate must have, stay."""
    extensions: dict[str, Any] = {**request.extensions, "sni_hostname": _ascii_host(request.url)}
    return httpx2.Request(
        request.method,
        request.url.copy_with(host=address),
        headers=request.headers,
        stream=request.stream,
        extensions=extensions,
    )


def _ascii_host(url: httpx2.URL) -> str:
    """As names are resolved and certificates hold them."""
    return url.raw_host.decode("ascii")


def direct_transport() -> httpx2.AsyncBaseTransport:
    """To wherever it is told to, without a proxy: for addresses that the deployment has set."""
    return httpx2.AsyncHTTPTransport(verify=_tls(), trust_env=False)


@cache
def _tls() -> Any:
    """Reading the certificates takes longer than many a request."""
    return httpx2.create_ssl_context()
