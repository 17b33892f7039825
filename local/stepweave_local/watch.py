"""Following a run to its end: its events to the progress view, its questions to the person, the end to the caller."""

import queue
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from stepweave.texts import Text
from stepweave_local.addresses import path
from stepweave_local.board import Board
from stepweave_local.command_error import INTERRUPTED, Unreachable
from stepweave_local.events import Event, Interrupted
from stepweave_local.plain_progress import PlainProgress, Silence
from stepweave_local.progress import LiveProgress, Progress
from stepweave_local.prompting import Prompter
from stepweave_local.session import Session

_FRAME_SECONDS = 0.1


class Detached(Exception):
    """The person pressed Ctrl-C: the run goes on without them."""

    status = INTERRUPTED


@dataclass(frozen=True, slots=True)
class Ending:
    """How a run ended, as its terminal event tells; `event` is None when it was over before the first look."""

    event: Event | None
    seconds: float


def watch(
    session: Session,
    run_id: str,
    *,
    after: int = 0,
    each: Callable[[Event], None] | None = None,
) -> Ending:
    """Shows the run until it ends; `each` hears every event. Raises `CommandError`, and `Detached` on Ctrl-C."""
    began = time.monotonic()
    board = Board()
    progress = _progress(session, board)
    prompter = Prompter(session, run_id)
    watcher = _Watcher(board, progress, prompter, each)
    try:
        watcher.play(_in_background(session, run_id, after))
    except KeyboardInterrupt as interrupt:
        raise Detached from interrupt
    except Unreachable as lost:
        raise Unreachable(Text.join([lost.text, _coming_back(run_id)], "\n", "\n")) from lost
    finally:
        prompter.withdraw()
        progress.close()
    return Ending(board.end, time.monotonic() - began)


def detached(session: Session, run_id: str) -> int:
    """Tells how to come back to a run that goes on; gives the exit status."""
    session.note(_coming_back(run_id), style="")
    return Detached.status


def _coming_back(run_id: str) -> Text:
    return Text(
        f"运行 {run_id} 仍在继续。\n  继续查看：stepweave runs watch {run_id}\n  取消：    stepweave runs cancel {run_id}",
        f"Run {run_id} goes on.\n  watch it:  stepweave runs watch {run_id}\n  cancel it: stepweave runs cancel {run_id}",
    )


class _Watcher:
    def __init__(
        self, board: Board, progress: Progress, prompter: Prompter, each: Callable[[Event], None] | None
    ) -> None:
        self._board = board
        self._progress = progress
        self._prompter = prompter
        self._each = each

    def play(self, incoming: "queue.Queue[_Incoming]") -> None:
        """Takes what comes until the run is over. While a question stands at the prompt, nothing is drawn."""
        while True:
            try:
                item = incoming.get(timeout=_FRAME_SECONDS)
            except queue.Empty:
                item = None
            match item:
                case Event():
                    self._take(item)
                case Interrupted(seconds):
                    self._progress.interrupted(seconds)
                case _Over(None):
                    return
                case _Over(BaseException() as error):
                    raise error
            if incoming.empty():
                self._questions()
                self._progress.tick()

    def _take(self, event: Event) -> None:
        uuid = event.data.get("visitUuid")
        known = self._board.visits.get(str(uuid))
        before = known.status if known else None
        visit = self._board.apply(event, time.monotonic())
        if self._each is not None:
            self._each(event)
        self._progress.event(event, visit, before)

    def _questions(self) -> None:
        """One prompt at a time, for the question that has stood longest."""
        waiting = self._board.questions
        asking = self._prompter.asking
        if asking is not None and all(visit.question and visit.question.clarify_id != asking for visit in waiting):
            self._prompter.withdraw()
            self._progress.go_on()
        asker = next((visit for visit in waiting if self._prompter.wants(visit)), None)
        if self._prompter.asking is None and asker is not None and self._prompter.stands(asker):
            self._progress.hold()
            self._prompter.ask(asker)
        if self._prompter.asking is not None and self._prompter.listen():
            self._progress.go_on()
        for visit in waiting:
            if visit.question is not None and visit.question.clarify_id in self._prompter.answered:
                visit.question = None  # the event that tells it is still on its way


@dataclass(frozen=True, slots=True)
class _Over:
    """The stream has ended, well or with an error."""

    error: BaseException | None


_Incoming = Event | Interrupted | _Over


def _in_background(session: Session, run_id: str, after: int) -> "queue.Queue[_Incoming]":
    """Reads the stream in a thread of its own, so that a prompt or a slow terminal never holds it up."""
    from stepweave_local.stream import follow  # brings the HTTP library

    incoming: queue.Queue[_Incoming] = queue.Queue()

    def read() -> None:
        try:
            for item in follow(session.client, path("api", "v1", "runs", run_id, "stream"), after=after):
                incoming.put(item)
        except BaseException as error:  # noqa: BLE001 - whatever it is, it is raised again where the run is watched
            incoming.put(_Over(error))
        else:
            incoming.put(_Over(None))

    threading.Thread(target=read, name="events", daemon=True).start()
    return incoming


def _progress(session: Session, board: Board) -> Progress:
    if session.as_json:
        return Silence()
    if session.err.is_terminal:
        return LiveProgress(session.err, board, session.say)
    return PlainProgress(session.err, session.say)
