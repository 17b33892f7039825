"""What was measured, as tables for people and as JSON: ratios first, then what they are made of, then the goals."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from rich.console import Console
from rich.table import Table
from rich.text import Text

Kind = Literal["text", "ratio", "ms", "count"]
Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Column:
    """`key` finds the value in a row; a row may lack it."""

    key: str
    title: str
    kind: Kind = "ms"


@dataclass(frozen=True, slots=True)
class Goal:
    """A promise about one figure: at most `limit`."""

    what: str
    value: float
    limit: float
    unit: str = ""

    @property
    def met(self) -> bool:
        return self.value <= self.limit


@dataclass(slots=True)
class Section:
    """One benchmark. Values in rows: milliseconds, ratios and counts as numbers, under the keys of the columns; each row
    is named by the value of the first column. `parts` are further columns, shown as a table of their own: what the
    ratios are made of."""

    name: str
    title: str
    columns: Sequence[Column]
    rows: list[Row] = field(default_factory=list)
    parts: Sequence[Column] = ()
    goals: list[Goal] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "title": self.title,
            "rows": [{name: _rounded(value) for name, value in row.items()} for row in self.rows],
            "goals": [asdict(goal) | {"value": _rounded(goal.value), "met": goal.met} for goal in self.goals],
            "notes": self.notes,
        }


def show(section: Section, console: Console) -> None:
    console.print(Text(section.title, "bold"))
    console.print(_table(section.columns, section.rows))
    if section.parts:
        console.print(_table([section.columns[0], *section.parts], section.rows))
    for goal in section.goals:
        style = "green" if goal.met else "red"
        mark = "met   " if goal.met else "missed"
        console.print(Text(f"  {mark}  {goal.what}: {_number(goal.value)} (at most {goal.limit:g}){goal.unit}", style))
    for note in section.notes:
        console.print(Text(f"  {note}", "dim"))
    console.print()


def _table(columns: Sequence[Column], rows: Sequence[Row]) -> Table:
    table = Table()
    for column in columns:
        table.add_column(
            column.title, justify="left" if column.kind == "text" else "right", no_wrap=column is columns[0]
        )
    for row in rows:
        table.add_row(*(_cell(row.get(column.key), column.kind) for column in columns))
    return table


def _cell(value: Any, kind: Kind) -> str:
    match value, kind:
        case None, _:
            return "–"
        case str(), _:
            return value
        case _, "ratio":
            return f"{_number(value)}×"
        case _:
            return _number(value)


def _number(value: float) -> str:
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.2f}"


def _rounded(value: Any) -> Any:
    return round(value, 4) if isinstance(value, float) else value
