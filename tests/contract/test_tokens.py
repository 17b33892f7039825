"""Context tokens on every item store."""

from datetime import UTC, datetime, timedelta

import pytest

from stepweave.ports import ItemStore
from stepweave.store.tokens import ContextToken, Tokens

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
LATER = NOON + timedelta(minutes=2)


@pytest.fixture
def tokens(items: ItemStore) -> Tokens:
    return Tokens(items)


def token(name: str, expires_at: datetime = NOON) -> ContextToken:
    return ContextToken(name, "0000c0de", "visit", 3, expires_at)


def test_a_token_is_found_as_it_was_stored(tokens: Tokens) -> None:
    tokens.add(token("a"))
    assert tokens.find("a") == token("a")
    assert tokens.find("b") is None


def test_a_token_is_renewed_while_it_is_there_and_never_brought_back(tokens: Tokens) -> None:
    tokens.add(token("a"))
    assert tokens.renew("a", LATER)
    assert tokens.find("a") == token("a", LATER)
    tokens.remove("a")
    assert not tokens.renew("a", LATER)
    assert tokens.find("a") is None


def test_what_has_expired_is_removed_and_nothing_else(tokens: Tokens) -> None:
    for name in ("a", "b", "c"):
        tokens.add(token(name))
    tokens.add(token("later", LATER))
    assert tokens.remove_expired(NOON, 2) == 2
    assert tokens.remove_expired(NOON, 10) == 1
    assert tokens.remove_expired(NOON, 10) == 0
    assert tokens.find("later") is not None
