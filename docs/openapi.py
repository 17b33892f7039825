"""Writes docs/openapi.json, the description of the API as the app gives it: `make openapi`."""

import json
from pathlib import Path
from typing import Any

from stepweave.adapters.memory import MemoryBlobs, MemoryCallbacks, MemoryChains, MemoryItems
from stepweave.api.app import create_app
from stepweave.clock import SystemClock
from stepweave.runtime.engine import Engine, Ports
from stepweave.runtime.equipment import equipment_of
from stepweave.settings import Settings, read_settings, variable_of

PAGE = Path(__file__).with_name("openapi.json")


def description() -> dict[str, Any]:
    """With every call, those included that a deployment may switch off."""
    needed = {variable_of(name): "x" for name, field in Settings.model_fields.items() if field.is_required()}
    settings = read_settings(needed | {"HERMES_CONTEXT_QUERY_PUBLIC": "true"})
    ports = Ports(MemoryItems(), MemoryBlobs(), MemoryChains(), MemoryCallbacks(), SystemClock())
    return create_app(Engine(ports, equipment=equipment_of(settings)), settings, live=True).openapi()


def text() -> str:
    return json.dumps(description(), ensure_ascii=False, indent=1) + "\n"


if __name__ == "__main__":
    PAGE.write_text(text(), "utf-8")
