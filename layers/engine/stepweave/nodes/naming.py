"""What a node calls what it gives (contract §2): its declared outputs, `result` where it declares none."""

from collections.abc import Iterator
from typing import Any

from stepweave.graph.model import Node
from stepweave.graph.problem import quoted
from stepweave.graph.spec import Field
from stepweave.texts import Text

RESULT = "result"


def output_fields(node: Node) -> tuple[Field, ...]:
    """The declared outputs of a node that may have several; a single string `result` where it declares none."""
    return node.common.output_fields or (Field(RESULT),)


def single_output(node: Node) -> tuple[Field, Text | None]:
    """The output of a node that has one only: the first declared, and a warning where there are more."""
    first, *others = output_fields(node)
    if not others:
        return first, None
    ignored = ", ".join(quoted(field.name) for field in others)
    return first, Text(
        f"节点 {quoted(node.id)} 只有一个输出，使用 {quoted(first.name)}，忽略 {ignored}",
        f"node {quoted(node.id)} has a single output: {quoted(first.name)} is used, {ignored} not",
    )


def resolve_output_var_name(node: Node) -> str:
    """The name under which a node with a single output gives it."""
    return single_output(node)[0].name


def repeated(items: Any, field: str) -> Iterator[int]:
    """The places of the objects in a list, of any JSON, that repeat the name an earlier one has in `field`."""
    seen: set[str] = set()
    for index, item in enumerate(items if isinstance(items, list) else []):
        name = item.get(field) if isinstance(item, dict) else None
        if not isinstance(name, str):
            continue
        if name in seen:
            yield index
        seen.add(name)
