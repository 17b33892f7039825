"""What is wrong with a definition, told so that a person finds the place (contract §2: `{code, message, nodeId?, edge?}`)."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from stepweave.errors import GraphInvalid
from stepweave.graph.edge import Edge
from stepweave.texts import Text

# An id may be as long as a request; what is shown of it is not.
_SHOWN_CHARACTERS = 80
_SUMMARY_PROBLEMS = 3


@dataclass(frozen=True, slots=True)
class Problem:
    """One finding. `code` is a stable UPPER_SNAKE word for programs, `message` a sentence for people."""

    code: str
    message: Text
    node_id: str | None = None
    edge: Edge | None = None

    def to_json(self, language: str) -> dict[str, Any]:
        """The shape of the API; `nodeId` and `edge` are there only where the problem has such a place."""
        shown: dict[str, Any] = {"code": self.code, "message": self.message.to(language)}
        if self.node_id is not None:
            shown["nodeId"] = cut(self.node_id)
        if self.edge is not None:
            handle = self.edge.handle
            shown["edge"] = {
                "source": cut(self.edge.source),
                "target": cut(self.edge.target),
                "sourceHandle": None if handle is None else cut(handle),
            }
        return shown


def cut(words: str) -> str:
    """Words of the author's, shortened so that no answer grows with them."""
    return words if len(words) <= _SHOWN_CHARACTERS else words[: _SHOWN_CHARACTERS - 1] + "…"


def quoted(words: str) -> str:
    """An id or value inside a message: in double quotes, control characters escaped, shortened."""
    return json.dumps(cut(words), ensure_ascii=False)


def arrow(edge: Edge) -> str:
    """An edge inside a message."""
    return f"{quoted(edge.source)} → {quoted(edge.target)}"


def graph_invalid(problems: Sequence[Problem]) -> GraphInvalid:
    """The error that carries all `problems`; its text tells how many there are and spells out the first few."""
    count = len(problems)
    first = Text.join([problem.message for problem in problems[:_SUMMARY_PROBLEMS]])
    more = count > _SUMMARY_PROBLEMS
    return GraphInvalid(
        Text(
            f"工作流定义有 {count} 个问题：{first.zh}{'；……' if more else ''}",
            f"the workflow definition has {count} problem{'' if count == 1 else 's'}: {first.en}{'; …' if more else ''}",
        ),
        list(problems),
    )
