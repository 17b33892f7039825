"""`stepweave workflows`: definitions between files and the server."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text as Words

from stepweave.texts import Text
from stepweave_local.addresses import path
from stepweave_local.command_error import RUN_FAILED, CommandError
from stepweave_local.definition_file import push_definition, read_definition_file
from stepweave_local.languages import words
from stepweave_local.options import command
from stepweave_local.session import Session
from stepweave_local.tables import one_line, problem_table, stacked, table
from stepweave_local.workflow_list import callable_workflows, find_workflow

_SERVER_FIELDS = ("id", "version", "latestVersion")
_DESCRIPTION = 60

DefinitionFiles = Annotated[
    list[Path], typer.Argument(metavar="FILE.json…", help=words("工作流定义文件", "Workflow definition files"))
]
Name = Annotated[str, typer.Argument(metavar="WORKFLOW", help=words("名称或编号", "Name or number"))]
Output = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help=words("写入的文件，- 为标准输出；默认为 名称.json", "Where to write, - for stdout; by default NAME.json"),
    ),
]
Version = Annotated[
    int | None, typer.Option(min=1, help=words("版本号，默认最新", "Which version; the latest by default"))
]
Force = Annotated[bool, typer.Option("--force", help=words("覆盖已有的文件", "Overwrite a file that is there"))]


def add(app: typer.Typer) -> None:
    group = typer.Typer(no_args_is_help=True)
    app.add_typer(group, name="workflows", help=words("保存、取回、检查工作流", "Save, fetch and check workflows"))
    command(group, "push", words("把文件保存为工作流的新版本", "Save files as new versions of workflows"))(push)
    command(group, "pull", words("把工作流取回为文件", "Fetch a workflow into a file"))(pull)
    command(group, "list", words("列出该密钥可调用的工作流", "List the workflows that the key may call"))(list_all)
    command(
        group, "validate", words("检查文件而不保存；不需要服务", "Check files without saving them; needs no server")
    )(validate)


def push(session: Session, files: DefinitionFiles) -> None:
    saved = []
    for definition in [read_definition_file(file) for file in files]:
        saved.append(push_definition(session.client, definition))
        session.note(
            Text(
                f"{saved[-1]['name']} 已保存为版本 {saved[-1]['version']}",
                f"{saved[-1]['name']} saved as version {saved[-1]['version']}",
            ),
            style="",
        )
    if session.as_json:
        session.print_json({"items": saved})


def pull(
    session: Session, workflow: Name, output: Output = None, version: Version = None, force: Force = False
) -> None:
    query = {"version": version} if version is not None else None
    address = path("api", "workflows", str(find_workflow(session.client, workflow)["name"]))
    definition = session.client.call("GET", address, admin=True, query=query)
    own = {name: value for name, value in definition.items() if name not in _SERVER_FIELDS}
    text = json.dumps(own, ensure_ascii=False, indent=2) + "\n"
    if str(output) == "-":
        session.out.file.write(text)
        return
    file = output or Path(f"{definition['name']}.json")
    _write(file, text, force=force)
    session.show(
        {"name": definition["name"], "version": definition.get("version"), "file": str(file)},
        lambda: Words(session.say(Text(f"已写入 {file}", f"Wrote {file}"))),
    )


def list_all(session: Session) -> None:
    workflows = callable_workflows(session.client)
    headings = [
        session.say(text)
        for text in (Text("名称", "name"), Text("编号", "id"), Text("输入", "inputs"), Text("说明", "description"))
    ]
    empty = session.say(
        Text(
            "还没有工作流：用 `stepweave workflows push 文件.json` 保存一个。",
            "There are no workflows yet: save one with `stepweave workflows push file.json`.",
        )
    )
    session.show({"items": workflows}, lambda: table(headings, [_row(one) for one in workflows], empty))


def validate(session: Session, files: DefinitionFiles) -> int:
    from stepweave.errors import GraphInvalid
    from stepweave.graph.validation import accept  # pydantic, needed by no other command
    from stepweave.nodes.model_data import planner_faults
    from stepweave.nodes.table import spec_of

    checked: list[dict[str, Any]] = []
    for file in files:
        definition = read_definition_file(file)
        try:
            own = {name: value for name, value in definition.items() if name not in _SERVER_FIELDS}
            accept(own, spec_of, planner_faults)
            problems = []
        except GraphInvalid as invalid:
            problems = [problem.to_json(session.language) for problem in invalid.problems]
        checked.append({"file": str(file), "valid": not problems, "problems": problems})
        if not session.as_json:
            _tell(session, file, problems)
    if session.as_json:
        session.print_json({"items": checked})
    return 0 if all(one["valid"] for one in checked) else RUN_FAILED


def _tell(session: Session, file: Path, problems: list[dict[str, Any]]) -> None:
    count = len(problems)
    if not count:
        session.out.print(Words.assemble(("✓ ", "green"), f"{file}"))
        return
    told = session.say(Text(f"{count} 个问题", f"{count} problem{'' if count == 1 else 's'}"))
    session.out.print(stacked(Words.assemble(("✗ ", "red"), f"{file}: {told}"), problem_table(problems, session.say)))


def _row(workflow: Mapping[str, Any]) -> list[str | Words]:
    inputs = ", ".join(
        f"{one['name']}{'*' if one.get('required') and one.get('default') is None else ''}"
        for one in workflow["inputs"]
    )
    told = str(workflow.get("title") or workflow.get("description") or "")
    name = Words(str(workflow["name"]), style="bold")
    return [name, Words(str(workflow["id"]), style="dim"), inputs, one_line(told, _DESCRIPTION)]


def _write(file: Path, text: str, *, force: bool) -> None:
    """Never over somebody's own changes."""
    try:
        if not force and file.exists() and file.read_bytes() != text.encode():
            raise CommandError(
                Text(
                    f"{file} 已存在且内容不同：用 --force 覆盖，或用 -o 写到别处。",
                    f"{file} exists and differs: give --force to overwrite it, or -o to write elsewhere.",
                )
            )
        file.write_text(text, "utf-8")
    except OSError as error:
        raise CommandError(
            Text(f"无法写入 {file}（{error.strerror}）。", f"{file} cannot be written ({error.strerror}).")
        ) from error
