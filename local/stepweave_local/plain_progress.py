"""A run without a terminal: one line for everything that happens, each begun with the visit's name, made for logs."""

from rich.console import Console
from rich.text import Text as Words

from stepweave.texts import Text
from stepweave_local.board import RUNNING, Visit
from stepweave_local.events import Event
from stepweave_local.progress import chosen, seconds_text
from stepweave_local.tables import Say, clean, one_line

_LENGTH = 500
_TIMED_SECONDS = 0.05


class PlainProgress:
    """What a model says is written line by line as the lines are complete."""

    def __init__(self, console: Console, say: Say) -> None:
        self._console = console
        self._say = say
        self._unfinished: dict[str, str] = {}

    def event(self, event: Event, visit: Visit | None, before: str | None) -> None:
        if event.type == "planner_decision":
            made = event.data.get("decision") or {}
            self._line("planner", f"→ {chosen(event, self._say)}  {one_line(str(made.get('reason') or ''), _LENGTH)}")
        elif visit is not None and event.type == "node_status":
            self._status(visit, before)
        elif visit is not None and event.type == "node_stream":
            self._stream(visit, event)

    def tick(self) -> None:
        """Lines are written when there is something to say."""

    def interrupted(self, seconds: float) -> None:
        text = Text(f"连接中断，{seconds:g} 秒后重试", f"connection lost, trying again in {seconds:g} s")
        self._console.print(Words(self._say(text)))

    def hold(self) -> None:
        """A question is one more line."""

    def go_on(self) -> None:
        """Nothing was held back."""

    def close(self) -> None:
        """Every visit wrote its last line when it ended; what a cut run left open is written here."""
        for name in [*self._unfinished]:
            self._flush(name)

    def _status(self, visit: Visit, before: str | None) -> None:
        if visit.status == RUNNING:
            if before is None:
                self._line(visit.name, f"{self._say(Text('开始', 'started'))} ({visit.type})")
            return
        self._flush(visit.name)
        branch = visit.metadata.get("selectedBranch")
        match visit.status:
            case "SUCCESS":
                spent = f" {seconds_text(visit.duration)}" if visit.duration >= _TIMED_SECONDS else ""
                self._line(visit.name, f"{self._say(Text('完成', 'done'))}{spent}{f' → {branch}' if branch else ''}")
            case "SKIPPED":
                reason = f": {one_line(visit.error, _LENGTH)}" if visit.error else ""
                self._line(visit.name, f"{self._say(Text('跳过', 'skipped'))}{reason}")
            case _:
                self._line(visit.name, f"{self._say(Text('失败', 'failed'))}: {one_line(visit.error, _LENGTH)}")

    def _stream(self, visit: Visit, event: Event) -> None:
        content = str(event.data.get("content") or "")
        tool = event.data.get("toolName")
        match event.data.get("kind"):
            case "thinking":
                *lines, rest = (self._unfinished.get(visit.name, "") + clean(content)).split("\n")
                self._unfinished[visit.name] = rest
                for line in filter(str.strip, lines):
                    self._line(visit.name, f"| {line}")
                return
            case "status":
                said = one_line(content, _LENGTH)
            case "tool_call":
                said = f"{tool} {one_line(content, _LENGTH)}"
            case "tool_result":
                said = f"{tool} → {one_line(content, _LENGTH)}"
            case "todo_update":
                done = sum(todo.get("status") in ("completed", "done") for todo in visit.todos)
                said = f"todo {done}/{len(visit.todos)}"
            case "clarify_request" if visit.question is not None:
                said = f"? {one_line(visit.question.one_line(), _LENGTH)}"
            case _:
                return
        self._flush(visit.name)
        self._line(visit.name, said)

    def _flush(self, name: str) -> None:
        if rest := self._unfinished.pop(name, ""):
            self._line(name, f"| {rest}")

    def _line(self, name: str, text: str) -> None:
        self._console.print(Words(f"[{name}] {clean(text)}"))


class Silence:
    """For `--json`: the result speaks for itself."""

    def event(self, event: Event, visit: Visit | None, before: str | None) -> None: ...

    def tick(self) -> None: ...

    def interrupted(self, seconds: float) -> None: ...

    def hold(self) -> None: ...

    def go_on(self) -> None: ...

    def close(self) -> None: ...
