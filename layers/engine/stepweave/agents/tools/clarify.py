"""`clarify`: a question to the person (AskFor). Its result is the answer, which may come days later."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field
from pydantic.alias_generators import to_camel

from stepweave.agents.tools.toolbox import Asks, Tool, schema_of, take
from stepweave.execution.pause import Option, Question

CLARIFY = "clarify"


def _row(option: Any) -> Any:
    """Models write an option as plain text too."""
    return {"label": option} if isinstance(option, str) else option


class _Option(BaseModel):
    label: str = Field(min_length=1, max_length=500, description="What the person reads.")
    value: str = Field("", max_length=500, description="What you get when it is chosen; the label when left out.")


class _Ask(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True)

    question: str = Field(min_length=1, max_length=4000, pattern=r"\S", description="One question, in plain words.")
    options: list[Annotated[_Option, BeforeValidator(_row)]] = Field(
        default_factory=list, max_length=50, description="The answers to choose from; none for a free answer."
    )
    allow_custom: bool = Field(False, description="With options: the person may also answer in other words.")
    placeholder: str = Field("", max_length=500, description="A hint shown in the empty answer field.")
    multiple: bool = Field(False, description="Several options may be chosen.")


def question_of(arguments: Mapping[str, Any]) -> Question:
    """Raises `ToolFailed` where the arguments ask nothing."""
    ask = take(_Ask, arguments)
    return Question(
        question=ask.question,
        options=tuple(Option(option.label, option.value or option.label) for option in ask.options),
        allow_custom=ask.allow_custom,
        placeholder=ask.placeholder,
        multiple=ask.multiple,
    )


async def _run(arguments: Mapping[str, Any]) -> Any:
    raise Asks(question_of(arguments))


TOOL = Tool(
    name=CLARIFY,
    description=(
        "Asks the person a question and waits for the answer, for as long as it takes. "
        "Use it when you cannot go on without knowing, and never for what you can find out yourself."
    ),
    schema=schema_of(_Ask),
    run=_run,
    asks=True,
)
