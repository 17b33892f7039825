"""Workflow definitions: immutable versions, a pointer to the latest, and a number for those who ask by number."""

import json
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from stepweave.errors import NameTaken, StepweaveError
from stepweave.graph.model import Definition, parse_definition
from stepweave.graph.topology import Graph
from stepweave.items import WORKFLOWS_LISTED, Equals, Item, Key, Put, Update, WriteConflict, WriteRefused, missing
from stepweave.ports import BlobStore, ItemStore
from stepweave.store.documents import Documents
from stepweave.texts import Text

LISTED = "1"
_POINTER = 0  # versions count from 1
_GRAPHS = 64


@dataclass(frozen=True, slots=True)
class Workflow:
    """What lists show of a workflow; `inputs` and `outputs` are those of its latest version (contract §4)."""

    name: str
    workflow_id: int
    latest: int
    title: str | None
    description: str
    inputs: tuple[Mapping[str, Any], ...]
    outputs: tuple[Mapping[str, Any], ...]
    deleted: bool = False


class Workflows:
    def __init__(self, items: ItemStore, blobs: BlobStore) -> None:
        self._items = items
        self._documents = Documents(blobs)
        self._graphs: OrderedDict[tuple[str, int], Graph] = OrderedDict()

    def find(self, name_or_number: str) -> Workflow | None:
        """By name, or by number as a fallback (contract §1); deleted ones too."""
        item = self._items.get(Key("workflows", name_or_number, _POINTER))
        if item is None and name_or_number.isascii() and name_or_number.isdecimal():
            entry = self._items.get(Key("workflows", _number_name(int(name_or_number)), _POINTER))
            item = self._items.get(Key("workflows", entry["workflow"], _POINTER)) if entry else None
        return _from_pointer(item) if item is not None else None

    def listed(self) -> list[Workflow]:
        """Every workflow that is not deleted, by name."""
        return [_from_pointer(item) for item in self._items.query_index(WORKFLOWS_LISTED, LISTED)]

    def create(self, definition: Definition, summary: Mapping[str, Any], moment: str) -> Workflow:
        """Stores version 1 of a new workflow, or the next version of a deleted one. Raises `NameTaken`."""
        known = self.find_by_name(definition.name)
        if known is not None and not known.deleted:
            raise _name_taken(definition.name)
        if known is not None:
            return self.add_version(known, definition, summary, moment)
        number = int(self._items.update(Update(Key("workflows", "#numbers", _POINTER), adds={"last": 1}))["last"])
        entry = {"name": _number_name(number), "version": _POINTER, "workflow": definition.name}
        try:
            self._items.transact(
                [
                    Put("workflows", self._pointer(definition, number, 1, summary), missing("workflows")),
                    Put("workflows", self._version(definition, 1, moment), missing("workflows")),
                    Put("workflows", entry, missing("workflows")),
                ]
            )
        except WriteRefused as refused:
            raise _name_taken(definition.name) from refused
        return self._stored(definition.name)

    def add_version(self, known: Workflow, definition: Definition, summary: Mapping[str, Any], moment: str) -> Workflow:
        """Stores the next version; two at once get versions of their own."""
        while True:
            version = known.latest + 1
            pointer = self._pointer(definition, known.workflow_id, version, summary)
            try:
                self._items.transact(
                    [
                        Put("workflows", pointer, Equals("latest", known.latest)),
                        Put("workflows", self._version(definition, version, moment), missing("workflows")),
                    ]
                )
                return self._stored(known.name)
            except (WriteRefused, WriteConflict):
                known = self._stored(known.name)

    def delete(self, known: Workflow) -> None:
        """Takes it out of every list; its versions stay, so that its runs stay readable."""
        self._items.update(Update(Key("workflows", known.name, _POINTER), sets={"deleted": True}, removes=("listed",)))

    def definition(self, name: str, version: int) -> dict[str, Any] | None:
        """A version as it was saved."""
        item = self._items.get(Key("workflows", name, version)) if version > _POINTER else None
        definition: dict[str, Any] | None = self._documents.unpack(item) if item is not None else None
        return definition

    def graph(self, name: str, version: int) -> Graph:
        """The graph of a saved version. Versions never change, so a warm process reads each once."""
        graph = self._graphs.get((name, version))
        if graph is None:
            definition = self.definition(name, version)
            if definition is None:
                raise StepweaveError(f"version {version} of workflow {name} is gone")
            graph = self._graphs[name, version] = Graph.of(parse_definition(definition))
            if len(self._graphs) > _GRAPHS:
                self._graphs.popitem(last=False)
        self._graphs.move_to_end((name, version))
        return graph

    def find_by_name(self, name: str) -> Workflow | None:
        item = self._items.get(Key("workflows", name, _POINTER))
        return _from_pointer(item) if item is not None else None

    def _stored(self, name: str) -> Workflow:
        workflow = self.find_by_name(name)
        assert workflow is not None, "pointers are never removed"
        return workflow

    def _pointer(self, definition: Definition, number: int, version: int, summary: Mapping[str, Any]) -> Item:
        return {
            "name": definition.name,
            "version": _POINTER,
            "v": 1,
            "id": number,
            "latest": version,
            "title": definition.title or "",
            "description": definition.description or "",
            "summary": json.dumps(summary, ensure_ascii=False),
            "listed": LISTED,
        }

    def _version(self, definition: Definition, version: int, moment: str) -> Item:
        document = self._documents.pack(f"workflows/{definition.name}/{version}.json", definition.to_json())
        return {"name": definition.name, "version": version, "v": 1, "savedAt": moment} | document.attributes


def _from_pointer(item: Item) -> Workflow:
    summary = json.loads(item["summary"])
    return Workflow(
        name=item["name"],
        workflow_id=item["id"],
        latest=item["latest"],
        title=item["title"] or None,
        description=item["description"],
        inputs=tuple(summary["inputs"]),
        outputs=tuple(summary["outputs"]),
        deleted=item.get("deleted", False),
    )


def _number_name(number: int) -> str:
    return f"#{number}"


def _name_taken(name: str) -> NameTaken:
    return NameTaken(
        Text(
            f"工作流 {name} 已存在；要保存新版本请用 PUT /api/workflows/{name}",
            f"there is a workflow {name} already; to save a new version use PUT /api/workflows/{name}",
        )
    )
