"""Templates: text with `{{references}}` (contract §3). A template is parsed once, and what it is filled with never again.

A reference is whatever stands between `{{` and `}}` without a brace in it; the spaces around it do not count. In
`{{{a}}}` the inner pair is the reference and the outer braces are text; `\\{{` is the text `{{`; a `{{` that nothing
closes is text.
"""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from stepweave.expressions.paths import MISSING

_MARK = re.compile(r"\\\{\{|\{\{([^{}]*)\}\}")


@dataclass(frozen=True, slots=True)
class Reference:
    """`name` as it is written, without the spaces around it; may be empty, and then resolves to nothing."""

    name: str


@dataclass(frozen=True, slots=True)
class Template:
    """Text and references in the order of the template; no two pieces of text stand side by side."""

    parts: tuple[str | Reference, ...]

    @property
    def lone(self) -> Reference | None:
        """The reference that is the whole template: its value may keep its type (contract §2, conditions)."""
        if len(self.parts) == 1 and isinstance(self.parts[0], Reference):
            return self.parts[0]
        return None

    @property
    def references(self) -> tuple[str, ...]:
        """The names referred to, each once, in the order of their first appearance."""
        return tuple(dict.fromkeys(part.name for part in self.parts if isinstance(part, Reference)))


def parse(text: str) -> Template:
    """Total: every text is a template."""
    parts: list[str | Reference] = []
    written = ""
    position = 0
    for mark in _MARK.finditer(text):
        written += text[position : mark.start()]
        position = mark.end()
        name: str | None = mark[1]
        if name is None:
            written += "{{"
            continue
        if written:
            parts.append(written)
            written = ""
        parts.append(Reference(name.strip()))
    written += text[position:]
    if written:
        parts.append(written)
    return Template(tuple(parts))


def render(template: Template | str, lookup: Callable[[str], Any]) -> tuple[str, tuple[str, ...]]:
    """The text, and the names for which `lookup` gave MISSING or null, each once; those render empty."""
    parsed = parse(template) if isinstance(template, str) else template
    values = {name: lookup(name) for name in parsed.references}
    text = "".join(to_text(values[part.name]) if isinstance(part, Reference) else part for part in parsed.parts)
    return text, tuple(name for name, value in values.items() if value is None or value is MISSING)


def to_text(value: Any) -> str:
    """How a value stands in text: strings as they are, null and MISSING as nothing, everything else as JSON."""
    if isinstance(value, str):
        return value
    if value is None or value is MISSING:
        return ""
    return to_json(value)


def to_json(value: Any) -> str:
    """JSON with its letters kept; what JSON has no form for (a store's own type) stands as its text."""
    return json.dumps(value, ensure_ascii=False, default=str)
