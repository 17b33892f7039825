"""What a run gave, as people read it."""

import json
import re
from collections.abc import Mapping
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text as Words

from stepweave.texts import Text
from stepweave_local.tables import Say, clean, indented

_MARKED_UP = re.compile(r"^(#{1,6} |[-*] |\d+\. |```|\|)", re.MULTILINE)


def outputs_view(envelope: Any, say: Say, *, formatted: bool) -> RenderableType:
    """The outputs of a run; one alone stands by itself. `formatted`: Markdown is rendered, else left as it was written."""
    data = envelope.get("data") if isinstance(envelope, dict) else None
    if not isinstance(data, dict) or not data:
        return Words(say(Text("（没有输出）", "(no outputs)")), style="dim")
    if len(data) == 1:
        return _value(next(iter(data.values())), formatted)
    views: list[RenderableType] = []
    for name, value in data.items():
        if views:
            views.append(Words(""))
        views += [Words(clean(name), style="bold"), indented(_value(value, formatted))]
    return Group(*views)


def outputs_left_out(answer: Mapping[str, Any]) -> str | None:
    """Where outputs too large for an answer can be fetched (contract §4)."""
    url = answer.get("outputUrl") or answer.get("outputsUrl")
    return str(url) if url else None


def _value(value: Any, formatted: bool) -> RenderableType:
    if not isinstance(value, str):
        indent = 2 if isinstance(value, dict | list) and value else None
        return Words(clean(json.dumps(value, ensure_ascii=False, indent=indent)))
    text = clean(value).strip("\n")
    if not formatted or not _MARKED_UP.search(text):
        return Words(text)
    from stepweave_local.markdown_view import QuietMarkdown  # brings a parser and all that it needs

    return QuietMarkdown(text)
