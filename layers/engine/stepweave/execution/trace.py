"""The trace of a node, kept in its envelope (contract §3): how it came to what it gave, cut to a bearable length."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

Trace = dict[str, Any]

DEFAULT_LIMIT = 64 * 1024


def trace(thinking: str, tool_calls: Sequence[Mapping[str, Any]] = (), *, limit: int = DEFAULT_LIMIT) -> Trace:
    """`{thinking, tool_calls: [{name, args, result, success}]}`, with `truncated: true` when anything was cut.

    `limit` is in bytes of UTF-8, for the thinking and for each field of each tool call. A value that is not text and
    too long is kept as the beginning of its JSON text.
    """
    told = {"thinking": thinking, "tool_calls": [dict(call) for call in tool_calls]}
    kept: Trace = {
        "thinking": _cut(thinking, limit),
        "tool_calls": [{name: _cut(value, limit) for name, value in call.items()} for call in tool_calls],
    }
    return kept if kept == told else {**kept, "truncated": True}


def _cut(value: Any, limit: int) -> Any:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    if len(text) * 4 <= limit:
        return value  # even of the longest characters there are not too many bytes
    encoded = text.encode(errors="surrogatepass")
    return value if len(encoded) <= limit else encoded[:limit].decode(errors="ignore")
