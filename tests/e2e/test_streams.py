"""Many writers, many readers: everyone sees the same events, wherever and whenever they come in (contract §5)."""

import random
import threading
import time
from typing import Any

from tests.e2e.server import Server

WRITERS = 8


def test_readers_at_any_time_and_place_see_the_same_sequence(server: Server) -> None:
    script = [[step for number in range(6) for step in ({"thinking": f"{number} "}, {"delayMs": 60})] + [{"text": "."}]]
    writers = {
        f"w{number}": {"type": "llm", "model": "scripted:inline", "userPrompt": "x", "script": script}
        for number in range(WRITERS)
    }
    nodes = {"in": {"type": "userInput", "variables": []}} | writers | {"out": {"type": "output"}}
    edges = [["in", name] for name in writers] + [[name, "out"] for name in writers]
    run_id = server.start(server.save(nodes, edges))
    seen: dict[int, tuple[int | None, list[tuple[int, dict[str, Any]]]]] = {}

    def read(reader: int, wait: float, after: int | None) -> None:
        time.sleep(wait)
        seen[reader] = (after, list(server.events(run_id, after, seconds=120)))

    chance = random.Random(7)
    places = [(0, 0, None), *((reader, chance.uniform(0, 3), chance.randrange(60)) for reader in range(1, 9))]
    readers = [threading.Thread(target=read, args=place) for place in places]
    for thread in readers:
        thread.start()
    for thread in readers:
        thread.join()
    whole = seen[0][1]
    assert whole[-1][1]["type"] == "workflow_complete"
    assert [number for number, _ in whole] == list(range(1, len(whole) + 1))
    for after, events in seen.values():
        assert events == whole[after or 0 :]
    for name in writers:
        told = "".join(d["content"] for _, d in whole if d.get("kind") == "thinking" and d["nodeId"] == name)
        assert told == "0 1 2 3 4 5 ."


def test_a_long_poll_gives_the_same_as_a_stream(server: Server) -> None:
    nodes = {
        "in": {"type": "userInput", "variables": []},
        "w": {
            "type": "llm",
            "model": "scripted:inline",
            "userPrompt": "x",
            "script": [[{"delayMs": 500}, {"text": "t"}]],
        },
        "out": {"type": "output"},
    }
    run_id = server.start(server.save(nodes, [["in", "w"], ["w", "out"]]))
    polled: list[tuple[int, dict[str, Any]]] = []
    while True:
        after = polled[-1][0] if polled else 0
        page = server.data("GET", f"/api/v1/runs/{run_id}/events?after={after}&limit=3&waitSeconds=10")
        polled += [(event["id"], event["data"]) for event in page["events"]]
        if page["done"]:
            break
    assert polled == list(server.events(run_id))


def test_large_values_pass_through_a_run(server: Server) -> None:
    """An input of 600 KB, an answer of a megabyte: more than an item, a state or an event could hold."""
    given = "变量" * 100_000
    nodes = {
        "in": {"type": "userInput", "variables": [{"name": "given", "type": "string", "required": True}]},
        "w": {
            "type": "llm",
            "model": "scripted:inline",
            "userPrompt": "{{given}}",
            "script": [[{"text": "$prompt"}, {"text": "x" * 500_000}]],
        },
        "out": {
            "type": "output",
            "outputs": [{"name": "result", "type": "string"}, {"name": "given", "type": "string"}],
        },
    }
    workflow = server.save(nodes, [["in", "w"], ["w", "out"]])
    run_id = server.start(workflow, {"given": given})
    end = server.finish(run_id)
    assert end["output"]["data"] == {"result": given + "x" * 500_000, "given": given}
    result = server.data("GET", f"/api/v1/workflows/{workflow}/runs/{run_id}")
    assert result["outputs"]["data"] == end["output"]["data"]
