"""One invocation's hold on a visit: streams deltas while the node runs, fenced by its attempt (protocol rules F and S)."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

from stepweave import clock as times
from stepweave import ids
from stepweave.clock import Clock
from stepweave.events import records
from stepweave.events.records import Record
from stepweave.execution.bridge import Bridge
from stepweave.execution.context_query import ContextQuery
from stepweave.execution.outcome import Asked
from stepweave.execution.pause import Answer, Pause
from stepweave.execution.run import Run
from stepweave.execution.skill import Skills
from stepweave.execution.visit import SavedState, Visit
from stepweave.execution.work import Models, RunEnded, StreamKind
from stepweave.items import Equals, OutcomeUnknown, Put, WriteConflict, WriteRefused, missing
from stepweave.services.backoff import Backoff
from stepweave.services.context_access import ContextAccess
from stepweave.store import pauses
from stepweave.store.commit import Commit
from stepweave.store.documents import Document, dump
from stepweave.store.runs import Runs
from stepweave.store.workspace import RunFiles
from stepweave.texts import Language

FLUSH_SECONDS = 0.1
FLUSH_SECONDS_A_WRITER = 0.025
_DELTA_CHARACTERS = 16_000
_GATHERED_CHARACTERS = 64_000


class Fenced(Exception):
    """This invocation may not commit any more: `visit` was begun again, taken over, or has ended."""

    def __init__(self, visit: Visit) -> None:
        super().__init__(visit.visit_uuid)
        self.visit = visit


@dataclass(frozen=True, slots=True)
class Equipment:
    """What a deployment lends to nodes: its models, the bytes each field of a stored trace may have, whether tools may
    call hosts that are not public, the bridge that agents run across, and the way to ask what came before (the engine's
    own affair; None: context queries are switched off)."""

    models: Models
    trace_limit: int
    private_hosts: bool = False
    bridge: Bridge | None = None
    context: ContextAccess | None = None


class VisitWork:
    """`Work` (execution) over the store. Deltas are gathered for at most 100 ms, longer when many nodes stream."""

    def __init__(
        self,
        runs: Runs,
        clock: Clock,
        run: Run,
        visit: Visit,
        *,
        equipment: Equipment,
        workspace: RunFiles,
        skills: Skills,
        remaining: Callable[[], float],
    ) -> None:
        self._runs = runs
        self._remaining = remaining
        self.clock = clock
        self.models = equipment.models
        self.trace_limit = equipment.trace_limit
        self.private_hosts = equipment.private_hosts
        self._context = equipment.context
        self.bridge = equipment.bridge
        self.workspace = workspace
        self.skills = skills
        self.run = run
        self.visit = visit
        self._state = self._stored_state() if visit.saved else None
        self._gathered: list[Record] = []
        self._characters = 0
        self._flushed_at = clock.monotonic()
        self._others_write = False

    @property
    def language(self) -> Language:
        return self.run.language

    @property
    def tries(self) -> int:
        return self.visit.tries

    @property
    def context_query(self) -> Callable[[], AbstractContextManager[ContextQuery]] | None:
        context = self._context
        return (lambda: context.open(self.visit)) if context is not None else None

    @property
    def saved(self) -> Mapping[str, Any] | None:
        return self._state.state if self._state is not None else None

    @property
    def answers(self) -> Mapping[str, Answer]:
        return self._state.answers if self._state is not None else {}

    def remaining(self) -> float:
        return self._remaining()

    def emit(self, kind: StreamKind, content: str, *, tool_name: str | None = None, data: Any = None) -> None:
        if self.visit.is_hidden:  # readers are told what the planner decides, nothing before
            return
        for start in range(0, max(1, len(content)), _DELTA_CHARACTERS):
            self._gather(
                kind, content[start : start + _DELTA_CHARACTERS] if kind == "thinking" else content, tool_name, data
            )
            if kind != "thinking":
                break
        self.tick()

    def tick(self) -> None:
        if self._context is not None:
            self._context.renew(self.visit)
        gap = max(FLUSH_SECONDS, FLUSH_SECONDS_A_WRITER * self.run.running)
        if self._gathered and (
            self._characters > _GATHERED_CHARACTERS or self.clock.monotonic() - self._flushed_at >= gap
        ):
            self.flush()

    def take(self) -> tuple[Record, ...]:
        """The deltas not written yet, for the commit that ends the visit."""
        return tuple(self._gathered)

    def tried(self, attempt: int, bodies: Mapping[str, Document]) -> None:
        """Stores that an attempt of the node failed, with what it left behind."""
        self.flush(changes={"tries": attempt}, bodies=bodies)

    def save(self, state: Mapping[str, Any]) -> None:
        self._flush_state(SavedState(state, self.answers))

    def ask(self, asked: Asked, kind: str) -> None:
        """Stores a question with the state to go on from, and tells it (rule A.1); `kind` is the visit's own step."""
        pause = Pause(
            run_id=self.visit.run_id,
            clarify_id=ids.clarify_id(self.visit.run_id, self.visit.visit_uuid, self.visit.chunk),
            visit_uuid=self.visit.visit_uuid,
            node_id=self.visit.node_id,
            kind=kind,
            question=asked.question,
            created_at=times.to_json(self.clock.now()),
        )
        data = asked.question.data(pause.clarify_id)
        content = {"clarify_id": pause.clarify_id, "question": data["question"], "choices": asked.question.choices()}
        self._gather("clarify_request", dump(content), None, data)
        self._flush_state(
            SavedState(asked.state, self.answers, asked.call_id),
            changes={"waiting": pause.clarify_id},
            also=(Put("runs", pauses.to_item(pause), missing("runs")),),
        )

    def take_answer(self, pause: Pause) -> None:
        """The node's question has its answer: told as the `tool_result` of `clarify`, and kept for the node (A.4)."""
        assert self._state is not None, "a question is stored together with a state"
        assert pause.answer is not None, "an answered question has an answer"
        told = pause.answer if isinstance(pause.answer, str) else dump(pause.answer)
        self._gather("tool_result", told, "clarify", None)
        answers = dict(self.answers)
        if self._state.asking is not None:
            answers[self._state.asking] = pause.answer
        self._flush_state(
            SavedState(self._state.state, answers),
            removed=("waiting",),
            when=(Equals("waiting", pause.clarify_id),),
        )

    def _stored_state(self) -> SavedState:
        backoff = Backoff(self.clock)
        while (state := self._runs.state(self.visit)) is None:
            backoff.wait()
        return state

    def _flush_state(self, state: SavedState, *, changes: Mapping[str, Any] | None = None, **parts: Any) -> None:
        packed = self._runs.pack_state(self.visit, state)
        self.flush(state=packed, changes={"saved": self.visit.chunk + 1, **(changes or {})}, **parts)
        self._state = state

    def flush(self, **parts: Any) -> None:
        """Writes what was gathered, with further `parts` of a `Commit`. Raises `RunEnded`, `Fenced`."""
        backoff = Backoff(self.clock)
        if self._others_write:
            self._look()  # a commit that is sure to be lost costs more than a look
        while True:
            if self.run.is_over:
                raise RunEnded
            commit = Commit(self.run, tuple(self._gathered), self.visit, streams=True, **parts)
            try:
                self.run = self._runs.commit(commit)
                return self._written(commit.visit_after)
            except (WriteRefused, WriteConflict, OutcomeUnknown):
                backoff.wait()  # before the look: what is seen before a wait is old after it, and the commit lost again
                visit = self._look()
                if visit.chunk > self.visit.chunk:
                    return self._written(visit)

    def _look(self) -> Visit:
        """Sees how the run stands, and gives the visit as it stands. Raises `Fenced`."""
        before = self.run.rev
        self.run, visit, _ = self._runs.read(self.visit.run_id, self.visit.visit_uuid, ())
        self._others_write = self.run.rev > before
        if visit.owner != self.visit.owner or visit.attempt != self.visit.attempt or visit.is_over:
            raise Fenced(visit) from None
        return visit

    def _written(self, visit: Visit) -> None:
        self.visit = visit
        self._gathered.clear()
        self._characters = 0
        self._flushed_at = self.clock.monotonic()

    def _gather(self, kind: StreamKind, content: str, tool_name: str | None, data: Any) -> None:
        self._characters += len(content)
        last = self._gathered[-1] if self._gathered else None
        if kind == "thinking" and last is not None and _continues(last, content):
            self._gathered[-1] = {**last, "content": last["content"] + content}
            return
        self._gathered.append(records.node_stream(self.visit, kind, content, tool_name, data))


def _continues(last: Record, content: str) -> bool:
    return last["kind"] == "thinking" and len(last["content"]) + len(content) <= _DELTA_CHARACTERS
