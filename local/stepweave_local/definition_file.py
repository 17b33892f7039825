"""A workflow definition in a JSON file."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stepweave.texts import Text
from stepweave_local.addresses import path
from stepweave_local.command_error import CommandError, ServerRefused

if TYPE_CHECKING:
    from stepweave_local.client import Client


def read_definition_file(file: Path) -> dict[str, Any]:
    """Raises `CommandError` naming the file, and the line where the JSON breaks."""
    try:
        read = json.loads(file.read_text("utf-8-sig"))
    except OSError as error:
        raise CommandError(
            Text(f"无法读取 {file}（{error.strerror}）。", f"{file} cannot be read ({error.strerror}).")
        ) from error
    except UnicodeDecodeError as error:
        raise CommandError(
            Text(f"{file} 不是 UTF-8 文本：请转换编码。", f"{file} is not UTF-8 text: convert it.")
        ) from error
    except json.JSONDecodeError as error:
        place = f"{file}:{error.lineno}:{error.colno}"
        raise CommandError(
            Text(f"{place} 不是有效的 JSON：{error.msg}。", f"{place} is not valid JSON: {error.msg}.")
        ) from error
    if not isinstance(read, dict):
        raise CommandError(
            Text(
                f"{file} 不是工作流定义：应为含 name 与 graphData 的 JSON 对象。",
                f"{file} holds no workflow definition: that is a JSON object with name and graphData.",
            )
        )
    return read


def push_definition(client: "Client", definition: dict[str, Any]) -> dict[str, Any]:
    """Saves it as a new workflow, or as the next version of the one that has its name: `{id, name, version}`."""
    name = definition.get("name")
    if isinstance(name, str) and name:
        try:
            return dict(client.call("PUT", path("api", "workflows", name), definition, admin=True))
        except ServerRefused as error:
            if error.refusal not in ("WORKFLOW_NOT_FOUND", "VALIDATION_FAILED"):  # a name that is none is told by POST
                raise
    return dict(client.call("POST", "/api/workflows", definition, admin=True))
