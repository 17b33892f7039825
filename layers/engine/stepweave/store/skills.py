"""Skills as the tables hold them: immutable versions, a pointer to the latest, files in object storage by their content.

They share the table of the workflows: no workflow's name looks like `#skill:…`.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

from stepweave.errors import Unavailable
from stepweave.items import (
    WORKFLOWS_LISTED,
    Equals,
    Item,
    Key,
    Put,
    WriteConflict,
    WriteRefused,
    missing,
)
from stepweave.ports import BlobStore, ItemStore
from stepweave.store.documents import Documents

LISTED = "skill"
_SHAPE = 1
_POINTER = 0  # versions count from 1
_PAGE = 20


@dataclass(frozen=True, slots=True)
class SkillFile:
    size: int
    digest: str


@dataclass(frozen=True, slots=True)
class StoredSkill:
    """One version. `files` are those beside `SKILL.md`, by their paths."""

    name: str
    version: int
    description: str
    instructions: str
    files: Mapping[str, SkillFile]
    pushed_at: str


@dataclass(frozen=True, slots=True)
class SkillHead:
    """What lists show of a skill."""

    name: str
    latest: int
    description: str
    pushed_at: str


class SkillStore:
    def __init__(self, items: ItemStore, blobs: BlobStore) -> None:
        self._items = items
        self._blobs = blobs
        self._documents = Documents(blobs)

    def push(
        self, name: str, description: str, instructions: str, files: Mapping[str, bytes], moment: str
    ) -> StoredSkill:
        """Stores the next version; two at once get versions of their own. What the latest version says already is not
        stored again, so that a push whose outcome got lost can be repeated."""
        described = {path: self._keep(name, content) for path, content in files.items()}
        while True:
            latest = self.latest(name)
            if latest is not None and (latest.description, latest.instructions, latest.files) == (
                description,
                instructions,
                described,
            ):
                return latest
            version = latest.version + 1 if latest is not None else 1
            skill = StoredSkill(name, version, description, instructions, described, moment)
            guard = Equals("latest", latest.version) if latest is not None else missing("workflows")
            try:
                self._items.transact(
                    [
                        Put("workflows", _pointer(skill), guard),
                        Put("workflows", self._version(skill), missing("workflows")),
                    ]
                )
            except (WriteRefused, WriteConflict):
                continue
            return skill

    def listed(self) -> list[SkillHead]:
        """By name."""
        return [_from_pointer(item) for item in self._items.query_index(WORKFLOWS_LISTED, LISTED)]

    def latest(self, name: str) -> StoredSkill | None:
        item = self._items.get(Key("workflows", _partition(name), _POINTER))
        return self.version(name, item["latest"]) if item is not None else None

    def version(self, name: str, version: int) -> StoredSkill | None:
        item = self._items.get(Key("workflows", _partition(name), version)) if version > _POINTER else None
        return self._from_version(name, item) if item is not None else None

    def at(self, name: str, moment: str) -> StoredSkill | None:
        """The newest version at that moment; None when there was none yet."""
        beyond: int | None = None
        while True:
            page = self._items.query("workflows", _partition(name), after=beyond, limit=_PAGE, descending=True)
            for item in page:
                if item["version"] != _POINTER and item["pushedAt"] <= moment:
                    return self._from_version(name, item)
            if len(page) < _PAGE:
                return None
            beyond = page[-1]["version"]

    def read(self, name: str, file: SkillFile) -> bytes:
        content = self._blobs.get(_place(name, file.digest))
        if content is None:
            raise Unavailable(f"a file of the skill {name} is not in object storage")
        return content

    def _keep(self, name: str, content: bytes) -> SkillFile:
        digest = hashlib.sha256(content).hexdigest()
        self._blobs.put(_place(name, digest), content)
        return SkillFile(len(content), digest)

    def _version(self, skill: StoredSkill) -> Item:
        told = {
            "description": skill.description,
            "instructions": skill.instructions,
            "files": {path: {"size": file.size, "sha256": file.digest} for path, file in skill.files.items()},
        }
        document = self._documents.pack(f"skills/{skill.name}/{skill.version}.json", told)
        return {
            "name": _partition(skill.name),
            "version": skill.version,
            "v": _SHAPE,
            "pushedAt": skill.pushed_at,
        } | document.attributes

    def _from_version(self, name: str, item: Item) -> StoredSkill:
        told = self._documents.unpack(item)
        return StoredSkill(
            name=name,
            version=item["version"],
            description=told["description"],
            instructions=told["instructions"],
            files={path: SkillFile(file["size"], file["sha256"]) for path, file in told["files"].items()},
            pushed_at=item["pushedAt"],
        )


def _pointer(skill: StoredSkill) -> Item:
    return {
        "name": _partition(skill.name),
        "version": _POINTER,
        "v": _SHAPE,
        "latest": skill.version,
        "skill": skill.name,
        "description": skill.description,
        "pushedAt": skill.pushed_at,
        "listed": LISTED,
    }


def _from_pointer(item: Item) -> SkillHead:
    return SkillHead(item["skill"], item["latest"], item["description"], item["pushedAt"])


def _partition(name: str) -> str:
    return f"#skill:{name}"


def _place(name: str, digest: str) -> str:
    return f"skills/{name}/files/{digest}"
