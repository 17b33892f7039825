"""Which server the command talks to and with which keys: options, then the environment, then `.stepweave/dev.json`."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stepweave.texts import Text
from stepweave_local.command_error import CommandError

DEV_JSON = Path(".stepweave") / "dev.json"
URL_VARIABLE = "STEPWEAVE_URL"
KEY_VARIABLE = "STEPWEAVE_API_KEY"
ADMIN_KEY_VARIABLE = "STEPWEAVE_ADMIN_KEY"


@dataclass(frozen=True, slots=True)
class Endpoint:
    """`key` calls workflows, `admin_key` the platform's own API; `source` tells people where this was found."""

    url: str
    key: str
    admin_key: str
    source: Text
    is_dev: bool = False


def find_endpoint(url: str | None, key: str | None, environment: Mapping[str, str], directory: Path) -> Endpoint:
    """The endpoint for a command run in `directory` with the options `--endpoint` and `--key`. Raises `CommandError`.

    The keys of `dev.json` go to the server of `dev.json` only: no other one ever sees them.
    """
    dev_file = _nearest(directory)
    dev = _read(dev_file) if dev_file else {}
    asked = url or environment.get(URL_VARIABLE)
    found = _normal(asked or dev.get("baseUrl", ""))
    if not found:
        raise CommandError(
            Text(
                f"不知道要连接哪个服务：请在本机运行 `stepweave up`，或给出 --endpoint 与 --key（环境变量 {URL_VARIABLE}、{KEY_VARIABLE}）。",
                f"No server is known here: run `stepweave up`, or give --endpoint and --key (or set {URL_VARIABLE} and {KEY_VARIABLE}).",
            )
        )
    if dev and found != _normal(dev.get("baseUrl", "")):
        dev = {}
    admin_key = key or environment.get(ADMIN_KEY_VARIABLE) or dev.get("adminKey")
    key = key or environment.get(KEY_VARIABLE) or dev.get("apiKey") or admin_key
    if not key:
        raise CommandError(
            Text(
                f"没有给出 {found} 的密钥：请使用 --key 或设置 {KEY_VARIABLE}。",
                f"There is no key for {found}: give --key or set {KEY_VARIABLE}.",
            )
        )
    return Endpoint(found, key, admin_key or key, _source(url, asked, dev_file), is_dev=bool(dev))


def _nearest(directory: Path) -> Path | None:
    """The `dev.json` of the directory or of the nearest one above."""
    return next((file for place in (directory, *directory.parents) if (file := place / DEV_JSON).is_file()), None)


def _read(file: Path) -> dict[str, str]:
    try:
        read: Any = json.loads(file.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise _unreadable(file) from error
    if not isinstance(read, dict) or not isinstance(read.get("baseUrl"), str):
        raise _unreadable(file)
    return {name: value for name, value in read.items() if isinstance(value, str)}


def _unreadable(file: Path) -> CommandError:
    return CommandError(
        Text(
            f"无法读取 {file}：请重新运行 `stepweave up`，它会写入该文件。",
            f"{file} cannot be read: run `stepweave up` again, which writes it.",
        )
    )


def _normal(url: str) -> str:
    url = url.strip().rstrip("/")
    scheme, _, host = url.partition("://")
    if url and (scheme not in ("http", "https") or not host):
        raise CommandError(
            Text(
                f"服务地址 {url} 不完整：应为 http://… 或 https://…。",
                f"{url} is no address of a server: it must begin with http:// or https://.",
            )
        )
    return url


def _source(url: str | None, asked: str | None, dev_file: Path | None) -> Text:
    if url:
        return Text("来自 --endpoint", "from --endpoint")
    if asked:
        return Text(f"来自环境变量 {URL_VARIABLE}", f"from {URL_VARIABLE}")
    return Text(f"来自 {dev_file}", f"from {dev_file}")
