"""Plays every call of the API that answers with JSON, once, and tells what each gave: what examples are held against."""

import json
import re
from collections.abc import Iterator
from typing import Any

from tests.functional.api.definitions import asking, definition, echo
from tests.functional.api.inside import go_to
from tests.functional.api.stack import Stack

SKILL = b"---\nname: release-notes\ndescription: Writes release notes.\n---\n\nWrite them.\n"


def played() -> dict[str, Any]:
    """`{"GET /api/…": data}` by the path as it is described."""
    return dict(_played(Stack(hermes_context_query_public=True)))


def _played(stack: Stack) -> Iterator[tuple[str, Any]]:
    def call(method: str, pattern: str, body: Any = None, query: str = "", **options: Any) -> tuple[str, Any]:
        """The placeholders of the pattern are filled with `names`."""
        path = pattern.format(**names) + query
        return f"{method} {pattern}", stack.data(method, path, body, **{"admin": True} | options)

    names: dict[str, Any] = {"workflow": "echo", "nodeId": "say", "name": "release-notes"}
    yield call("POST", "/api/workflows", echo(title="Echo"))
    stack.save(asking(question="Which?", options=[{"label": "One", "value": "1"}]))
    yield call("POST", "/api/workflows/validate", definition("x", {"in": {"type": "userInput"}}, []))
    yield call("PUT", "/api/workflows/{workflow}", echo(title="Echo"))
    yield call("GET", "/api/workflows")
    yield call("GET", "/api/workflows/{workflow}")
    yield call("GET", "/api/v1/workflows")

    yield (made := call("POST", "/api/v1/workflows/{workflow}/runs", {"variables": {"topic": "tea"}}))
    names["runId"] = made[1]["runId"]
    files = {"files": [{"path": "report.md", "size": 12}]}
    yield call("POST", "/api/v1/workflows/{workflow}/runs/{runId}/uploads", files)
    yield call("POST", "/api/v1/workflows/{workflow}/runs/{runId}/start")
    stack.drive()
    for rest in ("", "/output", "/nodes/{nodeId}/logs", "/nodes/{nodeId}/output"):
        yield call("GET", "/api/v1/workflows/{workflow}/runs/{runId}" + rest)
    yield call("GET", "/api/v1/workflows/{workflow}/runs/{runId}/workspace", query="?redirect=false")
    yield call("GET", "/api/workflows/{workflow}/runs/{runId}/download", query="?redirect=false")
    yield call("GET", "/api/v1/workflows/{workflow}/runs")
    yield call("GET", "/api/v1/runs/{runId}/events", query="?limit=3")
    yield call("GET", "/api/v1/runs/{runId}/graph")
    yield call("GET", "/api/v1/runs/{runId}/nodes")
    yield call("POST", "/api/v1/runs/{runId}/view-token", {"ttlSeconds": 600})
    yield call("GET", "/api/runs/{runId}/nodes")
    yield call("GET", "/api/run-history/runs")
    names["id"] = names["runId"]
    yield call("GET", "/api/run-history/runs/{id}")

    for family in ("/api/v1", "/api/workflows", "/api/chat"):
        names["runId"] = stack.start_run("asking")
        stack.drive()
        yield (asked := call("GET", f"{family}/runs/{{runId}}/state"))
        answer = {"clarifyId": asked[1]["currentPause"]["clarifyId"], "answer": "1"}
        yield call("POST", f"{family}/runs/{{runId}}/resume", answer)
    names["runId"] = stack.start_run("asking")
    yield call("POST", "/api/runs/{runId}/redrive")
    yield call("POST", "/api/v1/runs/{runId}/cancel")

    yield (opened := call("POST", "/api/chat/sessions", {"workflow": "echo", "title": "Tea"}))
    names["sid"] = opened[1]["sessionId"]
    said = {"message": "Hello", "variables": {"topic": "tea"}}
    yield call("POST", "/api/chat/sessions/{sid}/runs", said)
    stack.drive()
    yield call("GET", "/api/chat/sessions/{sid}")

    yield call("POST", "/api/skills", files=[("files", ("SKILL.md", SKILL))])
    yield call("GET", "/api/skills")
    yield call("GET", "/api/skills/{name}")
    yield (key := call("POST", "/api/keys", {"name": "shop", "scopes": ["run"], "workflows": ["echo"]}))
    names["keyId"] = key[1]["keyId"]
    yield call("GET", "/api/keys")
    yield call("DELETE", "/api/keys/{keyId}")

    inside = go_to(stack, echo("seen"), "say", topic="tea")
    yield "POST /internal/context/{route}", inside.data("path", visitUuid=inside.visit.visit_uuid)
    yield call("DELETE", "/api/workflows/{workflow}")


def shape_of(value: Any) -> Any:
    """What is left of a value when only the names in it count: of an array, those of all its elements together."""
    if isinstance(value, dict):
        return {name: shape_of(item) for name, item in value.items()}
    if isinstance(value, list):
        merged: dict[str, Any] = {}
        for item in value:
            if isinstance(item, dict):
                merged |= shape_of(item)
        return [merged]
    return None


def as_examples(answers: dict[str, Any]) -> dict[str, Any]:
    """The answers with ids, times and addresses that are the same whenever they are played."""
    text = json.dumps(answers, ensure_ascii=False)
    for form, names in _STEADY:
        found = dict.fromkeys(re.findall(form, text))
        for number, each in enumerate(found):
            text = text.replace(each, names.format(number, 0xA3F9B2C1 + number))
    examples: dict[str, Any] = json.loads(text)
    return examples


_STEADY = (
    (r'(?<="id": )1\d{10}', "12751050433"),
    (r"chat-[0-9a-f]{12}", "chat-{0:012x}"),
    (r"clar-[0-9a-f]{12}", "clar-{0:012x}"),
    (r"key-[0-9a-f]{12}", "key-{0:012x}"),
    (r"[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}", "6f0f3f0e-4c5a-5d0e-9a52-{0:012x}"),
    (r"(?<=[\"/-])[0-9a-f]{8}(?=[\"/.?])", "{1:08x}"),
    (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}", "2026-12-01T08:30:05.000"),
    (r"sw-[\w-]{40}", "sw-(shown once)"),
    (r"cs-[\w-]{40}", "cs-(shown once)"),
    (r"vt-[\w-]{40}", "vt-(shown once)"),
    (r"memory://blobs", "https://bucket.s3.amazonaws.com"),
    (r"(?<=\"durationMs\": )\d+", "840"),
)
"""What changes from one time to the next, and what stands for it: `{0}` its number among its kind, `{1}` a run's id."""
