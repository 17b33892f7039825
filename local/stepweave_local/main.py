"""The command `stepweave`: its groups of commands, and what the rest of this package gives them."""

import os
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module, metadata
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text as Words

from stepweave.errors import StepweaveError
from stepweave.texts import Text
from stepweave_local import (
    commands_bridge,
    commands_keys,
    commands_run,
    commands_runs,
    commands_skills,
    commands_status,
    commands_workflows,
)
from stepweave_local.command_error import CANNOT
from stepweave_local.languages import environment_language, translate, words
from stepweave_local.options import EndpointOption, JsonOption, KeyOption
from stepweave_local.session import Session, Shared, console
from stepweave_local.usage import usage_text

SERVE = "stepweave_local.up:serve"
BOOTSTRAP = "stepweave_local.bootstrap:create_admin_key"
"""Imported when first used: they bring boto3 and the server."""

Port = Annotated[int, typer.Option(min=1, max=65535, help=words("监听的端口", "The port to listen on"))]
DataDir = Annotated[
    Path, typer.Option(metavar="DIR", help=words("保存状态的目录", "The directory that keeps the state"))
]
VersionFlag = Annotated[bool, typer.Option("--version", help=words("显示版本", "Show the version"))]


def build() -> typer.Typer:
    app = typer.Typer(
        name="stepweave",
        help=words("AI 智能体工作流引擎", "A workflow engine for AI agents"),
        context_settings={"help_option_names": ["--help", "-h"]},
        rich_markup_mode=None,
    )
    app.callback(invoke_without_command=True)(_root)
    app.command("up", help=words("在本机启动整套服务", "Run the whole stack on this machine"))(_up)
    commands_run.add(app)
    commands_workflows.add(app)
    commands_skills.add(app)
    commands_runs.add(app)
    commands_keys.add(app, _bootstrap)
    commands_status.add(app)
    commands_bridge.add(app)
    return app


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command; gives its exit status: 0 well, 1 a run failed, 2 it could not be done, 130 Ctrl-C."""
    language = environment_language(os.environ)
    root = typer.main.get_command(build())
    translate(root, language)
    try:
        return int(root.main(arguments, prog_name="stepweave", standalone_mode=False) or 0)
    except typer.TyperException as error:
        if type(error).__name__ == "NoArgsIsHelpError":
            print(error.format_message())
            return CANNOT
        console(sys.stderr).print(Words(usage_text(error).to(language)))
        return CANNOT


def _root(
    context: typer.Context,
    endpoint: EndpointOption = None,
    key: KeyOption = None,
    as_json: JsonOption = False,
    version: VersionFlag = False,
) -> None:
    context.obj = Shared(endpoint, key, as_json)
    if version:
        print(metadata.version("stepweave"))
        raise typer.Exit
    if context.invoked_subcommand is None:
        print(context.get_help())


def _up(port: Port = 2438, data_dir: DataDir = Path(".stepweave")) -> int:
    session = Session(Shared())

    def tell(text: Text) -> None:
        session.out.print(Words(session.say(text)))

    try:
        _load(SERVE)(port, data_dir, tell)
    except StepweaveError as error:
        return session.tell_error(error)
    return 0


def _bootstrap(stack: str, name: str) -> Mapping[str, Any]:
    made: Mapping[str, Any] = _load(BOOTSTRAP)(stack, name)
    return made


def _load(target: str) -> Any:
    module, _, name = target.partition(":")
    return getattr(import_module(module), name)


if __name__ == "__main__":
    sys.exit(main())
