"""The five context tools by name (contract §6): what a model is told of them, and what it may give them."""

from collections.abc import Mapping
from typing import Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

_NODE = Field(min_length=1, max_length=64, description="The id of a node that ran before this one.")
_ITERATION = Field(None, ge=1, description="Which of its visits, from 1; the last one when left out.")


class Arguments(BaseModel):
    """camelCase, as everywhere; snake_case is understood too."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True)


class NoArguments(Arguments):
    """There is nothing to choose."""


class OutputArguments(Arguments):
    node_id: str = _NODE
    field: str | None = Field(None, max_length=500, description="The name of one field; all of them when left out.")
    iter_seq: int | None = _ITERATION


class MetaArguments(Arguments):
    node_id: str | None = Field(None, max_length=64, description="The id of a node that ran before this one.")
    visit_uuid: str | None = Field(None, max_length=64, description="One visit, in place of nodeId and iterSeq.")
    kind: Literal["THINKING", "TOOL_CALLS", "TODO", "ALL"] = Field("ALL", description="What of it is wanted.")
    iter_seq: int | None = _ITERATION


class GetArguments(Arguments):
    node_id: str = _NODE
    field: str | None = Field(
        None, max_length=500, description="A path such as data.result, trace.thinking or metadata.usage."
    )
    path: str | None = Field(None, max_length=500, description="A JMESPath expression that goes on from there.")


class Offer(NamedTuple):
    description: str
    arguments: type[Arguments]


PATHS, OUTPUT, META = "get_predecessor_paths", "get_node_output", "get_node_meta"
LIST, GET = "workflow_context_list", "workflow_context_get"

OFFERS: Mapping[str, Offer] = {
    PATHS: Offer(
        "The paths of nodes by which this run came to you. With 100 of them, or truncated: true, there may be more.",
        NoArguments,
    ),
    OUTPUT: Offer(
        "What an earlier node gave: all fields of its output, or one. truncated: true means that a value was cut.",
        OutputArguments,
    ),
    META: Offer(
        "How an earlier node came to its output: its thinking, tool calls with results, last todo list, and log.",
        MetaArguments,
    ),
    LIST: Offer(
        "The nodes that ran before you, with the names of the fields that can be read of each.",
        NoArguments,
    ),
    GET: Offer(
        "One value that an earlier node left, by a path from its envelope, and a JMESPath expression into it.",
        GetArguments,
    ),
}
