"""Nodes that stream side by side write to one run: whoever loses a commit to another gets to write soon after."""

from collections.abc import Callable
from typing import Any

import pytest

from stepweave.execution.outcome import Outcome, succeeded
from stepweave.services.visit_work import VisitWork
from stepweave.store.commit import Commit
from tests.unit.services.stage import Stage

MOST_WAITS = 10


class Beside:
    """A node that streams in a run to which another writes too: `another` is one commit of the other. `act` is what
    the node does; `commits` counts how often it has tried to write."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, act: Callable[["Beside", VisitWork], None]) -> None:
        def run(work: VisitWork) -> Outcome:
            with monkeypatch.context() as patch:
                patch.setattr(self.stage.engine.store, "commit", self._counted)
                act(self, work)
            return succeeded("ok", {})

        self.commits = 0
        self.stage = Stage(("in", "work"), ("work", "out"), acts={"work": run})
        self._commit = self.stage.engine.store.commit

    def another(self) -> None:
        event = {"type": "node_stream", "nodeId": "other", "kind": "thinking", "content": "other"}
        self._commit(Commit(self.stage.run, (event,)))

    def say(self, work: VisitWork, word: str) -> None:
        work.emit("thinking", word)
        work.flush()

    def told(self) -> list[str]:
        return [event["content"] for event in self.stage.events() if event["type"] == "node_stream"]

    def _counted(self, commit: Commit) -> Any:
        self.commits += 1
        return self._commit(commit)


def test_what_was_seen_before_a_wait_does_not_count_after_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def act(beside: Beside, work: VisitWork) -> None:
        waits: list[float] = []

        def others_write_meanwhile(seconds: float) -> None:
            waits.append(seconds)
            assert len(waits) < MOST_WAITS, "every commit is lost: the node looks, waits, and then writes what is old"
            beside.another()

        monkeypatch.setattr(beside.stage.clock, "sleep", others_write_meanwhile)
        beside.another()
        beside.say(work, "mine")

    beside = Beside(monkeypatch, act)
    beside.stage.drive()
    assert beside.told() == ["other", "other", "mine"]


def test_a_node_that_knows_of_others_looks_before_it_writes(monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[int] = []

    def act(beside: Beside, work: VisitWork) -> None:
        for word in ("one", "two", "three"):
            beside.another()
            before = beside.commits
            beside.say(work, word)
            tried.append(beside.commits - before)

    beside = Beside(monkeypatch, act)
    beside.stage.drive()
    assert tried == [2, 1, 1]
    assert beside.told() == ["other", "one", "other", "two", "other", "three"]


def test_a_node_that_streams_alone_reads_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    reads: list[str] = []

    def act(beside: Beside, work: VisitWork) -> None:
        beside.say(work, "zero")
        with monkeypatch.context() as patch:
            patch.setattr(beside.stage.engine.store, "read", lambda *_: reads.append("read"))
            for word in ("one", "two", "three"):
                beside.say(work, word)

    Beside(monkeypatch, act).stage.drive()
    assert reads == []
