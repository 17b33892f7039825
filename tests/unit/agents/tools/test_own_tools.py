"""`todo` and the files of the run."""

import asyncio
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from stepweave.agents.tools.clarify import TOOL
from stepweave.agents.tools.files import Files
from stepweave.agents.tools.lent import Lent
from stepweave.agents.tools.table import ALWAYS, TOOLS, make_tool
from stepweave.agents.tools.toolbox import Toolbox, ToolResult
from stepweave.web.transport import GuardedTransport
from tests.unit.agents.work import MemoryWorkspace


class Kit:
    def __init__(self, **files: bytes) -> None:
        self.workspace = MemoryWorkspace({path.replace("_", "."): content for path, content in files.items()})
        self.todos: list[Any] = []
        lent = Lent(Files(self.workspace, None), GuardedTransport(), self.todos.append)
        self.box = Toolbox([TOOL, *(make_tool(name, lent) for name in TOOLS)], "en")

    def call(self, tool: str, **arguments: Any) -> ToolResult:
        return asyncio.run(self.box.call(tool, arguments))


def test_the_table_leads_to_tools_of_those_names() -> None:
    assert {tool.name for tool in Kit().box.tools} == set(TOOLS) | ALWAYS


def test_schemas_are_schemas_with_a_description_for_the_model() -> None:
    for tool in Kit().box.tools:
        Draft202012Validator.check_schema(dict(tool.schema))
        assert tool.schema["type"] == "object"
        assert "title" not in tool.schema
        assert tool.description


def test_a_todo_list_is_told_whole_each_time() -> None:
    kit = Kit()
    assert kit.call("todo", todos=[{"text": "A", "status": "completed"}, {"text": "B"}]).content == {
        "todos": 2,
        "completed": 1,
    }
    kit.call("todo", todos=[])
    assert kit.todos == [[{"text": "A", "status": "completed"}, {"text": "B", "status": "pending"}], []]


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"todos": "A"},
        {"todos": [{"status": "x"}]},
        {"todos": [{"text": "x" * 501}]},
        {"todos": [{"text": "x"}] * 101},
    ],
)
def test_a_todo_list_that_is_none_is_refused_and_not_told(arguments: dict[str, Any]) -> None:
    kit = Kit()
    result = kit.call("todo", **arguments)
    assert (result.success, kit.todos) == (False, [])
    assert "todos" in result.content


def test_everything_that_does_not_fit_is_told_at_once() -> None:
    result = Kit().call("write_file", path=5)
    assert "path must be a string" in result.content
    assert "content is missing" in result.content


def test_what_is_written_is_listed_and_read() -> None:
    kit = Kit(a_txt=b"hi")
    assert kit.call("write_file", path="notes/b.md", content="你好").content == {"path": "notes/b.md", "bytes": 6}
    assert kit.call("list_files").content == {
        "files": [{"path": "a.txt", "bytes": 2}, {"path": "notes/b.md", "bytes": 6}]
    }
    assert kit.call("list_files", folder="notes/").content == {"files": [{"path": "notes/b.md", "bytes": 6}]}
    assert kit.call("read_file", path="notes/b.md").content["text"] == "你好"


def test_a_long_file_is_read_page_by_page() -> None:
    kit = Kit(long_txt=b"ab" * 40_000)
    first = kit.call("read_file", path="long.txt").content
    assert (len(first["text"]), first["nextOffset"], first["bytes"]) == (50_000, 50_000, 80_000)
    rest = kit.call("read_file", path="long.txt", offset=first["nextOffset"]).content
    assert len(rest["text"]) == 30_000
    assert "nextOffset" not in rest


@pytest.mark.parametrize("content", [b"\x89PNG\r\n\0", b"\xff\xfe\x00", b"caf\xe9"])
def test_a_file_that_is_no_text_is_told_as_such(content: bytes) -> None:
    told = Kit(image_png=content).call("read_file", path="image.png").content
    assert told == {"path": "image.png", "bytes": len(content), "binary": True}


def test_a_mark_at_the_beginning_of_a_text_is_no_part_of_it() -> None:
    assert Kit(a_txt=b"\xef\xbb\xbfhi").call("read_file", path="a.txt").content["text"] == "hi"


def test_many_files_are_listed_in_part_and_counted() -> None:
    told = Kit(**{f"f{n:04}": b"" for n in range(600)}).call("list_files").content
    assert (len(told["files"]), told["more"]) == (500, 100)


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("read_file", {"path": "../etc/passwd"}),
        ("read_file", {"path": "nowhere.txt"}),
        ("read_file", {"path": ""}),
        ("read_file", {"path": "a.txt", "offset": -1}),
        ("write_file", {"path": "/etc/passwd", "content": "x"}),
        ("write_file", {"path": "a.txt", "content": "x" * 1_000_001}),
    ],
)
def test_what_cannot_be_done_is_told_and_not_done(tool: str, arguments: dict[str, Any]) -> None:
    kit = Kit(a_txt=b"hi")
    result = kit.call(tool, **arguments)
    assert not result.success
    assert isinstance(result.content, str)
    assert kit.workspace.files == {"a.txt": b"hi"}
