"""What a person at a terminal sees of a run."""

import io
import re
from typing import Any

from rich.console import Console
from rich.text import Text as Words

from stepweave_local.board import Board
from stepweave_local.events import Event
from stepweave_local.outcome_view import outputs_view
from stepweave_local.progress import LiveProgress, ended, seconds_text
from stepweave_local.tables import clean, one_line
from tests.unit.cli.fake_server import asks, done, error, failed, running, skipped, stream

ANSWERED = stream("n", "tool_result", '"v1"', "clarify")


class Terminal:
    """A live view on a terminal of memory; `alive` is what stands below (`*` the spinner), `stays` what was printed above."""

    def __init__(self, width: int = 80, height: int = 24) -> None:
        self.now = 100.0
        self.file = io.StringIO()
        self.console = Console(
            file=self.file,
            width=width,
            height=height,
            force_terminal=True,
            color_system=None,
            get_time=lambda: self.now,
        )
        self.board = Board()
        self.progress = LiveProgress(self.console, self.board, lambda text: text.en)

    def takes(self, *events: dict[str, Any]) -> None:
        for event in events:
            known = self.board.visits.get(str(event.get("visitUuid")))
            before = known.status if known else None
            told = Event(1, event["type"], event)
            self.progress.event(told, self.board.apply(told, self.now), before)

    @property
    def alive(self) -> list[str]:
        screen = Console(
            file=io.StringIO(), width=self.console.width, record=True, get_time=self.console.get_time, highlight=False
        )
        screen.print(self.progress._running())
        still = re.sub("[\u2800-\u28ff]", "*", screen.export_text())
        return [line.rstrip() for line in still.splitlines() if line.strip()]

    @property
    def stays(self) -> list[str]:
        lines = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|\r", "", self.file.getvalue()).split("\n")
        return [line.rstrip() for line in lines if line.strip()]


def test_a_running_node_shows_what_it_says_and_does() -> None:
    terminal = Terminal()
    terminal.takes(
        running("draft", "agent", "Draft"),
        stream("draft", "thinking", "one\ntwo\n"),
        stream("draft", "todo_update", "", data=[{"text": "read", "status": "completed"}, {"text": "write"}]),
        stream("draft", "tool_call", '{"path": "a.md"}', "read_file"),
    )
    terminal.now += 2.5
    assert terminal.alive == [
        "  * Draft                        agent          2.5s   calling read_file",
        "    ✓ read",
        "    · write",
        '    read_file {"path": "a.md"} → …',
        "    │ one",
        "    │ two",
    ]


def test_what_runs_never_takes_more_lines_than_the_terminal_has() -> None:
    terminal = Terminal(height=12)
    for number in range(9):
        terminal.takes(running(f"n{number}"), stream(f"n{number}", "thinking", "line\n" * 50))
    assert len(terminal.alive) < 12


def test_long_lines_are_wrapped_to_the_width_and_wide_characters_counted() -> None:
    terminal = Terminal(width=40)
    terminal.takes(running("n"), stream("n", "thinking", "茶" * 60))
    shown = [line for line in terminal.alive if "│" in line]
    assert len(shown) == 4
    assert all(len(line) <= 4 + 2 + 17 for line in shown)


def test_an_ended_visit_leaves_one_line_and_its_tools_whatever_events_follow() -> None:
    terminal = Terminal()
    recorded = {"type": "visit_recorded", "visit": {"visitUuid": "visit-n", "nodeId": "n", "iterSeq": 1}}
    terminal.takes(
        running("n", "agent", "Draft"),
        stream("n", "tool_call", '{"path": "a"}', "read_file"),
        stream("n", "tool_result", "the\ntext", "read_file"),
        done("n"),
        recorded,
        skipped("other"),
    )
    assert terminal.alive == []
    assert terminal.stays == [
        "  ✓ Draft                        agent",
        '      read_file {"path": "a"} → the text',
        "  – other                        llm                   skipped",
    ]


def test_a_failed_visit_says_why_below_its_line() -> None:
    terminal = Terminal()
    terminal.takes(running("n"), failed("n", "no model"))
    assert [line.split() for line in terminal.stays] == [["✗", "n", "llm"], ["no", "model"]]


def test_what_ends_while_a_question_is_open_is_told_after_it() -> None:
    terminal = Terminal()
    terminal.takes(running("a"), running("b"), asks("b", "Which?"))
    terminal.progress.hold()
    terminal.takes(done("a"))
    terminal.progress.tick()
    assert terminal.stays == []
    terminal.progress.go_on()
    assert terminal.stays[0].split() == ["✓", "a", "llm"]


def test_a_question_is_open_until_its_answer_or_the_end_of_its_visit() -> None:
    board = Board()

    def take(event: dict[str, Any]) -> int:
        board.apply(Event(1, event["type"], event), 0)
        return len(board.questions)

    assert [take(event) for event in (running("n"), asks("n", "1?"), ANSWERED, asks("n", "2?"), done("n"))] == [
        0,
        1,
        0,
        1,
        0,
    ]


def test_a_node_that_is_visited_again_has_a_number() -> None:
    terminal = Terminal()
    again = {**running("n"), "visitUuid": "second"}
    terminal.takes(running("n"), done("n"), again)
    assert terminal.alive[0].split()[1:3] == ["n", "(2)"]


def test_decisions_of_the_planner_are_told_with_their_reasons() -> None:
    terminal = Terminal()
    terminal.takes(
        {"type": "planner_decision", "decision": {"next": "n", "reason": "more to find"}},
        {"type": "planner_decision", "decision": {"next": None, "isFinal": True}},
    )
    assert terminal.stays == ["  → n  more to find", "  → the end"]


def test_a_lost_connection_is_told_until_the_next_event() -> None:
    terminal = Terminal()
    terminal.progress.interrupted(2.0)
    assert terminal.alive == ["  connection lost, trying again in 2 s …"]
    terminal.takes(running("n"))
    assert len(terminal.alive) == 1


def test_the_measured_duration_the_tokens_and_the_branch_are_told() -> None:
    board = Board()
    metadata = {"durationMs": 1234, "usage": {"inputTokens": 10, "outputTokens": 5}}
    for event in (running("n"), {**done("n"), "output": {"status": 200, "data": {}, "metadata": metadata}}):
        board.apply(Event(1, event["type"], event), 0)
    [visit] = board.visits.values()
    line = ended(visit, lambda text: text.en)
    console = Console(file=io.StringIO(), width=80, record=True)
    console.print(line)
    assert console.export_text().split() == ["✓", "n", "llm", "1.2s", "15", "tokens"]


def test_the_terminal_event_is_the_end_and_changes_no_visit() -> None:
    board = Board()
    told = error("CANCELLED")
    assert board.apply(Event(3, told["type"], told), 0) is None
    assert board.end is not None
    assert board.end.data["error"] == "CANCELLED"


def test_durations_are_said_as_people_say_them() -> None:
    assert [seconds_text(seconds) for seconds in (0.04, 59.9, 61, 3725)] == ["0.0s", "59.9s", "1m01s", "1h02m"]


def test_control_characters_are_taken_out_and_lines_kept() -> None:
    assert clean("a\x1b[31m\r\nb\x07\tc\x9b") == "a[31m\nb\tc"
    assert one_line("  a\n\n b" + "c" * 10, 6) == "a bcc…"


def test_markdown_is_rendered_on_a_terminal_only() -> None:
    envelope = {"status": 200, "data": {"report": "# Tea\n\n- *one*"}}

    def shown(formatted: bool) -> list[str]:
        console = Console(file=io.StringIO(), width=40, record=True)
        console.print(outputs_view(envelope, lambda text: text.en, formatted=formatted))
        return [line.rstrip() for line in console.export_text().splitlines() if line.strip()]

    assert shown(formatted=True) == ["Tea", " • one"]
    assert shown(formatted=False) == ["# Tea", "- *one*"]


def test_a_run_without_outputs_says_so() -> None:
    view = outputs_view({"status": 200, "data": {}}, lambda text: text.en, formatted=True)
    assert isinstance(view, Words)
    assert view.plain == "(no outputs)"
