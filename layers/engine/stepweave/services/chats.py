"""Chats (contract §4, platform): sessions in which each run gets what was said before as `chat.history`.

What was answered is read from the runs, never stored. Turns may overlap: a run's history holds the turns that had ended
well when it was created, in the order in which they were said; nobody waits, and no dead run blocks a session.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from stepweave import clock as times
from stepweave import ids
from stepweave.clock import Clock
from stepweave.errors import NotFound, Unavailable
from stepweave.execution.envelope import data_of
from stepweave.execution.run import Run
from stepweave.expressions.templates import to_text
from stepweave.items import OutcomeUnknown
from stepweave.services import wire
from stepweave.services.results import RunResults
from stepweave.store.chats import Chats, ChatSession, Turn
from stepweave.store.runs import Runs
from stepweave.texts import Text

HISTORY = "chat.history"
MESSAGE = "chat.message"

_SHOWN_CHARACTERS = 100_000


@dataclass(frozen=True, slots=True)
class ChatRules:
    """`turns` and `size` (bytes) bound the history that a run gets, `kept` how long a session nobody uses stays."""

    turns: int = 20
    size: int = 65_536
    kept: timedelta = timedelta(days=365)


class ChatService:
    def __init__(self, chats: Chats, runs: Runs, results: RunResults, clock: Clock, rules: ChatRules) -> None:
        self._chats = chats
        self._runs = runs
        self._results = results
        self._clock = clock
        self._rules = rules

    def open(self, workflow: str, title: str) -> ChatSession:
        """Raises `Unavailable`."""
        now = self._clock.now()
        while True:
            session = ChatSession(ids.new_chat_id(), workflow, title, times.to_json(now))
            try:
                if self._chats.add(session, now + self._rules.kept):
                    return session
            except OutcomeUnknown as error:
                raise Unavailable("a chat session could not be stored") from error

    def find(self, session_id: str) -> ChatSession:
        session = self._chats.find(session_id)
        if session is None:
            raise NotFound(
                Text(f"会话 {session_id} 不存在或已过期", f"there is no chat session {session_id}, or it has expired")
            )
        return session

    def inputs(self, session: ChatSession, message: str) -> dict[str, Any]:
        """The initial inputs of the session's next run."""
        return {HISTORY: self._history(session), MESSAGE: message}

    def say(self, session: ChatSession, run: Run, message: str) -> None:
        """The run answers this message. Telling it twice changes nothing. Raises `Unavailable`."""
        try:
            self._chats.say(session.session_id, _turn(run, message), self._clock.now() + self._rules.kept)
        except OutcomeUnknown as error:
            raise Unavailable("a turn of a chat could not be stored") from error

    def unsay(self, session: ChatSession, run: Run, message: str) -> None:
        """The run could not be started: nothing was said."""
        self._chats.unsay(session.session_id, _turn(run, message))

    def messages(self, session: ChatSession, limit: int) -> tuple[list[dict[str, Any]], bool]:
        """What the last `limit` turns said and were answered, oldest first, and whether there is more before them.

        `content` of an answer is null until its run has ended, and the reason where it failed.
        """
        told: list[dict[str, Any]] = []
        room = wire.ANSWER_BYTES
        turns = self._chats.latest(session.session_id, limit + 1)
        runs = self._runs_of(turns)
        for turn in turns[:limit]:
            run = runs.get(turn.run_id)
            asked = {"role": "user", "runId": turn.run_id, "createdAt": turn.said_at} | _content(turn.message)
            pair = [asked] if run is None else [asked, self._answer(run)]
            room -= wire.size(pair)
            if room < 0:
                return told[::-1], True
            told.extend(reversed(pair))
        return told[::-1], len(turns) > limit

    def _answer(self, run: Run) -> dict[str, Any]:
        content = run.error if run.status == "FAILED" else self._reply(run)
        return {"role": "assistant", "runId": run.run_id, "status": run.status, "createdAt": run.ended_at} | _content(
            content
        )

    def _history(self, session: ChatSession) -> list[dict[str, str]]:
        """The turns that ended well, the latest of them that fit, as `{role, content}`, oldest first."""
        history: list[dict[str, str]] = []
        room = self._rules.size
        turns = self._chats.latest(session.session_id, self._rules.turns) if self._rules.turns else []
        runs = self._runs_of(turns)
        for turn in turns:
            run = runs.get(turn.run_id)
            reply = self._reply(run) if run is not None and run.status == "SUCCESS" else None
            if reply is None:
                continue
            pair = [self._remembered("assistant", reply), self._remembered("user", turn.message)]
            room -= wire.size(pair)
            if room < 0:
                break
            history.extend(pair)
        return history[::-1]

    def _runs_of(self, turns: Sequence[Turn]) -> dict[str, Run]:
        return self._runs.several([turn.run_id for turn in turns])

    def _remembered(self, role: str, content: str) -> dict[str, str]:
        """Cut where it is so long that not even the latest turn would fit."""
        most = self._rules.size // 8
        return {"role": role, "content": content if len(content) <= most else f"{content[: most - 1]}…"}

    def _reply(self, run: Run) -> str | None:
        """What a run gave, as text: its one variable, or all of them as JSON; without what the chat itself put in."""
        output = self._results.outputs(run)
        if output is None:
            return None
        data = {name: value for name, value in data_of(output).items() if name not in (HISTORY, MESSAGE)}
        return to_text(next(iter(data.values())) if len(data) == 1 else data)


def _turn(run: Run, message: str) -> Turn:
    return Turn(run.run_id, message, run.created_at)


def _content(text: str | None) -> dict[str, Any]:
    if text is None or len(text) <= _SHOWN_CHARACTERS:
        return {"content": text}
    return {"content": text[:_SHOWN_CHARACTERS], "truncated": True}
