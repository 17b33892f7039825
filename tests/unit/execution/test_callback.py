"""How callbacks are signed, and how often they are tried (contract §4)."""

from stepweave.execution.callback import Callback, signed_headers, wait_after

CALLBACK = Callback("0000c0de", "https://example.com", "key-000000000000", "dlv-1")


def test_the_signature_is_the_hmac_of_the_timestamp_a_dot_and_the_body() -> None:
    """The value is that of `printf '1700000000.{"a":1}' | openssl dgst -sha256 -hmac secret`."""
    assert signed_headers(CALLBACK, "secret", 1_700_000_000, b'{"a":1}') == {
        "X-Stepweave-Timestamp": "1700000000",
        "X-Stepweave-Signature": "sha256=49f24e537407743fa4a0242bb63b94b9a47ee99cbbe071ccd8a22550ae411686",
        "X-Stepweave-Delivery": "dlv-1",
    }


def test_another_body_another_time_and_another_secret_are_signed_differently() -> None:
    headers = [
        signed_headers(CALLBACK, secret, timestamp, body)["X-Stepweave-Signature"]
        for secret, timestamp, body in [("a", 1, b"x"), ("b", 1, b"x"), ("a", 2, b"x"), ("a", 1, b"y")]
    ]
    assert len(set(headers)) == 4


def test_eight_attempts_wait_ever_longer_within_a_day() -> None:
    waits = []
    attempt = 1
    while (wait := wait_after(attempt)) is not None:
        waits.append(wait)
        attempt += 1
    assert attempt == 8
    assert waits == sorted(set(waits))
    assert waits[0] <= 10
    assert sum(waits) < 24 * 3600
