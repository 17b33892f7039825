"""`stepweave skills`: what agents know how to do, between folders and the server."""

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text as Words

from stepweave.texts import Text
from stepweave_local.addresses import Part
from stepweave_local.languages import words
from stepweave_local.options import command
from stepweave_local.session import Session
from stepweave_local.tables import one_line, table

_DESCRIPTION = 60

Folders = Annotated[
    list[Path],
    typer.Argument(metavar="FOLDER…", help=words("含有 SKILL.md 的文件夹", "Folders that have a SKILL.md")),
]


def add(app: typer.Typer) -> None:
    group = typer.Typer(no_args_is_help=True)
    app.add_typer(group, name="skills", help=words("发布、列出技能", "Push and list skills"))
    command(group, "push", words("把文件夹发布为技能的新版本", "Push folders as new versions of skills"))(push)
    command(group, "list", words("列出技能", "List the skills"))(list_all)


def push(session: Session, folders: Folders) -> None:
    from stepweave_local.skill_folder import read_skill_folder  # the engine, needed by no other command here

    pushed = []
    for files in [read_skill_folder(folder) for folder in folders]:
        parts: list[Part] = [
            ("files", (Path(path).name, content, "application/octet-stream", {"X-Relative-Path": path}))
            for path, content in files.items()
        ]
        pushed.append(session.client.call("POST", "/api/skills", admin=True, parts=parts))
        name, version = pushed[-1]["name"], pushed[-1]["version"]
        session.note(Text(f"{name} 已发布，版本 {version}", f"{name} pushed, version {version}"), style="")
    if session.as_json:
        session.print_json({"items": pushed})


def list_all(session: Session) -> None:
    skills = list(session.client.items("/api/skills", admin=True))
    headings = [
        session.say(text)
        for text in (
            Text("名称", "name"),
            Text("版本", "version"),
            Text("发布时间", "pushed"),
            Text("说明", "description"),
        )
    ]
    rows: list[list[str | Words]] = [
        [
            Words(str(skill["name"]), style="bold"),
            str(skill["version"]),
            str(skill["pushedAt"]),
            one_line(str(skill["description"]), _DESCRIPTION),
        ]
        for skill in skills
    ]
    empty = session.say(
        Text(
            "还没有技能：用 `stepweave skills push 文件夹` 发布一个。",
            "There are no skills yet: push one with `stepweave skills push folder`.",
        )
    )
    session.show({"items": skills}, lambda: table(headings, rows, empty))
