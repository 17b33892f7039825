"""Structured output (contract §3): asking a model for several values at once, and reading them out of what it says.

Reading never fails: what cannot be read or converted is kept as text, with a warning.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from stepweave.expressions.conversion import convert, load_json
from stepweave.expressions.paths import MISSING
from stepweave.expressions.templates import to_json, to_text
from stepweave.graph.problem import quoted
from stepweave.graph.spec import Field
from stepweave.texts import Text

_INFO = re.compile(r"[A-Za-z0-9_+-]+")  # what may follow the backquotes: ```json


@dataclass(frozen=True, slots=True)
class Reading:
    """The values by the names of the outputs, all of them, and what a person should know about how they were read."""

    values: Mapping[str, Any]
    warnings: tuple[Text, ...] = ()


def instruction(outputs: Sequence[Field]) -> Text:
    """What is added to the end of the prompt: the skeleton of the JSON, and a line for each field."""
    skeleton = ",\n".join(f"  {to_json(output.name)}: <{output.type}>" for output in outputs)
    lines = [
        Text(
            f"- {output.name} ({output.type}): {output.description or '（无描述）'}",
            f"- {output.name} ({output.type}): {output.description or '(no description)'}",
        )
        for output in outputs
    ]
    fields = Text.join(lines, "\n", "\n")
    return Text(
        "\n\n---\n请将最终结果按以下 JSON 格式输出，仅输出 JSON，不要任何额外文字、解释或代码块标记：\n"
        f"{{\n{skeleton}\n}}\n\n字段说明：\n{fields.zh}",
        "\n\n---\nGive the final result as JSON of the following form. Output the JSON only, without any other words, "
        f"explanations or code fences:\n{{\n{skeleton}\n}}\n\nFields:\n{fields.en}",
    )


def read(answer: str, outputs: Sequence[Field]) -> Reading:
    """The outputs out of a model's answer; `outputs` holds one at least.

    A single string is the answer itself; a single output of another type is converted as several are.
    """
    if len(outputs) > 1:
        return _read_several(answer, outputs)
    return Reading({outputs[0].name: answer}) if outputs[0].type == "string" else _read_single(answer, outputs[0])


def read_object(found: Mapping[str, Any], outputs: Sequence[Field]) -> Reading:
    """The outputs out of an object, each converted to its type: also for a model's own structured-output mode."""
    values: dict[str, Any] = {}
    warnings: list[Text] = []
    for output in outputs:
        value = found.get(output.name)
        if value is None:
            values[output.name] = None
            warnings.append(
                Text(
                    f"模型的回答缺少字段 {quoted(output.name)}，按 null 处理",
                    f"the model's answer has no field {quoted(output.name)}: it is null",
                )
            )
            continue
        values[output.name] = convert(value, output.type)
        if values[output.name] is MISSING:
            values[output.name] = to_text(value)
            warnings.append(_not_converted(output))
    return Reading(values, tuple(warnings))


def find_object(answer: str, names: Iterable[str]) -> Mapping[str, Any] | None:
    """The JSON object in a model's answer, in the three steps of contract §3; preferred is one with any of the names."""
    objects = [found for text in _candidates(answer, "{", "}") if isinstance(found := load_json(text), dict)]
    wanted = set(names)
    return next((found for found in objects if not wanted.isdisjoint(found)), objects[0] if objects else None)


def _read_several(answer: str, outputs: Sequence[Field]) -> Reading:
    found = find_object(answer, (output.name for output in outputs))
    if found is not None:
        return read_object(found, outputs)
    first = outputs[0].name
    warning = Text(
        f"模型的回答不是 JSON，全文写入第一个输出 {quoted(first)}，其余输出没有值",
        f"the model's answer is not JSON: the whole text goes to the first output, {quoted(first)}, the others have none",
    )
    return Reading({first: answer}, (warning,))


def _read_single(answer: str, output: Field) -> Reading:
    """The value itself, or an object with nothing but it under the output's name, in the same three steps."""
    for text in _candidates(answer, *("[]" if output.type == "array" else "{}")):
        found = load_json(text)
        if isinstance(found, dict) and list(found) == [output.name]:
            value = convert(found[output.name], output.type)
            if value is not MISSING:
                return Reading({output.name: value})
        value = convert(text, output.type)
        if value is not MISSING:
            return Reading({output.name: value})
    return Reading({output.name: answer}, (_not_converted(output),))


def _candidates(answer: str, opening: str, closing: str) -> Iterator[str]:
    """The three steps: as it stands, inside a fenced block, from the first opening bracket to the last closing one."""
    yield answer.strip()
    for block in answer.split("```")[1::2]:
        if info := _INFO.match(block):
            yield block[info.end() :].strip()
        yield block.strip()
    first, last = answer.find(opening), answer.rfind(closing)
    if 0 <= first < last:
        yield answer[first : last + 1]


def _not_converted(output: Field) -> Text:
    return Text(
        f"字段 {quoted(output.name)} 的值不是 {output.type}，保留为文本",
        f"the value of field {quoted(output.name)} is no {output.type}: it is kept as text",
    )
