"""What docs/context-queries.md shows is what happens."""

import json
import re
from pathlib import Path
from typing import Any

import httpx2
import pytest

from stepweave.agents.tools.context_arguments import OFFERS
from stepweave.agents.tools.toolbox import schema_of
from tests.functional.api.definitions import echo
from tests.functional.api.inside import go_to
from tests.functional.api.stack import Stack, run_async
from tests.functional.api.test_context_queries import chain, in_seed_words

PAGE = (Path(__file__).parents[3] / "docs" / "context-queries.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)


@pytest.mark.parametrize("block", blocks("console"), ids=["path", "output", "meta"])
def test_each_request_of_the_page_has_the_answer_of_the_page(block: str) -> None:
    found = re.search(r"/internal/context/(\w+).* -d '(.*?)'\n(.*)\n", block, re.DOTALL)
    assert found is not None
    route, body, answer = found.groups()
    inside = go_to(Stack(hermes_context_query_public=True), chain(), "G")
    visits = [("A", 1), ("B", 1), ("C", 1), ("G", 1)]
    asked = body.replace("abc12345", inside.run.run_id)
    for number, visit in enumerate(visits, start=1):
        asked = asked.replace(f'"v{number}"', f'"{inside.uuid_of(*visit)}"')
    told = in_seed_words(inside, inside.post(route, json.loads(asked)).json(), *visits)
    assert json.dumps(told) == json.dumps(json.loads(answer))


def test_the_client_of_the_page_is_answered(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    stack = Stack()
    stack.save(echo())
    run_id = stack.finish_run("echo", variables={"topic": "tea"})
    client = httpx2.AsyncClient
    monkeypatch.setattr(
        httpx2, "AsyncClient", lambda **options: client(transport=httpx2.ASGITransport(stack.app), **options)
    )
    [code] = blocks("python")
    names: dict[str, Any] = {}
    exec(code, names)
    [configured] = blocks("json")
    server = json.loads(configured)["mcpServers"]["stepweave"]
    assert list(server["headers"]) == ["X-API-Key"]
    run_async(names["ask"](server["url"], stack.key, run_id))
    assert capsys.readouterr().out == "['in', 'say', 'out']\n{'said': 'tea'}\n"


@pytest.mark.parametrize("name", OFFERS)
def test_each_tool_stands_on_the_page_with_its_arguments(name: str) -> None:
    [row] = re.findall(rf"^\| `{name}` \|([^|]*)\|", PAGE, re.MULTILINE)
    assert set(re.findall(r"`(\w+)\??`", row)) == set(schema_of(OFFERS[name].arguments).get("properties", {}))
