"""`--var`: from what is written to values of the declared types."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepweave.graph.spec import Field
from stepweave_local.command_error import CommandError
from stepweave_local.variables import Given, declared_in, read_variables

DECLARED = [
    Field("text"),
    Field("count", "number"),
    Field("flag", "boolean"),
    Field("list", "array"),
    Field("map", "object"),
    Field("doc", "filePath"),
]


def read(*assignments: str) -> Given:
    return read_variables(assignments, DECLARED)


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("text=a=b", "a=b"),
        ("text=", ""),
        ("text=12", "12"),
        ("count=12", 12),
        ("count=1.5", 1.5),
        ("flag=true", True),
        ("list=[1, 2]", [1, 2]),
        ('map={"a": 1}', {"a": 1}),
        ("doc=a/b.md", "a/b.md"),
        ("text:=12", 12),
        ("text:=null", None),
        ("text=@@home", "@home"),
        ("other=12", "12"),
    ],
)
def test_a_value_has_the_declared_type(written: str, value: Any) -> None:
    assert [*read(written).values.values()] == [value]


@given(st.text())
def test_text_arrives_as_it_was_written(text: str) -> None:
    if not text.startswith("@"):
        assert read(f"text={text}").values == {"text": text}


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(), st.lists, max_leaves=5))
def test_json_arrives_as_it_was_written(value: Any) -> None:
    assert read(f"any:={json.dumps(value)}").values == {"any": value}


def test_files_give_text_json_and_attachments(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("两行\n文本", "utf-8")
    (tmp_path / "a.json").write_text("[1]", "utf-8")
    told = read(f"text=@{tmp_path}/a.txt", f"list:=@{tmp_path}/a.json", f"doc=@{tmp_path}/report.pdf")
    assert told.values == {"text": "两行\n文本", "list": [1], "doc": "report.pdf"}
    assert told.files == [tmp_path / "report.pdf"]


def test_every_fault_is_told_at_once() -> None:
    with pytest.raises(CommandError) as refused:
        read("nonsense", "count=many", "flag=perhaps", "list={}", "text:=oops", "text=@/no/such/file")
    told = str(refused.value).splitlines()
    assert [line.partition(":")[0] for line in told] == [
        "--var nonsense",
        "--var count",
        "--var flag",
        "--var list",
        "--var text",
        "--var text",
    ]
    assert "declared as number: give a number." in told[1]
    assert "write text=… for text" in told[4]
    assert "No such file or directory" in told[5]


def test_missing_variables_say_what_to_add_and_what_was_mistyped() -> None:
    declared = [
        Field("topic", required=True),
        Field("n", "number", required=True),
        Field("k", required=True, default="d"),
    ]
    with pytest.raises(CommandError) as refused:
        read_variables(["topci=tea"], declared)
    assert str(refused.value) == (
        "Required variables are missing: topic (string), n (number). Add --var topic=… --var n=…."
        " (topci: did you mean topic?)"
    )


def test_null_is_missing() -> None:
    with pytest.raises(CommandError, match="topic"):
        read_variables(["topic:=null"], [Field("topic", required=True)])


@pytest.mark.parametrize(
    "definition",
    [{}, {"graphData": []}, {"graphData": {"nodes": [1, {"type": "userInput", "data": {"variables": 3}}]}}],
)
def test_a_definition_of_any_shape_is_read_without_an_error(definition: dict[str, Any]) -> None:
    assert declared_in(definition) == []
