"""What a model is shown of large values (contract §6): 100 KB of each, and of all together what an answer can hold."""

from collections.abc import Mapping, Sequence
from typing import Any

from stepweave.services.wire import encode

VALUE_BYTES = 100 * 1024
ALL_BYTES = 1024 * 1024


def cut_value(value: Any, most: int = VALUE_BYTES) -> tuple[Any, bool]:
    """The value, or the beginning of its text, of JSON where it is no text, in `most` bytes; and whether it was cut."""
    content = value.encode(errors="surrogatepass") if isinstance(value, str) else encode(value)
    if len(content) <= most:
        return value, False
    return content[:most].decode(errors="ignore"), True


def cut_fields(data: Mapping[str, Any]) -> tuple[dict[str, Any], bool]:
    """Each value cut by itself; fields for which there is no room left are left out."""
    shown: dict[str, Any] = {}
    room, is_cut = ALL_BYTES, False
    for name, value in data.items():
        if room <= 0:
            return shown, True
        shown[name], shorter = cut_value(value, min(VALUE_BYTES, room))
        is_cut = is_cut or shorter
        room -= len(encode(name)) + len(encode(shown[name]))
    return shown, is_cut


def cut_list(entries: Sequence[Any]) -> tuple[list[Any], bool]:
    """As many entries from the beginning as have room."""
    if len(encode(entries)) <= VALUE_BYTES:
        return list(entries), False
    shown: list[Any] = []
    room = VALUE_BYTES
    for entry in entries:
        room -= len(encode(entry))
        if room < 0:
            return shown, True
        shown.append(entry)
    return shown, False
