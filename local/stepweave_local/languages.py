"""Which language the command speaks, and the words of its help pages in both."""

from collections.abc import Iterable, Mapping
from typing import Any, Protocol, cast

from stepweave.texts import Language, Text

_HELP: dict[str, Text] = {}


class Documented(Protocol):
    """A command, a group of commands, or one of their options, as Typer builds them."""

    help: str | None


def environment_language(environment: Mapping[str, str]) -> Language:
    """Chinese when the locale says so, in the order in which a C library reads it; else English."""
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        if locale := environment.get(name):
            return "zh" if locale.lower().startswith("zh") else "en"
    return "en"


def words(zh: str, en: str) -> str:
    """A help text. Typer wants it when a module is imported, before the language is known: `translate` changes it."""
    _HELP[en] = Text(zh, en)
    return en


def translate(command: Documented, language: Language) -> None:
    """Puts every help text of a command and of all below it into the language."""
    if command.help in _HELP:
        command.help = _HELP[command.help].to(language)
    children: Iterable[Any] = (*getattr(command, "params", ()), *getattr(command, "commands", {}).values())
    for child in children:
        if hasattr(child, "help"):
            translate(cast(Documented, child), language)
