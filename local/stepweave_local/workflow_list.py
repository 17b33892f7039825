"""The workflows that a key may call, and finding one by what a person typed."""

from collections.abc import Mapping
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from stepweave.texts import Text
from stepweave_local.command_error import CommandError

if TYPE_CHECKING:
    from stepweave_local.client import Client

_NEAR = 3


def callable_workflows(client: "Client") -> list[Mapping[str, Any]]:
    """As the API lists them, with their inputs and outputs."""
    return list(client.items("/api/v1/workflows"))


def find_workflow(client: "Client", asked: str) -> Mapping[str, Any]:
    """By name, or by number. Raises `CommandError` with the names that may have been meant."""
    listed = callable_workflows(client)
    found = next((one for one in listed if asked in (one["name"], str(one["id"]))), None)
    return found if found is not None else _unknown(asked, [str(one["name"]) for one in listed])


def _unknown(asked: str, names: list[str]) -> Any:
    near = get_close_matches(asked, names, _NEAR, 0.5) or [name for name in names if asked in name][:_NEAR]
    if near:
        advice = Text(f"是否指 {'、'.join(near)}？", f"did you mean {' or '.join(near)}?")
    elif names:
        advice = Text(
            "`stepweave workflows list` 列出该密钥可调用的工作流。",
            "`stepweave workflows list` shows those that the key may call.",
        )
    else:
        advice = Text(
            "这里还没有工作流，请先运行 `stepweave workflows push 文件.json`。",
            "there is none yet: save one with `stepweave workflows push file.json`.",
        )
    raise CommandError(Text(f"没有名为 {asked} 的工作流：{advice.zh}", f"There is no workflow {asked}: {advice.en}"))
