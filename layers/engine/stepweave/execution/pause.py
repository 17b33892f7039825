"""A question to a person, and what came of it (contract §4 `state`, §5 `clarify_request`; protocol rule A)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

PauseStatus = Literal["OPEN", "ANSWERED", "CLOSED"]
Answer = str | list[str]


@dataclass(frozen=True, slots=True)
class Option:
    label: str
    value: str


@dataclass(frozen=True, slots=True)
class Question:
    """What a node asks. Without options any text is an answer; with options one of their values, or with
    `allow_custom` any text. `multiple` lets the person choose several."""

    question: str
    options: tuple[Option, ...] = ()
    allow_custom: bool = False
    placeholder: str = ""
    multiple: bool = False

    def data(self, clarify_id: str) -> dict[str, Any]:
        """The `data` of a `clarify_request` event."""
        return {
            "clarifyId": clarify_id,
            "question": self.question,
            "options": [{"label": option.label, "value": option.value} for option in self.options],
            "allowCustom": self.allow_custom,
            "placeholder": self.placeholder,
            "multiple": self.multiple,
        }

    def choices(self) -> list[str]:
        return [option.value for option in self.options]

    def accepts(self, answer: Any) -> bool:
        """Whether `answer` is a string, or a list of strings when several may be chosen, and one of the options."""
        if isinstance(answer, str):
            given = [answer]
        elif self.multiple and isinstance(answer, list) and answer and all(isinstance(each, str) for each in answer):
            given = answer
        else:
            return False
        return self.allow_custom or not self.options or all(each in self.choices() for each in given)

    @staticmethod
    def from_json(raw: Mapping[str, Any]) -> "Question":
        return Question(
            question=raw["question"],
            options=tuple(Option(each["label"], each["value"]) for each in raw.get("options") or ()),
            allow_custom=raw.get("allowCustom", False),
            placeholder=raw.get("placeholder", ""),
            multiple=raw.get("multiple", False),
        )


@dataclass(frozen=True, slots=True)
class Pause:
    """`kind` is the step that goes on with the answer. `token` wakes the chain that sleeps on this question; it is the
    newest that a chain has brought, by `token_order` (rule A). `woken_at` is when the sweep last called it; the person's
    answer, at `answered_at`, called it before.
    """

    run_id: str
    clarify_id: str
    visit_uuid: str
    node_id: str
    kind: str
    question: Question
    created_at: str
    status: PauseStatus = "OPEN"
    answer: Answer | None = None
    answered_at: str | None = None
    woken_at: str | None = None
    token: str | None = None
    token_order: int | None = None
