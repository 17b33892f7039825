"""Only the public internet is public."""

import pytest

from stepweave.web.addresses import is_credential_source, is_public

PRIVATE = [
    *("0.0.0.0", "10.1.2.3", "100.64.0.1", "127.0.0.1", "127.255.255.254", "169.254.169.254", "172.16.0.1"),
    *("192.0.0.1", "192.0.2.1", "192.168.1.1", "198.18.0.1", "198.51.100.7", "203.0.113.9", "224.0.0.1", "239.1.1.1"),
    *("240.0.0.1", "255.255.255.255", "100.100.100.200", "168.63.129.16"),
    *(
        "::",
        "::1",
        "fe80::1",
        "fe80::1%eth0",
        "fc00::1",
        "fd00:ec2::254",
        "fec0::1",
        "ff02::1",
        "100::1",
        "2001:db8::1",
    ),
    *("2001::1", "2001:2::1", "3fff::1", "5f00::1"),
    "::ffff:127.0.0.1",
    "::ffff:8.8.8.8",  # mapped, of whatever address
    "::ffff:0:127.0.0.1",
    "::127.0.0.1",
    "64:ff9b::7f00:1",
    "64:ff9b::808:808",
    "64:ff9b:1::a00:1",
    "2002:7f00:1::",
    "2001:0:4136:e378:8000:63bf:80ff:fffe",  # Teredo
    "2a00::5efe:a00:1",  # ISATAP
    "2a00::200:5efe:a00:1",
    *("localhost", "", "1.2.3", "0x7f.1", "2130706433", "１２７.0.0.1"),
]


@pytest.mark.parametrize("address", PRIVATE)
def test_an_address_of_a_private_or_special_network_is_not_public(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize(
    "address", ["8.8.8.8", "1.1.1.1", "93.184.216.34", "2606:4700:4700::1111", "2a00:1450:4001::64"]
)
def test_an_address_of_the_internet_is_public(address: str) -> None:
    assert is_public(address)
    assert not is_credential_source(address)


@pytest.mark.parametrize(
    "address",
    [
        *("169.254.169.254", "169.254.170.2", "100.100.100.200", "168.63.129.16", "fd00:ec2::254", "fe80::1"),
        *("::ffff:169.254.169.254", "2002:a9fe:a9fe::", "64:ff9b::a9fe:a9fe", "fd00:ec2::254%lo", "nonsense"),
    ],
)
def test_where_clouds_hand_out_credentials_is_known_in_all_its_forms(address: str) -> None:
    assert is_credential_source(address)


@pytest.mark.parametrize("address", ["127.0.0.1", "10.0.0.8", "::1", "192.168.1.1"])
def test_other_private_addresses_may_be_allowed(address: str) -> None:
    assert not is_credential_source(address)
