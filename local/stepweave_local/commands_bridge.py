"""`stepweave bridge`: the bundled Hermes Bridge (docs/hermes-bridge.md)."""

from typing import Annotated

import typer
from rich.text import Text as Words

from stepweave.texts import Text
from stepweave_local.languages import words
from stepweave_local.options import command
from stepweave_local.session import Session

Host = Annotated[str, typer.Option(help=words("监听的地址", "The address to listen on"))]
Port = Annotated[int, typer.Option(min=1, max=65535, help=words("监听的端口", "The port to listen on"))]


def add(app: typer.Typer) -> None:
    command(
        app,
        "bridge",
        words("运行 Hermes Bridge，供引擎调用其中的模型", "Run a Hermes Bridge, whose models the engine's agents use"),
    )(bridge)


def bridge(session: Session, host: Host = "127.0.0.1", port: Port = 2439) -> None:
    from stepweave_local.bridge_serving import serve_bridge  # brings the server and the agent library

    def tell(text: Text) -> None:
        if session.as_json:
            session.print_json({"host": host, "port": port})
        else:
            session.out.print(Words(session.say(text)))

    serve_bridge(host, port, tell)
