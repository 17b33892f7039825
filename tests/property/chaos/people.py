"""People who answer questions, two at once, and tell what they were told."""

from collections import Counter
from collections.abc import Iterator
from random import Random

from stepweave.errors import ClarifyAlreadyAnswered, ClarifyNotFound, RunAlreadyFinished
from stepweave.items import Item
from stepweave.runtime.engine import Engine
from tests.property.chaos.store import ChaoticItems

_QUESTIONS = "PAUSE#"


class People:
    """`accepted` holds, for each question, the answers that were taken."""

    def __init__(self, chance: Random, items: ChaoticItems, run_id: str) -> None:
        self._chance = chance
        self._items = items
        self._run_id = run_id
        self._number = 0
        self._asked: Counter[str] = Counter()
        self.accepted: dict[str, list[str]] = {}

    def stored(self) -> dict[str, Item]:
        """The questions as they are visible, by their `clarifyId`."""
        found = self._items.items_of("runs", self._run_id)
        return {
            str(item["sk"]).removeprefix(_QUESTIONS): item for item in found if str(item["sk"]).startswith(_QUESTIONS)
        }

    def unanswered(self) -> Iterator[str]:
        """Questions that somebody may answer now; nobody is patient enough to try one more than a few times."""
        for clarify_id, item in self.stored().items():
            if item["status"] == "OPEN" and self._asked[clarify_id] < 40:
                yield clarify_id

    def answer(self, engine: Engine, clarify_id: str) -> bool:
        """Whether the sweep need not care any more. Each answer is another one."""
        self._asked[clarify_id] += 1
        self._number += 1
        answer = f"answer {self._number}"
        run = engine.store.get(self._run_id)
        assert run is not None, "there is a question, so there is a run"
        try:
            is_woken = engine.asks.answer(run, clarify_id, answer)
        except (ClarifyAlreadyAnswered, RunAlreadyFinished, ClarifyNotFound):
            return True
        self.accepted.setdefault(clarify_id, []).append(answer)
        return is_woken
