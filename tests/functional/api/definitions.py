"""Workflows for the API's tests, written down as a client sends them."""

from typing import Any


def definition(
    name: str, nodes: dict[str, dict[str, Any]], edges: list[tuple[str, ...]], **fields: Any
) -> dict[str, Any]:
    """Nodes are `{id: {type, …data}}`, edges `(source, target[, handle])`."""
    return {
        "name": name,
        **fields,
        "graphData": {
            "nodes": [
                {"id": node_id, "type": data["type"], "data": {key: data[key] for key in data if key != "type"}}
                for node_id, data in nodes.items()
            ],
            "edges": [
                {"source": edge[0], "target": edge[1], "sourceHandle": edge[2] if len(edge) > 2 else None}
                for edge in edges
            ],
        },
    }


def scripted(text: str, **data: Any) -> dict[str, Any]:
    """An `llm` node that says what it is told to."""
    return {"type": "llm", "model": "scripted:inline", "userPrompt": "go", "script": [[{"text": text}]], **data}


def asking(name: str = "asking", question: str = "Which?", **ask: Any) -> dict[str, Any]:
    asker = {"type": "asker", "ask": {"question": question, **ask}}
    return definition(
        name, {"in": {"type": "userInput"}, "ask": asker, "out": {"type": "output"}}, [("in", "ask"), ("ask", "out")]
    )


def much(name: str, *sizes: int, **data: Any) -> dict[str, Any]:
    """Nodes `much0`, `much1`, … one after another, each of which gives so many bytes."""
    nodes: dict[str, dict[str, Any]] = {"in": {"type": "userInput"}}
    nodes |= {f"much{number}": {"type": "much", "bytes": size, **data} for number, size in enumerate(sizes)}
    nodes["out"] = {"type": "output", "outputs": [{"name": "result"}]}
    return definition(name, nodes, list(zip(nodes, list(nodes)[1:], strict=False)))


def echo(name: str = "echo", **fields: Any) -> dict[str, Any]:
    """Says the input `topic` back."""
    return definition(
        name,
        {
            "in": {
                "type": "userInput",
                "label": "Start",
                "variables": [
                    {"name": "topic", "type": "string", "required": True, "description": "What to say"},
                    {"name": "count", "type": "number", "default": 3},
                ],
            },
            "say": {
                "type": "llm",
                "model": "scripted:inline",
                "userPrompt": "{{topic}}",
                "script": [[{"thinking": "hm "}, {"text": "$prompt"}]],
                "outputs": [{"name": "said", "type": "string"}],
            },
            "out": {"type": "output", "outputs": [{"name": "said", "type": "string", "description": "It"}]},
        },
        [("in", "say"), ("say", "out")],
        **fields,
    )


def failing(name: str = "failing") -> dict[str, Any]:
    broken = {"type": "llm", "model": "scripted:inline", "userPrompt": "go", "script": [[{"error": "no luck"}]]}
    return definition(
        name, {"in": {"type": "userInput"}, "bad": broken, "out": {"type": "output"}}, [("in", "bad"), ("bad", "out")]
    )


def wide(name: str, writers: int) -> dict[str, Any]:
    """Many nodes that all write at once, joined by the output."""
    steps = [{"text": f"{index} "} for index in range(12)]
    nodes: dict[str, dict[str, Any]] = {"in": {"type": "userInput"}}
    edges: list[tuple[str, ...]] = []
    for number in range(writers):
        nodes[f"w{number}"] = {
            "type": "llm",
            "model": "scripted:inline",
            "userPrompt": "go",
            "script": [[step for text in steps for step in (text, {"delayMs": 120})]],
            "outputs": [{"name": f"said{number}", "type": "string"}],
        }
        edges += [("in", f"w{number}"), (f"w{number}", "out")]
    nodes["out"] = {"type": "output"}
    return definition(name, nodes, edges)
