"""Values of any size in items of bounded size: what could pass 300 KB goes to object storage by reference.

This is the one place that knows (architecture.md, Tables): callers pack and unpack, and never see where a value lies.
"""

import hashlib
import json
from dataclasses import dataclass
from typing import Any

from stepweave.errors import Unavailable
from stepweave.items import Item
from stepweave.ports import BlobStore

INLINE_BYTES = 300 * 1024


@dataclass(frozen=True, slots=True)
class Document:
    """A value ready to be stored: its attributes for an item, and the bytes they take there."""

    attributes: Item
    weight: int


class Documents:
    def __init__(self, blobs: BlobStore) -> None:
        self._blobs = blobs

    def pack(self, name: str, value: Any) -> Document:
        """Writes a large value to object storage at once, to `name` with the value's checksum in it.

        So two writers that race for one place never overwrite each other: the one whose item is then not written
        leaves an orphan, which goes with the other files of its run.
        """
        text = dump(value)
        content = text.encode()
        if len(content) <= INLINE_BYTES:
            return Document({"json": text}, len(content))
        place = f"{name.removesuffix('.json')}.{hashlib.sha256(content).hexdigest()[:32]}.json"
        self._blobs.put(place, content, "application/json")
        return Document({"blob": place}, len(place))

    def unpack(self, item: Item) -> Any:
        if "json" in item:
            return json.loads(item["json"])
        content = self._blobs.get(item["blob"])
        if content is None:
            raise Unavailable(f"{item['blob']} is not in object storage")
        return json.loads(content)


def weigh(value: Any) -> int:
    """Bytes a value takes as JSON."""
    return len(dump(value).encode())


def dump(value: Any) -> str:
    """Compact JSON. Half a surrogate pair, which JSON may escape but UTF-8 cannot hold, stays escaped."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.dumps(value, separators=(",", ":"))
    return text
