"""The structured-output modes of models, where they can ask for what a node declares."""

from typing import Any

from pydantic_ai import NativeOutput, StructuredDict
from pydantic_ai.models import Model

from stepweave.agents.request import LoopRequest

_JSON_TYPES = {"string": "string", "filePath": "string", "number": "number", "boolean": "boolean"}


def native_output(request: LoopRequest, model: Model[Any]) -> NativeOutput[Any] | None:
    """The model's own structured-output mode for the fields, where it has one that can express them all.

    Free objects and arrays cannot be asked for that way: strict modes would make the model answer them empty.
    """
    if not request.fields or not model.profile.get("supports_json_schema_output", False):
        return None
    if any(field.type not in _JSON_TYPES for field in request.fields):
        return None
    properties = {
        field.name: {
            "type": _JSON_TYPES[field.type],
            **({"description": field.description} if field.description else {}),
        }
        for field in request.fields
    }
    schema = {
        "type": "object",
        "properties": properties,
        "required": [field.name for field in request.fields],
        "additionalProperties": False,
    }
    return NativeOutput(StructuredDict(schema, name="outputs"))
