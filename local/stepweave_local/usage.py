"""Wrong usage of the command, as one sentence in the person's language."""

from typing import Any

import typer

from stepweave.texts import Text


def usage_text(error: typer.TyperException) -> Text:
    """What is wrong, and which help page tells more. Typer's own kinds of errors have no public names."""
    details: Any = error
    context = getattr(details, "ctx", None)
    help_command = f"{context.command_path if context is not None else 'stepweave'} --help"
    parameter = getattr(details, "param", None)
    match type(error).__name__:
        case "MissingParameter" if parameter is not None:
            name = parameter.metavar or parameter.name.upper()
            text = Text(f"缺少 {name}", f"{name} is missing")
        case "NoSuchOption":
            near = ", ".join(details.possibilities or ())
            text = Text(
                f"没有选项 {details.option_name}{f'（是否指 {near}？）' if near else ''}",
                f"There is no option {details.option_name}{f' (did you mean {near}?)' if near else ''}",
            )
        case _:
            text = Text.same(error.format_message().rstrip("."))
    return Text(f"{text.zh}：用法见 `{help_command}`。", f"{text.en}: see `{help_command}`.")
