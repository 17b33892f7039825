"""The values that items hold as DynamoDB writes them, and back: text, whole numbers, booleans, null, bytes, lists, maps.

boto3 has this for every type that DynamoDB knows, with decimals for all numbers: several times slower, and importing it
brings in all of boto3, which a cold start feels.
"""

from typing import Any


def to_attribute(value: Any) -> dict[str, Any]:
    """Raises `TypeError` for what no item holds, fractions among it: they would be compared as decimals."""
    match value:
        case str():
            return {"S": value}
        case bool():
            return {"BOOL": value}
        case int():
            return {"N": str(value)}
        case None:
            return {"NULL": True}
        case dict():
            return {"M": {name: to_attribute(part) for name, part in value.items()}}
        case list() | tuple():
            return {"L": [to_attribute(part) for part in value]}
        case bytes():
            return {"B": value}
        case _:
            raise TypeError(f"an item cannot hold {type(value).__name__}: {value!r}")


def from_attribute(attribute: dict[str, Any]) -> Any:
    [(kind, value)] = attribute.items()
    match kind:
        case "S" | "BOOL" | "B":
            return value
        case "N":
            return int(value)
        case "NULL":
            return None
        case "M":
            return {name: from_attribute(part) for name, part in value.items()}
        case "L":
            return [from_attribute(part) for part in value]
        case _:
            raise TypeError(f"no item holds the DynamoDB type {kind}")
