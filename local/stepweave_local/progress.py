"""A run on a terminal: what has ended stays as one line a visit, what runs is alive below it."""

from collections.abc import Iterator
from typing import Protocol

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.live import Live
from rich.padding import Padding
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text as Words

from stepweave.texts import Text
from stepweave_local.board import RUNNING, Board, ToolCall, Visit
from stepweave_local.events import Event
from stepweave_local.tables import Say, clean, one_line

_LABEL_CELLS = 28
_TYPE_CELLS = 12
_SHORTEST_SECONDS = 0.05  # what took less took no time worth a number
_TOOLS_SHOWN = 8
_SPARE_LINES = 4
_FEWEST_LINES = 3
_MOST_LINES = 8

MARKS = {"SUCCESS": ("✓", "green"), "FAILED": ("✗", "red"), "SKIPPED": ("–", "dim"), RUNNING: ("·", "cyan")}
_TODO_MARKS = {"completed": ("✓", "green"), "done": ("✓", "green"), "in_progress": ("›", "cyan")}


class Progress(Protocol):
    """Something that shows how a run goes. `hold` makes room for a question, until `go_on`."""

    def event(self, event: Event, visit: Visit | None, before: str | None) -> None:
        """An event that the board has taken; `before` is the status its visit had, None for a new one."""
        ...

    def tick(self) -> None:
        """Time has passed."""
        ...

    def interrupted(self, seconds: float) -> None:
        """The connection is gone and is tried again after so long."""
        ...

    def hold(self) -> None: ...

    def go_on(self) -> None: ...

    def close(self) -> None: ...


class LiveProgress:
    """For a terminal. Draws only when it is told to: no thread of its own races with a prompt."""

    def __init__(self, console: Console, board: Board, say: Say) -> None:
        self._console = console
        self._board = board
        self._say = say
        self._notice: RenderableType | None = None
        self._spinners: dict[str, Spinner] = {}
        self._held: list[RenderableType] = []
        self._live: Live | None = None
        self.go_on()

    def event(self, event: Event, visit: Visit | None, before: str | None) -> None:
        self._notice = None
        if visit is not None and event.type == "node_status" and visit.status not in (RUNNING, before):
            self._spinners.pop(visit.uuid, None)
            self._keep(ended(visit, self._say))
        elif event.type == "planner_decision":
            self._keep(decision(event, self._say))

    def tick(self) -> None:
        if self._live is not None:
            self._live.update(self._running(), refresh=True)

    def interrupted(self, seconds: float) -> None:
        text = Text(f"连接中断，{seconds:g} 秒后重试 …", f"connection lost, trying again in {seconds:g} s …")
        self._notice = Words(f"  {self._say(text)}", style="yellow")

    def hold(self) -> None:
        if self._live is not None:
            self._live.update(Words(""), refresh=True)
            self._live.stop()
            self._live = None

    def go_on(self) -> None:
        if self._live is None:
            self._live = Live(
                console=self._console, auto_refresh=False, transient=True, redirect_stdout=False, redirect_stderr=False
            )
            self._live.start()
            for line in self._held:
                self._console.print(line)
            self._held.clear()

    def close(self) -> None:
        self.go_on()
        self.hold()

    def _keep(self, line: RenderableType) -> None:
        """Prints what stays, above what is alive; after the question where one stands at the prompt."""
        if self._live is None:
            self._held.append(line)
        else:
            self._console.print(line)

    def _running(self) -> RenderableType:
        running = self._board.running
        share = (self._console.height - _SPARE_LINES) // max(1, len(running)) - 1
        room = max(_FEWEST_LINES, min(_MOST_LINES, share))
        most = max(1, (self._console.height - _SPARE_LINES) // (room + 1))
        views: list[RenderableType] = [self._visit(visit, room) for visit in running[-most:]]
        if self._notice is not None:
            views.append(self._notice)
        return Group(*views)

    def _visit(self, visit: Visit, room: int) -> RenderableType:
        spinner = self._spinners.setdefault(visit.uuid, Spinner("dots", style="cyan"))
        now = self._console.get_time()
        head = Table.grid(padding=(0, 1, 0, 0))
        head.add_row(" ", spinner, _heading(visit, now - visit.began, (self._doing(visit), "cyan")))
        return Group(head, Padding(Group(*_details(visit, room, self._say)), (0, 0, 0, 4), expand=False))

    def _doing(self, visit: Visit) -> str:
        """In a few words, what the node is at."""
        open_tools = [tool.name for tool in visit.tools if tool.result is None]
        if visit.question is not None:
            return self._say(Text("等待回答", "waits for an answer"))
        if open_tools:
            return self._say(Text(f"正在调用 {open_tools[-1]}", f"calling {open_tools[-1]}"))
        if visit.live:
            return one_line(visit.live, 60)
        return self._say(Text(f"第 {visit.turn} 轮", f"turn {visit.turn}")) if visit.turn > 1 else ""


class Tail:
    """The last lines of a text as wide as there is room, whatever the width turns out to be."""

    def __init__(self, text: str, lines: int) -> None:
        self._text = Words(clean(text).strip("\n"), style="dim")
        self._lines = lines

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        wrapped = self._text.wrap(console, max(10, options.max_width - 2))
        for line in wrapped[-self._lines :]:
            yield Words.assemble(("│ ", "bright_black"), line)


def ended(visit: Visit, say: Say) -> RenderableType:
    """A visit that is over: its line, then what it called, and why it failed."""
    mark, style = MARKS.get(visit.status, MARKS[RUNNING])
    first = Words.assemble("  ", (f"{mark} ", style), _heading(visit, visit.duration, _remark(visit, say)))
    if visit.status == "SKIPPED":
        first.stylize("dim")
    lines = [first, *(Words.assemble("      ", _tool(tool, say)) for tool in visit.tools[-_TOOLS_SHOWN:])]
    hidden = len(visit.tools) - _TOOLS_SHOWN
    if hidden > 0:
        lines.insert(
            1, Words(f"      {say(Text(f'另有 {hidden} 次工具调用', f'{hidden} more tool calls'))}", style="dim")
        )
    for line in lines:
        line.no_wrap, line.overflow = True, "ellipsis"
    if visit.error and visit.status != "SKIPPED":
        return Group(*lines, Padding(Words(clean(visit.error), style="red"), (0, 0, 0, 4), expand=False))
    return Group(*lines)


def decision(event: Event, say: Say) -> RenderableType:
    """What the planner of an AGENTIC run chose."""
    made = event.data.get("decision") or {}
    reason = one_line(str(made.get("reason") or ""), 100)
    return Words.assemble("  ", ("→ ", "cyan"), chosen(event, say), (f"  {reason}", "dim"))


def chosen(event: Event, say: Say) -> str:
    """The node that a planner's decision names."""
    following = (event.data.get("decision") or {}).get("next")
    return clean(str(following or say(Text("结束", "the end"))))


def _heading(visit: Visit, seconds: float, remark: tuple[str, str]) -> Words:
    heading = Words(one_line(visit.title, 60))
    heading.truncate(_LABEL_CELLS, overflow="ellipsis", pad=True)
    kind = Words(f" {visit.type}", style="dim")
    kind.truncate(_TYPE_CELLS, overflow="ellipsis", pad=True)
    spent = seconds_text(seconds) if seconds >= _SHORTEST_SECONDS else ""
    return Words.assemble(heading, kind, (f"{spent:>8}", "dim"), "   ", remark)


def seconds_text(seconds: float) -> str:
    """A duration as people say it."""
    if seconds < 60:
        return f"{seconds:.1f}s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes}m{rest:02d}s" if minutes < 60 else f"{minutes // 60}h{minutes % 60:02d}m"


def _remark(visit: Visit, say: Say) -> tuple[str, str]:
    if visit.status == "SKIPPED":
        reason = one_line(visit.error, 60)
        return (f"{say(Text('跳过', 'skipped'))}{f': {reason}' if reason else ''}", "dim")
    if "selectedBranch" in visit.metadata:
        branch = visit.metadata["selectedBranch"]
        return (f"→ {branch}" if branch else say(Text("没有分支成立", "no branch holds")), "dim")
    usage = visit.metadata.get("usage")
    tokens = sum(count for count in usage.values() if isinstance(count, int)) if isinstance(usage, dict) else 0
    return (f"{tokens} tokens", "dim") if tokens else ("", "")


def _tool(tool: ToolCall, say: Say) -> Words:
    result = "…" if tool.result is None else one_line(tool.result, 80) or say(Text("无结果", "nothing"))
    return Words.assemble((tool.name, "dim cyan"), (f" {one_line(tool.arguments, 60)} → {result}", "dim"))


def _details(visit: Visit, room: int, say: Say) -> Iterator[RenderableType]:
    """What a running node shows below its line, in at most `room` lines."""
    todos = visit.todos[: max(1, room - 2)]
    for todo in todos:
        mark, style = _TODO_MARKS.get(str(todo.get("status")), ("·", "dim"))
        yield Words.assemble(
            (f"{mark} ", style), one_line(str(todo.get("text")), 100), overflow="ellipsis", no_wrap=True
        )
    room -= len(todos)
    if visit.tools and room > 1:
        last = _tool(visit.tools[-1], say)
        last.no_wrap, last.overflow = True, "ellipsis"
        yield last
        room -= 1
    if visit.thinking.strip():
        yield Tail(visit.thinking, max(1, room))
