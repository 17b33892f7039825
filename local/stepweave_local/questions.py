"""A question that a run asks a person, how it is shown at a prompt, and what a typed line answers to it (contract §4)."""

from dataclasses import dataclass
from typing import Any, Self

from rich.console import Group, RenderableType
from rich.text import Text as Words

from stepweave.texts import Text
from stepweave_local.command_error import CommandError
from stepweave_local.tables import Say, clean, indented


@dataclass(frozen=True, slots=True)
class Question:
    clarify_id: str
    node_id: str
    words: str
    options: tuple[tuple[str, str], ...] = ()
    """Label and value."""
    allow_custom: bool = False
    placeholder: str = ""
    multiple: bool = False

    @classmethod
    def read(cls, node_id: str, data: dict[str, Any]) -> Self:
        """Out of a `clarify_request` event, or a pause of the state call."""
        options = data.get("options") or [{"value": choice} for choice in data.get("choices") or ()]
        return cls(
            str(data.get("clarifyId") or data.get("clarify_id") or ""),
            node_id,
            str(data.get("question") or ""),
            tuple((str(one.get("label") or one.get("value")), str(one.get("value"))) for one in options),
            bool(data.get("allowCustom")),
            str(data.get("placeholder") or ""),
            bool(data.get("multiple")),
        )

    @property
    def takes_text(self) -> bool:
        return self.allow_custom or not self.options

    def answer(self, line: str) -> str | list[str]:
        """What the line answers: options by number, label or value. Raises `CommandError` saying what is wanted."""
        typed = line.strip()
        if not typed:
            raise CommandError(Text("请输入回答。", "Type an answer."))
        if not self.multiple:
            return self._choice(typed)
        return [self._choice(part.strip()) for part in typed.replace("，", ",").split(",") if part.strip()]

    def _choice(self, typed: str) -> str:
        for label, value in self.options:
            if typed in (value, label):
                return value
        if typed.isascii() and typed.isdecimal() and 1 <= int(typed) <= len(self.options):
            return self.options[int(typed) - 1][1]
        if self.takes_text:
            return typed
        raise CommandError(
            Text(
                f"“{typed}”不是选项：请输入 1 到 {len(self.options)} 的编号，或选项本身。",
                f'"{typed}" is none of the options: type a number from 1 to {len(self.options)}, or the option itself.',
            )
        )

    def view(self, asker: str, say: Say) -> RenderableType:
        """The question with its numbered options and a line that says how to answer."""
        lines = [
            Words.assemble(("? ", "bold cyan"), (clean(self.words), "bold"), (f"   {clean(asker)}", "dim")),
            *(
                Words.assemble((f"  {number}  ", "cyan"), clean(label))
                for number, (label, _) in enumerate(self.options, 1)
            ),
        ]
        if hint := self._hint():
            lines.append(Words(f"  {clean(say(hint))}", style="dim"))
        return indented(Group(*lines))

    def prompt(self, say: Say) -> str:
        return "    " + say(Text("回答：", "Answer: "))

    def one_line(self) -> str:
        """For places without a prompt."""
        options = ", ".join(value for _, value in self.options)
        return f"{self.words} [{options}]" if options else self.words

    def _hint(self) -> Text | None:
        several = Text("可多选，用逗号分隔", "several may be chosen, with commas between")
        own = Text(
            f"也可以自己写{f'：{self.placeholder}' if self.placeholder else ''}",
            f"or write your own{f': {self.placeholder}' if self.placeholder else ''}",
        )
        texts = [several] if self.multiple else []
        if self.options and self.allow_custom:
            texts.append(own)
        elif self.placeholder and self.takes_text:
            texts.append(Text.same(self.placeholder))
        return Text.join(texts) if texts else None
