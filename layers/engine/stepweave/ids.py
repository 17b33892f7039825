"""Names of things (contract §1). What must be found again after a crash is derived, the rest is random."""

import re
import secrets
import uuid
from functools import lru_cache

RUN_ID = re.compile(r"[0-9a-f]{8}")
WORKFLOW_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
KEY_ID = re.compile(r"key-[0-9a-f]{12}")
CLARIFY_ID = re.compile(r"clar-[0-9a-f]{12}")
CHAT_ID = re.compile(r"chat-[0-9a-f]{12}")
CONTEXT_TOKEN = re.compile(r"[0-9a-f]{48}")
VIEW_TOKEN = re.compile(r"vt-[A-Za-z0-9_-]{40}")

_HISTORY = 10**10
_HISTORY_DIGITS = 11
_VISITS = uuid.UUID("6f0f3f0e-4c5a-5d0e-9a52-7c1d1f8f6f51")


def new_run_id() -> str:
    return secrets.token_hex(4)


def new_chat_id() -> str:
    return "chat-" + secrets.token_hex(6)


def history_id(run_id: str) -> int:
    """The run's number in the history, for those who want numbers: of 11 digits, so that none reads as a run's id."""
    return _HISTORY + int(run_id, 16)


def run_of_history(number: str) -> str | None:
    """The run that has this number, given in decimal digits, if there can be one."""
    value = int(number) - _HISTORY if len(number) <= _HISTORY_DIGITS else -1
    return f"{value:08x}" if 0 <= value < 16**8 else None


def new_api_key() -> str:
    return "sw-" + secrets.token_urlsafe(30)


def new_callback_secret() -> str:
    return "cs-" + secrets.token_urlsafe(30)


def new_delivery_id() -> str:
    return "dlv-" + secrets.token_hex(12)


def new_key_id() -> str:
    """Names an API key in lists and when it is revoked; tells nothing about the key itself."""
    return "key-" + secrets.token_hex(6)


def new_context_token() -> str:
    return secrets.token_hex(24)


def new_view_token() -> str:
    return "vt-" + secrets.token_urlsafe(30)


def new_request_id() -> str:
    return secrets.token_hex(8)


@lru_cache(4096)
def visit_uuid(run_id: str, node_id: str, iteration: int) -> str:
    """The same for a repeated invocation, so that it finds what the first one did."""
    return str(uuid.uuid5(_VISITS, f"{run_id}/{node_id}/{iteration}"))


def clarify_id(run_id: str, visit: str, chunk: int) -> str:
    """The question that a visit asks in its `chunk`th commit: each commit holds once, so each question is asked once."""
    return "clar-" + uuid.uuid5(_VISITS, f"{run_id}/{visit}/{chunk}").hex[:12]


def first_chain(run_id: str) -> str:
    """The execution name of a run's first chain."""
    return f"{run_id}-start"


def forked_chain(run_id: str, visit: str) -> str:
    """The execution name of the chain that a fork opens for a visit; a repeat finds the name taken."""
    return f"{run_id}-{visit}"


def redriven_chain(run_id: str, visit: str, redrives: int) -> str:
    """A closed execution's name stays taken for 90 days, so each redrive has names of its own (protocol D)."""
    return f"{run_id}-{visit}-r{redrives}"


def run_of_chain(chain: str) -> str | None:
    """The run an execution works for, or None for a foreign execution."""
    run_id = chain.split("-", 1)[0]
    return run_id if RUN_ID.fullmatch(run_id) else None
