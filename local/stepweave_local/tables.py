"""Tables and other small views: quiet, without boxes, safe for any text that comes from elsewhere."""

import re
from collections.abc import Callable, Iterable, Sequence
from itertools import compress

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text as Words

from stepweave.texts import Text
from stepweave_local.command_error import Problem

Say = Callable[[Text], str]

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
"""What could move the cursor, change colours or ring; line breaks and tabs stay."""


def clean(text: str) -> str:
    """Text of a model, a person or a server, fit for a terminal."""
    return _CONTROL.sub("", text.replace("\r\n", "\n"))


def one_line(text: str, length: int) -> str:
    """The text on one line, cut to a length in characters."""
    flat = " ".join(clean(text).split())
    return flat if len(flat) <= length else flat[: length - 1] + "…"


def table(headings: Sequence[str], rows: Iterable[Sequence[str | Words]], empty: str) -> RenderableType:
    """Columns without lines, and none that is empty; `empty` is what is said where there are no rows."""
    lines = [[Words(clean(cell)) if isinstance(cell, str) else cell for cell in row] for row in rows]
    if not lines:
        return Words(empty, style="dim")
    filled = [any(line[column].plain for line in lines) for column in range(len(headings))]
    made = Table(box=None, pad_edge=False, padding=(0, 3, 0, 0), header_style="dim", show_edge=False)
    for heading in compress(headings, filled):
        made.add_column(heading, overflow="fold")
    for line in lines:
        made.add_row(*compress(line, filled))
    return made


def facts(rows: Iterable[tuple[str, str | Words]]) -> RenderableType:
    """Names and values, one pair a line."""
    made = Table.grid(padding=(0, 3, 0, 0))
    made.add_column(style="dim", no_wrap=True)
    made.add_column(overflow="fold")
    for name, value in rows:
        made.add_row(name, Words(clean(value)) if isinstance(value, str) else value)
    return made


def indented(view: RenderableType, by: int = 2) -> RenderableType:
    return Padding(view, (0, 0, 0, by), expand=False)


def stacked(*views: RenderableType) -> RenderableType:
    return Group(*views)


def problem_table(problems: Iterable[Problem], say: Say) -> RenderableType:
    """Every problem of a definition with its place."""
    headings = [say(Text("位置", "where")), say(Text("问题", "problem")), say(Text("代码", "code"))]
    rows = [
        (
            Words(_place(problem), style="bold"),
            str(problem.get("message", "")),
            Words(str(problem.get("code", "")), style="dim"),
        )
        for problem in problems
    ]
    return indented(table(headings, rows, ""))


def _place(problem: Problem) -> str:
    if edge := problem.get("edge"):
        handle = f" ({edge['sourceHandle']})" if edge.get("sourceHandle") else ""
        return clean(f"{edge.get('source')} → {edge.get('target')}{handle}")
    return clean(str(problem.get("nodeId") or "–"))
