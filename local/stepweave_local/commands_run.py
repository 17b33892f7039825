"""`stepweave run`: one workflow, from its inputs to its outputs."""

import json
from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text as Words

from stepweave.texts import Text
from stepweave_local.addresses import path
from stepweave_local.attachments import Attachment, collect, parts, travel_along, upload
from stepweave_local.command_error import RUN_FAILED
from stepweave_local.definition_file import push_definition, read_definition_file
from stepweave_local.languages import words
from stepweave_local.options import command
from stepweave_local.outcome_view import outputs_left_out, outputs_view
from stepweave_local.progress import seconds_text
from stepweave_local.session import Session
from stepweave_local.variables import Given, declared_fields, declared_in, read_variables
from stepweave_local.watch import Detached, Ending, detached, watch
from stepweave_local.workflow_list import find_workflow

_FILES_SHOWN = 10


class FailStrategy(StrEnum):
    abort = "abort"
    skip = "skip"


Target = Annotated[
    str,
    typer.Argument(
        metavar="WORKFLOW|FILE.json",
        help=words(
            "工作流的名称或编号；或定义文件，先保存为新版本再运行",
            "Name or number of a workflow; or a definition file, saved as a new version first",
        ),
    ),
]
Variables = Annotated[
    list[str] | None,
    typer.Option(
        "--var",
        metavar="K=V",
        help=words(
            "变量：k=值（按声明的类型读取）、k=@文件（文件内容）、k:=JSON；可重复",
            "A variable: k=value (read as its declared type), k=@file (the text of a file), k:=JSON; repeatable",
        ),
    ),
]
Files = Annotated[
    list[Path] | None,
    typer.Option(
        "--file",
        metavar="PATH",
        help=words("放入工作空间的文件或文件夹；可重复", "A file or folder for the workspace; repeatable"),
    ),
]
Strategy = Annotated[
    FailStrategy | None,
    typer.Option(
        help=words("节点失败时：中止运行，或跳过该节点", "When a node fails: end the run, or go on without the node")
    ),
]


def add(app: typer.Typer) -> None:
    command(
        app,
        "run",
        words(
            "运行一个工作流并实时显示进度\n\n退出码：成功为 0，运行失败为 1，无法运行为 2。",
            "Run a workflow and show its progress\n\nExits 0 on success, 1 when the run fails, 2 when it cannot be run.",
        ),
    )(run)


def run(
    session: Session,
    workflow: Target,
    var: Variables = None,
    file: Files = None,
    fail_strategy: Strategy = None,
) -> int:
    name, given = _prepare(session, workflow, var or ())
    attachments = collect([*(file or ()), *given.files])
    for unknown in given.unknown:
        session.note(
            Text(f"提示：工作流没有声明变量 {unknown}。", f"Note: the workflow declares no variable {unknown}.")
        )
    body: dict[str, Any] = {"variables": given.values, "async": True}
    if fail_strategy is not None:
        body["failStrategy"] = fail_strategy.value
    run_id = _create(session, name, body, attachments)
    session.note(Text(f"{name} · 运行 {run_id}\n", f"{name} · run {run_id}\n"))
    try:
        session.client.call("POST", path("api", "v1", "workflows", name, "runs", run_id, "start"))
        ending = watch(session, run_id)
    except (Detached, KeyboardInterrupt):
        return detached(session, run_id)
    return show_ending(session, run_id, ending)


def _prepare(session: Session, target: str, assignments: Sequence[str]) -> tuple[str, Given]:
    """The workflow's name and its variables. A file is saved only when the variables are in order."""
    if not _is_file(target):
        found = find_workflow(session.client, target)
        return str(found["name"]), read_variables(assignments, declared_fields(found["inputs"]))
    definition = read_definition_file(Path(target))
    given = read_variables(assignments, declared_in(definition))
    saved = push_definition(session.client, definition)
    session.note(
        Text(f"已保存 {saved['name']} 的版本 {saved['version']}", f"Saved {saved['name']}, version {saved['version']}")
    )
    return str(saved["name"]), given


def _is_file(target: str) -> bool:
    """Names of workflows have neither dots nor slashes (contract §1)."""
    return target.endswith(".json") or "/" in target or "\\" in target


def _create(session: Session, name: str, body: Mapping[str, Any], attachments: Sequence[Attachment]) -> str:
    runs = path("api", "v1", "workflows", name, "runs")
    if not attachments:
        return str(session.client.call("POST", runs, body)["runId"])
    if travel_along(attachments):
        names = [attachment.name for attachment in attachments]
        payload = json.dumps({**body, "inputs": {"uploadedFiles": names}}, ensure_ascii=False)
        return str(session.client.call("POST", runs, parts=parts(payload, attachments))["runId"])
    run_id = str(session.client.call("POST", runs, body)["runId"])
    upload(session.client, name, run_id, attachments)
    return run_id


def show_ending(session: Session, run_id: str, ending: Ending) -> int:
    """Prints how the run ended, its outputs on stdout; gives the exit status."""
    data = ending.event.data if ending.event else {}
    succeeded = bool(data.get("success"))
    if session.as_json:
        told = {"runId": run_id, "status": "SUCCESS" if succeeded else "FAILED", **_outcome(data, succeeded)}
        session.print_json(told | {"seconds": round(ending.seconds, 3)})
        return 0 if succeeded else RUN_FAILED
    spent = seconds_text(ending.seconds)
    session.err.print()
    if not succeeded:
        text = Text(f"失败（{spent}）：{data.get('error')}", f"Failed after {spent}: {data.get('error')}")
        session.err.print(Words(session.say(text), style="red"))
        return RUN_FAILED
    session.err.print(Words(session.say(Text(f"完成，用时 {spent}", f"Done in {spent}")), style="green"))
    _show_files(session, data.get("workingDirFiles") or [])
    session.err.print()
    if url := outputs_left_out(data):
        session.out.print(Words(f"{session.endpoint.url}{url}" if url.startswith("/") else url))
    else:
        session.out.print(outputs_view(data.get("output"), session.say, formatted=session.out.is_terminal))
    return 0


def _outcome(data: Mapping[str, Any], succeeded: bool) -> dict[str, Any]:
    names = ("output", "outputUrl", "workingDirFiles") if succeeded else ("error", "failedNodeId")
    return {name: data[name] for name in names if name in data}


def _show_files(session: Session, files: Sequence[str]) -> None:
    if files:
        more = len(files) - _FILES_SHOWN
        listed = ", ".join(files[:_FILES_SHOWN])
        rest = Text(f" 等 {len(files)} 个", f" and {more} more") if more > 0 else Text("", "")
        session.note(Text(f"文件：{listed}{rest.zh}", f"Files: {listed}{rest.en}"))
