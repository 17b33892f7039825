"""`--file`: files of this machine that go into a run's workspace."""

import mimetypes
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from stepweave.texts import Text
from stepweave_local.addresses import Part, path
from stepweave_local.command_error import CommandError

if TYPE_CHECKING:
    from stepweave_local.client import Client

REQUEST_BYTES = 4 * 1024 * 1024
"""What goes along with the create call; more passes no gateway (contract §4) and is uploaded by itself."""


@dataclass(frozen=True, slots=True)
class Attachment:
    file: Path
    name: str
    """Relative path in the workspace, with slashes."""
    size: int


def collect(given: Iterable[Path]) -> list[Attachment]:
    """A file goes under its own name, a folder with everything in it. Raises `CommandError`."""
    found: dict[str, Attachment] = {}
    for place in given:
        try:
            within = sorted(file for file in place.rglob("*") if file.is_file()) if place.is_dir() else [place]
            for file in within:
                name = file.name if file == place else f"{place.resolve().name}/{file.relative_to(place).as_posix()}"
                with file.open("rb"):
                    attachment = Attachment(file, name, file.stat().st_size)
                other = found.setdefault(name, attachment)
                if other.file != file:
                    raise _same_name(other, attachment)
        except OSError as error:
            raise CommandError(
                Text(
                    f"--file：无法读取 {error.filename or place}（{error.strerror}）。",
                    f"--file: {error.filename or place} cannot be read ({error.strerror}).",
                )
            ) from error
    return list(found.values())


def travel_along(attachments: Sequence[Attachment]) -> bool:
    """Whether they fit into the create call."""
    return sum(attachment.size for attachment in attachments) <= REQUEST_BYTES


def parts(payload: str, attachments: Iterable[Attachment]) -> list[Part]:
    """The multipart body of a create call."""
    made: list[Part] = [("payload", (None, payload.encode(), "application/json"))]
    for attachment in attachments:
        kind = mimetypes.guess_type(attachment.name)[0] or "application/octet-stream"
        made.append(("files", (attachment.file.name, attachment.file.read_bytes(), kind)))
    return made


def upload(client: "Client", workflow: str, run_id: str, attachments: Sequence[Attachment]) -> None:
    """Sends the files, before the run starts, to addresses that the server signs."""
    files = [{"path": attachment.name, "size": attachment.size} for attachment in attachments]
    answer = client.call("POST", path("api", "v1", "workflows", workflow, "runs", run_id, "uploads"), {"files": files})
    by_name = {attachment.name: attachment for attachment in attachments}
    for target in answer["uploads"]:
        client.put_file(target["url"], target.get("headers") or {}, by_name[target["path"]].file)


def _same_name(one: Attachment, other: Attachment) -> CommandError:
    return CommandError(
        Text(
            f"--file：{one.file} 与 {other.file} 在工作空间中同名（{one.name}）：请改名，或放进不同的文件夹。",
            f"--file: {one.file} and {other.file} would both be {one.name} in the workspace: rename one, or put them into folders.",
        )
    )
