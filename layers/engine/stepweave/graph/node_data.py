"""The data that every node may carry, whatever its type (contract §2, "Common node data")."""

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field

from stepweave.graph import spec
from stepweave.graph.shape import DataModel, Fault, refuse
from stepweave.texts import Text

FieldType = Literal["string", "number", "boolean", "array", "object", "filePath"]
FailStrategy = Literal["abort", "skip"]

_YEAR_SECONDS = 365 * 24 * 3600
_MAX_PATH = 1_000


def _not_blank(name: str) -> str:
    if not name.strip():
        raise refuse(Text("不能为空", "must not be blank"))
    return name


def _is_jmespath(path: str) -> str:
    if not path:
        return path
    import jmespath  # takes longer to import than all of this package, and few nodes have a path

    try:
        jmespath.compile(path)
    except (ValueError, RecursionError) as error:  # its own errors are ValueErrors
        raise refuse(Text("不是有效的 JMESPath 表达式", "is not a valid JMESPath expression")) from error
    return path


FieldName = Annotated[str, AfterValidator(_not_blank), Field(max_length=200)]


class InputField(DataModel):
    """One of `inputs[]`. With `source_node_id` it is an explicit mapping (contract §3, resolution order 1)."""

    name: FieldName
    type: FieldType = "string"
    required: bool = False
    default: Any = None
    source_node_id: str = ""
    source_field: str = Field(default="", max_length=_MAX_PATH)
    source_path: Annotated[str, AfterValidator(_is_jmespath)] = Field(default="", max_length=_MAX_PATH)

    @property
    def is_mapped(self) -> bool:
        """An editor leaves an empty string where no source was chosen."""
        return self.source_node_id != ""


class OutputField(DataModel):
    """One of `outputs[]`."""

    name: FieldName
    type: FieldType = "string"
    description: str = ""

    @property
    def field(self) -> spec.Field:
        return spec.Field(self.name, self.type, description=self.description)


class Retry(DataModel):
    """How often a retryable provider failure is tried: the first attempt counts, the wait doubles each time.

    The bounds keep the longest wait below what a `Wait` state of Step Functions can hold.
    """

    max_attempts: int = Field(default=3, ge=1, le=16)
    backoff_seconds: float = Field(default=1.0, ge=0, le=3600)


class Common(DataModel):
    """The common part of a node's data; other fields belong to the node's type and are not looked at here."""

    label: str = ""
    inputs: list[InputField] = Field(default_factory=list)
    outputs: list[OutputField] = Field(default_factory=list)
    fail_strategy: FailStrategy = "abort"
    retry: Retry = Field(default_factory=Retry)
    timeout_seconds: float | None = Field(default=None, gt=0, le=_YEAR_SECONDS)

    @property
    def output_fields(self) -> tuple[spec.Field, ...]:
        return tuple(output.field for output in self.outputs)


def repeated_names(common: Common) -> list[Fault]:
    """A name declared twice in `inputs[]` or in `outputs[]`: nobody could tell which one is meant."""
    faults: list[Fault] = []
    declared: list[tuple[str, list[str]]] = [
        ("inputs", [declaration.name for declaration in common.inputs]),
        ("outputs", [declaration.name for declaration in common.outputs]),
    ]
    for place, names in declared:
        seen: set[str] = set()
        for index, name in enumerate(names):
            if name in seen:
                text = Text("与前面的声明重名，请改名", "repeats the name of an earlier one: rename it")
                faults.append(Fault((place, index, "name"), text))
            seen.add(name)
    return faults
