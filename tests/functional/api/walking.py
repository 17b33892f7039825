"""Every call of the API, as the app describes itself: nothing that is added later is forgotten by a test."""

import re
from collections.abc import Iterator, Mapping
from typing import Any


def calls(app: Any, values: Mapping[str, str]) -> Iterator[tuple[str, str, str]]:
    """`(method, pattern, path)` of every call; each parameter of a path must have a value."""
    for pattern, methods in app.openapi()["paths"].items():
        path = re.sub(r"\{(\w+)\}", lambda found: values[found[1]], pattern)
        for method in methods:
            yield method.upper(), pattern, path
    yield "POST", "/mcp", "/mcp"  # speaks a protocol of its own, and describes itself by it
