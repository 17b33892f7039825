"""Plays an agent's scenario over the whole engine, and tells what readers and nodes further on see of it."""

import json
import re
from dataclasses import dataclass
from typing import Any

from stepweave import ids
from tests.functional.api.agent_scenarios import Scenario
from tests.functional.api.definitions import definition
from tests.functional.api.stack import Stack


@dataclass
class Played:
    """A run that has ended."""

    stack: Stack
    run_id: str

    @property
    def envelope(self) -> dict[str, Any]:
        """What the node left, its trace included."""
        body = self.stack.engine.memory.body(self.run_id, ids.visit_uuid(self.run_id, "node", 1))
        assert body is not None
        return dict(body.output)

    @property
    def error(self) -> str | None:
        return self.envelope["message"] if self.envelope["status"] == 400 else None

    @property
    def metadata(self) -> dict[str, Any]:
        told: dict[str, Any] = self.envelope["metadata"]
        return told

    def events(self) -> list[tuple[Any, ...]]:
        """Every event by all that does not differ from run to run; an unbroken stretch of thinking is one event."""
        joined: list[tuple[Any, ...]] = []
        for event in (_told(event["type"], event["data"]) for event in self.stack.events(self.run_id)):
            if event[1] == "thinking" and joined and joined[-1][1] == "thinking":
                joined[-1] = (*joined[-1][:3], joined[-1][3] + event[3], *joined[-1][4:])
            else:
                joined.append(event)
        return joined

    def kinds(self) -> tuple[str, ...]:
        return tuple(event[1] for event in self.events() if event[0] == "node_stream")


def play(model: str, scenario: Scenario, **settings: Any) -> Played:
    """`settings` lead to the provider, which is ready to play the scenario; of a script there is no other."""
    stack = Stack(**settings)
    script = {"script": scenario.script} if model.startswith("scripted") else {}
    words = {"userPrompt": "go"} if scenario.type == "llm" else {"prompt": "go", "instructions": "be good"}
    tools = {"tools": ["todo", "read_file", "write_file"]} if scenario.type == "agent" else {}
    node = {"type": scenario.type, "model": model, **words, **tools, **script, **scenario.data}
    nodes = {"in": {"type": "userInput"}, "node": node, "out": {"type": "output"}}
    stack.save(definition("played", nodes, [("in", "node"), ("node", "out")]))
    run_id = stack.finish_run("played")
    for answer in scenario.answers:
        pause = stack.data("GET", f"/api/v1/runs/{run_id}/state")["currentPause"]
        stack.data("POST", f"/api/v1/runs/{run_id}/resume", {"clarifyId": pause["clarifyId"], "answer": answer})
        stack.drive()
    return Played(stack, run_id)


def _told(kind: str, data: dict[str, Any]) -> tuple[Any, ...]:
    match kind:
        case "node_stream":
            content = _anonymous(data["content"])
            return kind, data["kind"], data["toolName"], content, _anonymous(json.dumps(data.get("data")))
        case "node_status":
            logs = [(entry["type"], entry["message"], entry["detail"]) for entry in data.get("logs") or ()]
            return kind, data["status"], data["nodeId"], data.get("error"), logs
        case "visit_recorded":
            return kind, data["visit"]["status"], data["visit"]["nodeId"], data["visit"]["errorMsg"]
        case _:
            return kind, data.get("error"), without_figures(data.get("output") or {})


def _anonymous(text: str) -> str:
    return re.sub(r"clar-[0-9a-f]{12}", "clar", text)


def without_figures(envelope: dict[str, Any]) -> dict[str, Any]:
    """All of an envelope but what differs from provider to provider."""
    return {name: value for name, value in envelope.items() if name != "metadata"}
