"""Which addresses may be called for somebody else: those of the public internet, whatever clothes the others come in;
and which are this machine's own."""

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from socket import inet_aton, inet_ntoa

from stepweave.errors import StepweaveError

_GLOBAL_UNICAST = IPv6Network("2000::/3")
_SPECIAL = (
    IPv6Network("2001::/23"),  # protocol assignments, Teredo among them
    IPv6Network("2001:db8::/32"),  # documentation
    IPv6Network("2002::/16"),  # 6to4: an IPv4 address inside
    IPv6Network("3fff::/20"),  # documentation
)
_ISATAP = (b"\x00\x00\x5e\xfe", b"\x02\x00\x5e\xfe")  # an IPv4 address follows in the last four bytes
_METADATA = frozenset(
    ip_address(address)
    for address in (
        "100.100.100.200",
        "168.63.129.16",  # the platform of Azure: public in form only
        "169.254.169.254",
        "fd00:ec2::23",
        "fd00:ec2::254",
        "fd20:ce::254",
    )
)
_LINK_LOCAL = (IPv4Network("169.254.0.0/16"), IPv6Network("fe80::/10"))


class AddressRefused(StepweaveError):
    """An address that is not to be called; the text says why."""

    code = "VALIDATION_FAILED"


class NotPublic(AddressRefused):
    """A host with an address inside some network, or on this machine."""


def is_public(address: str) -> bool:
    """Whether it is an address of the public internet.

    Of IPv6 only global unicast is, and nothing that carries an IPv4 address inside (mapped, compatible, 6to4, NAT64,
    Teredo, ISATAP): where it leads is decided by somebody else's network.
    """
    parsed = _parse(address)
    match parsed:
        case IPv4Address():
            return parsed.is_global and not parsed.is_multicast and parsed not in _METADATA
        case IPv6Address():
            special = any(parsed in network for network in _SPECIAL) or parsed.packed[8:12] in _ISATAP
            return parsed in _GLOBAL_UNICAST and parsed.is_global and not special
        case None:
            return False


def literal(host: str) -> str | None:
    """The address that a host of a URL is by itself, also in the old forms that resolvers take (`127.1`, `0x7f000001`);
    None: a name, which stands for whatever its resolver says."""
    if host == "localhost":
        return "127.0.0.1"
    if _parse(host) is not None:
        return host
    try:
        return inet_ntoa(inet_aton(host))
    except OSError:
        return None


def is_loopback(host: str) -> bool:
    """Whether a host of a URL is this machine: by an address of it, or by the one name that means nothing else."""
    parsed = _parse(host)
    return parsed.is_loopback if parsed is not None else host == "localhost"


def is_credential_source(address: str) -> bool:
    """Whether a cloud hands out credentials there; refused even where private hosts are allowed."""
    parsed = _parse(address)
    if isinstance(parsed, IPv6Address):
        if any(IPv4Address(parsed.packed[start : start + 4]) in _METADATA for start in (2, 12)):
            return True
        if parsed.ipv4_mapped is not None:
            parsed = parsed.ipv4_mapped
    if parsed is None or parsed in _METADATA:
        return True
    return any(parsed.version == network.version and parsed in network for network in _LINK_LOCAL)


def _parse(address: str) -> IPv4Address | IPv6Address | None:
    """A zone (`fe80::1%eth0`) says over which interface, and never changes what the address is."""
    try:
        return ip_address(address.partition("%")[0])
    except ValueError:
        return None
