"""JSON as it leaves the process, and how much of it one answer may hold (contract §4: "Answers stay under 5 MB")."""

import json
from typing import Any

ANSWER_BYTES = 4_900_000
"""What the contents of one answer may take; the rest of 5 MB is for its wrapper and headers."""

EVENT_BYTES = 4_800_000
OUTPUT_BYTES = 4 * 1024 * 1024
NODE_OUTPUT_BYTES = 256 * 1024


def encode(value: Any) -> bytes:
    """UTF-8; halves of characters, which UTF-8 does not have, are written as escapes."""
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
    except UnicodeEncodeError:
        return json.dumps(value, separators=(",", ":")).encode()


def size(value: Any) -> int:
    """Bytes that a value takes in an answer."""
    return len(encode(value))
