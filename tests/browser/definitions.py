"""Workflows that fill every panel of the viewer."""

from typing import Any

from tests.functional.api.definitions import definition, scripted

MARKDOWN = """## 结论 · Findings

Tea is **old**, and `matcha` is ~~new~~ older than it looks.

| kind | oxidised |
|---|---:|
| green | 0 % |
| black | 100 % |

- [x] read
- [ ] taste

```python
def steep(minutes: int) -> str:
    return f"{minutes} min"  # long lines scroll ----------------------------------------------------------- end
```

Energy: $E = mc^2$, and

$$\\int_0^1 x^2\\,dx = \\frac{1}{3}$$
"""

QUESTION = {
    "question": "**哪一版？** · Which *version* shall it be?",
    "options": [{"label": "v1.0（生产 · production）", "value": "v1"}, {"label": "v2.0（测试 · test）", "value": "v2"}],
    "allowCustom": True,
    "placeholder": "或写下别的 · or something else",
}


def showcase(name: str = "showcase", *, delay: int = 0, ask: bool = True) -> dict[str, Any]:
    """Two inputs, an agent with thinking, tools, a to-do list, files and a question, a condition, an `llm`, an output.
    `delay`: milliseconds between its steps."""
    wait = [{"delayMs": delay}] if delay else []
    todo = [{"text": "查资料 · Read", "status": "done"}, {"text": "写报告 · Write", "status": "in_progress"}]
    turns: list[list[dict[str, Any]]] = [
        [
            {"thinking": "先看看 **有什么** 文件。\n\n1. list the files\n2. write `notes.md`\n"},
            *wait,
            {"todo": [*todo, {"text": "校对 · Check", "status": "pending"}]},
            *wait,
            {"tool": {"name": "list_files", "args": {}}},
        ],
        [
            {"thinking": "\nNow write it down.\n"},
            *wait,
            {"tool": {"name": "write_file", "args": {"path": "notes/tea.md", "content": "# Tea\n"}}},
        ],
        *([[{"ask": QUESTION}]] if ask else []),
        [*wait, {"text": MARKDOWN}],
    ]
    nodes: dict[str, dict[str, Any]] = {
        "in": {
            "type": "userInput",
            "label": "主题 · Topic",
            "variables": [
                {"name": "topic", "type": "string", "required": True, "description": "写什么 · What to write about"},
                {"name": "count", "type": "number", "default": 3},
                {"name": "deep", "type": "boolean", "default": False},
                {"name": "tags", "type": "array"},
                {"name": "source", "type": "filePath"},
            ],
        },
        "study": {
            "type": "agent",
            "label": "研究 · Study",
            "model": "scripted:inline",
            "prompt": "{{topic}}",
            "instructions": "Study it.",
            "tools": ["todo", "list_files", "write_file"],
            "outputs": [{"name": "report", "type": "string"}],
            "script": turns,
        },
        "long": {
            "type": "condition",
            "label": "够长吗 · Long enough?",
            "branches": [
                {"id": "yes", "logic": "AND", "conditions": [{"left": "{{report}}", "operator": "isNotEmpty"}]}
            ],
            "elseBranch": "no",
        },
        "polish": scripted("Polished.", label="润色 · Polish", outputs=[{"name": "final", "type": "string"}]),
        "extend": scripted("More.", label="扩写 · Extend", outputs=[{"name": "more", "type": "string"}]),
        "out": {
            "type": "output",
            "label": "报告 · Report",
            "outputs": [{"name": "report", "type": "string"}, {"name": "final", "type": "string"}],
        },
    }
    edges = [
        ("in", "study"),
        ("study", "long"),
        ("long", "polish", "yes"),
        ("long", "extend", "no"),
        ("polish", "out"),
        ("extend", "out"),
    ]
    made = definition(name, nodes, edges, title="展示 · Showcase", description="填满每个面板 · Fills every panel")
    places = {"in": (0, 100), "study": (240, 100), "long": (480, 100), "polish": (720, 30), "extend": (720, 170)}
    for node in made["graphData"]["nodes"]:
        x, y = places.get(node["id"], (960, 100))
        node["position"] = {"x": x, "y": y}
    return made
