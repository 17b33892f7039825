"""`stepweave status`: is there a server, and do the keys work."""

import time
from typing import Any

import typer
from rich.text import Text as Words

from stepweave.texts import Text
from stepweave_local.command_error import CANNOT, ServerRefused
from stepweave_local.languages import words
from stepweave_local.options import command
from stepweave_local.session import Session
from stepweave_local.tables import facts


def add(app: typer.Typer) -> None:
    command(
        app, "status", words("显示连接的服务与密钥是否可用", "Show which server is used, and whether it takes the keys")
    )(status)


def status(session: Session) -> int:
    endpoint = session.endpoint
    began = time.monotonic()
    workflows = _total(session, "/api/v1/workflows", admin=False)
    milliseconds = round((time.monotonic() - began) * 1000)
    administers = _total(session, "/api/workflows", admin=True) is not None
    data = {
        "url": endpoint.url,
        "source": endpoint.source.en.removeprefix("from "),
        "milliseconds": milliseconds,
        "keyAccepted": workflows is not None,
        "adminKeyAccepted": administers,
        "workflows": workflows,
    }
    session.show(data, lambda: facts(_rows(session, data)))
    return 0 if workflows is not None else CANNOT


def _total(session: Session, address: str, *, admin: bool) -> int | None:
    """How many workflows the key reaches; None when it is refused."""
    try:
        found = session.client.call("GET", address, admin=admin, query={"page": 1, "size": 1})
    except ServerRefused as refused:
        if refused.refusal == "UNAUTHORIZED":
            return None
        raise
    return int(found["total"])


def _rows(session: Session, data: dict[str, Any]) -> list[tuple[str, str | Words]]:
    say = session.say
    where = Words.assemble(data["url"], (f"   {say(session.endpoint.source)}", "dim"))
    reached = Words.assemble((say(Text("正常", "running")), "green"), (f"   {data['milliseconds']} ms", "dim"))
    count = data["workflows"]
    number = Text(f"{count} 个工作流", f"{count} workflow{'' if count == 1 else 's'}")
    key = _accepted(session, data["keyAccepted"])
    if data["keyAccepted"]:
        key.append(f"   {say(number)}", style="dim")
    return [
        (say(Text("服务", "server")), where),
        (say(Text("状态", "state")), reached),
        (say(Text("密钥", "key")), key),
        (say(Text("管理密钥", "admin key")), _accepted(session, data["adminKeyAccepted"])),
    ]


def _accepted(session: Session, accepted: bool) -> Words:
    if accepted:
        return Words(session.say(Text("有效", "accepted")), style="green")
    return Words(session.say(Text("无效或权限不足", "refused")), style="red")
