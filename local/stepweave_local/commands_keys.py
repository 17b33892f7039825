"""`stepweave keys`: who may call what."""

from collections.abc import Callable, Mapping
from typing import Annotated, Any

import typer
from rich.text import Text as Words

from stepweave.texts import Text
from stepweave_local.addresses import path
from stepweave_local.command_error import CommandError
from stepweave_local.languages import words
from stepweave_local.options import command
from stepweave_local.session import Session
from stepweave_local.tables import facts, stacked, table

Bootstrap = Callable[[str, str], Mapping[str, Any]]
"""Makes the first admin key of the deployed stack (its name, then the key's) with AWS credentials; the API's answer."""

KeyName = Annotated[
    str, typer.Option("--name", metavar="NAME", help=words("给人看的名称", "A name for people"), show_default=False)
]
Admin = Annotated[
    bool,
    typer.Option("--admin", help=words("管理密钥：可管理平台自身", "An admin key: may manage the platform itself")),
]
BoundTo = Annotated[
    list[str] | None,
    typer.Option(
        "--workflow",
        metavar="WORKFLOW",
        help=words("只能调用这个工作流；可重复", "May call this workflow only; repeatable"),
    ),
]
First = Annotated[
    bool,
    typer.Option(
        "--bootstrap",
        help=words(
            "用 AWS 凭证为已部署的堆栈创建第一个管理密钥",
            "Make the first admin key of a deployed stack, with AWS credentials",
        ),
    ),
]
Stack = Annotated[
    str,
    typer.Option(
        metavar="STACK",
        help=words("已部署堆栈的名称（与 --bootstrap 同用）", "The deployed stack's name, with --bootstrap"),
    ),
]
KeyId = Annotated[str, typer.Argument(metavar="KEY_ID", help=words("`keys list` 中的编号", "As `keys list` shows it"))]


def add(app: typer.Typer, bootstrap: Bootstrap) -> None:
    group = typer.Typer(no_args_is_help=True)
    app.add_typer(group, name="keys", help=words("创建、列出、吊销密钥", "Create, list and revoke API keys"))

    def create(
        session: Session,
        *,
        name: KeyName = "",
        admin: Admin = False,
        workflow: BoundTo = None,
        bootstrap_: First = False,
        stack: Stack = "stepweave",
    ) -> None:
        if admin and workflow:
            raise CommandError(
                Text(
                    "--admin 与 --workflow 不能同用：管理密钥不限于某些工作流。",
                    "--admin and --workflow exclude each other: an admin key is not bound to workflows.",
                )
            )
        if bootstrap_:
            made = bootstrap(stack, name or "admin")
        else:
            body: dict[str, Any] = {"name": name or "key", "scopes": ["admin"] if admin else ["run"]}
            if workflow:
                body["workflows"] = workflow
            made = session.client.call("POST", "/api/keys", body, admin=True)
        session.show(made, lambda: _created(session, made))

    command(group, "create", words("创建密钥；密钥只显示一次", "Create a key; it is shown once"))(create)
    command(group, "list", words("列出密钥", "List the keys"))(list_all)
    command(group, "revoke", words("吊销密钥", "Revoke a key"))(revoke)


def list_all(session: Session) -> None:
    data = session.client.call("GET", "/api/keys", admin=True)
    headings = [
        session.say(text)
        for text in (
            Text("编号", "id"),
            Text("名称", "name"),
            Text("权限", "scopes"),
            Text("工作流", "workflows"),
            Text("创建时间", "created"),
        )
    ]
    everything = session.say(Text("全部", "all"))
    rows: list[list[str | Words]] = [
        [
            Words(str(key["keyId"]), style="bold"),
            str(key.get("name") or ""),
            ", ".join(key.get("scopes") or ()),
            everything if key.get("workflows") is None else ", ".join(key["workflows"]),
            str(key.get("createdAt") or ""),
        ]
        for key in data["items"]
    ]
    session.show(data, lambda: table(headings, rows, session.say(Text("没有密钥。", "There are no keys."))))


def revoke(session: Session, key_id: KeyId) -> None:
    session.client.call("DELETE", path("api", "keys", key_id), admin=True)
    session.show(
        {"keyId": key_id, "revoked": True},
        lambda: Words(session.say(Text(f"密钥 {key_id} 已吊销。", f"Key {key_id} is revoked."))),
    )


def _created(session: Session, made: Mapping[str, Any]) -> Any:
    rows: list[tuple[str, str | Words]] = [
        (session.say(Text("编号", "id")), str(made.get("keyId"))),
        (session.say(Text("密钥", "key")), Words(str(made.get("key")), style="bold")),
    ]
    if secret := made.get("callbackSecret"):
        rows.append((session.say(Text("回调签名", "callback secret")), Words(str(secret), style="bold")))
    warning = Text("请现在保存：之后无法再次查看。", "Keep it now: nobody can show it again.")
    return stacked(facts(rows), Words(session.say(warning), style="yellow"))
