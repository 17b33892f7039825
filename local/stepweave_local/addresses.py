"""What calls of the API are made of, apart from the HTTP library, which takes longer to import than all the rest."""

from collections.abc import Mapping
from urllib.parse import quote

Part = tuple[str, tuple[str | None, bytes, str] | tuple[str | None, bytes, str, Mapping[str, str]]]
"""A part of a multipart body: field, then file name, content, content type, and further headers."""


def path(*segments: str | int) -> str:
    """A path of the API out of segments that may hold anything."""
    return "/" + "/".join(quote(str(segment), safe="") for segment in segments)
