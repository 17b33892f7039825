"""One POST to an address that a client has named: judged, signed by whoever calls this, and never led anywhere else."""

import asyncio
import re
from collections.abc import Mapping

import httpx2

from stepweave.graph.problem import cut
from stepweave.texts import Text
from stepweave.web.addresses import AddressRefused, is_credential_source, is_public, literal
from stepweave.web.transport import Connect, GuardedTransport, Resolve, check_url

SECONDS = 10.0
"""For everything from the look-up of the name to the first line of the answer; the rest of it is never read."""

_NAME = re.compile(r"[a-z0-9_-]+(\.[a-z0-9_-]+)*\.?")


class NotTaken(Exception):
    """No answer came; the words say why."""


def receiver(url: str, *, private_hosts: bool) -> httpx2.URL:
    """The address, parsed. Raises `AddressRefused` for what is refused whatever its name stands for: anything but
    https, a user name or password, the address of a private network in any of its forms.

    With `private_hosts`, http and private addresses are allowed, but not those where a cloud hands out credentials.
    """
    try:
        parsed = httpx2.URL(url)
    except httpx2.InvalidURL as error:
        raise AddressRefused(Text("不是有效的地址", "this is no valid address")) from error
    check_url(parsed)
    if parsed.scheme != "https" and not private_hosts:
        raise AddressRefused(Text("只支持 https 地址", "only https addresses are called back"))
    address = literal(parsed.host)
    port = 443 if parsed.port is None else parsed.port
    if (address is None and not _NAME.fullmatch(parsed.raw_host.decode())) or not 0 < port < 65_536:
        raise AddressRefused(Text("主机名或端口无效", "its host or port is not valid"))
    if address is not None and (is_credential_source(address) if private_hosts else not is_public(address)):
        raise AddressRefused(Text("不允许访问：不是公网地址", "the address is not public, and may not be called"))
    return parsed


def post(
    url: str,
    headers: Mapping[str, str],
    body: bytes,
    *,
    private_hosts: bool = False,
    resolve: Resolve | None = None,
    connect: Connect | None = None,
) -> int:
    """The status of the answer. Raises `AddressRefused`, `NotTaken`."""
    transport = GuardedTransport(private_hosts=private_hosts, resolve=resolve, connect=connect)
    return asyncio.run(_post(receiver(url, private_hosts=private_hosts), dict(headers), body, transport))


async def _post(url: httpx2.URL, headers: dict[str, str], body: bytes, transport: GuardedTransport) -> int:
    client = httpx2.AsyncClient(transport=transport, trust_env=False, follow_redirects=False, timeout=SECONDS)
    try:
        async with (
            asyncio.timeout(SECONDS),
            client,
            client.stream("POST", url, headers=headers, content=body) as answer,
        ):
            return answer.status_code
    except TimeoutError as error:
        raise NotTaken(f"no answer within {SECONDS:g} seconds") from error
    except (httpx2.HTTPError, httpx2.InvalidURL) as error:
        raise NotTaken(cut(f"{type(error).__name__}: {error}")) from error
