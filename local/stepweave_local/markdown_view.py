"""Markdown on a terminal, as quiet as the rest of what is printed."""

from typing import Any, ClassVar

from rich.console import Console, ConsoleOptions, RenderResult
from rich.markdown import Heading, Markdown


class _PlainHeading(Heading):
    """On the left and without a box, as the rest of what is printed."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        self.text.justify = "left"
        self.text.stylize("bold")
        yield self.text


class QuietMarkdown(Markdown):
    elements: ClassVar[dict[str, Any]] = {**Markdown.elements, "heading_open": _PlainHeading}
