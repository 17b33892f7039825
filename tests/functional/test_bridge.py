"""The bundled Hermes Bridge: what it answers, to whom, and what it stops when nobody listens any more."""

import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from stepweave.agents.bridge.wire import MOST_BYTES
from stepweave.agents.models import ModelSettings
from stepweave.agents.script import Play
from stepweave.event_stream import Message, MessageReader
from tests.functional.bridge_server import bridge_server
from tests.functional.openai_server import fails, openai_server
from tests.unit.agents.work import ModelsOf

PAGE = Path(__file__).parents[2] / "docs" / "hermes-bridge.md"
HISTORY = "⟨history⟩"


def body(*turns: list[dict[str, Any]], **fields: Any) -> dict[str, Any]:
    return {
        "protocol": 1,
        "model": "scripted:inline",
        "prompt": "go",
        "language": "en",
        "script": list(turns),
        **fields,
    }


@contextmanager
def client(url: str, **headers: str) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=url, headers=headers, timeout=60, trust_env=False) as made:
        yield made


def post(url: str, content: Any, **headers: str) -> httpx.Response:
    with client(url, **headers) as made:
        return made.post("/run", json=content)


def events(answer: httpx.Response) -> list[tuple[str, Any]]:
    assert (answer.status_code, answer.headers["content-type"].split(";")[0]) == (200, "text/event-stream")
    return parse(answer.content)


def parse(content: bytes) -> list[tuple[str, Any]]:
    messages: list[Message] = MessageReader().feed(content)
    return [(message.event, json.loads(message.data)) for message in messages if message.data]


def test_the_example_of_the_page_is_what_happens() -> None:
    blocks = re.findall(
        r"```(json|text)\n(.*?)```", PAGE.read_text(encoding="utf-8").partition("## An example")[2], re.DOTALL
    )
    assert [kind for kind, _ in blocks] == ["json", "text"] * 2
    history: Any = None
    with bridge_server() as url:
        for (_, request), (_, answer) in zip(blocks[::2], blocks[1::2], strict=True):
            asked = json.loads(request)
            if "history" in asked:
                assert asked["history"] == HISTORY
                asked["history"] = history
            told = events(post(url, asked))
            history = told[-1][1].get("history")
            shown = [(kind, {**data, "history": HISTORY} if "history" in data else data) for kind, data in told]
            assert shown == parse(answer.encode())


def test_who_shows_no_token_is_refused() -> None:
    with bridge_server(token="geheim") as url:
        for wrong in ("", "geheim", "Bearer wrong", "Bearer geheim2", "Basic geheim"):
            refused = post(url, body([{"text": "hi"}]), Authorization=wrong)
            assert (refused.status_code, refused.json()) == (401, {"error": "the token is missing or wrong"})
        assert events(post(url, body([{"text": "hi"}]), Authorization="Bearer geheim"))[-1][0] == "result"


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"{", "the body is no JSON"),
        (b"[]", "the body does not fit"),
        (b'{"protocol": 2, "model": "m", "prompt": "p"}', "protocol"),
        (b'{"model": "m"}', "prompt is missing"),
        (b'{"model": "m", "prompt": "p", "usage": {"inputTokens": -1}}', "usage.inputTokens"),
    ],
)
def test_a_body_that_does_not_fit_is_refused(content: bytes, told: str) -> None:
    with bridge_server() as url, client(url) as made:
        refused = made.post("/run", content=content, headers={"Content-Type": "application/json"})
    assert refused.status_code == 400
    assert told in refused.json()["error"]


def test_a_page_in_a_browser_cannot_send_a_request_unasked() -> None:
    with bridge_server() as url, client(url) as made:
        assert made.post("/run", content=b"{}", headers={"Content-Type": "text/plain"}).status_code == 415


def test_a_body_that_is_too_large_is_refused() -> None:
    with bridge_server() as url, client(url) as made:
        content = b" " * (MOST_BYTES + 1)
        assert made.post("/run", content=content, headers={"Content-Type": "application/json"}).status_code == 413


def test_a_history_of_another_bridge_is_refused_for_good() -> None:
    with bridge_server() as url:
        told = events(post(url, body([{"text": "hi"}], history=["strange"])))
    assert told == [("failure", {"message": "the history is none that this bridge has written", "retryable": False})]


def test_a_model_without_its_key_is_told_in_the_language_of_the_run() -> None:
    with bridge_server() as url:
        [(kind, failure)] = events(post(url, body(model="openai:gpt-5", language="zh")))
    assert (kind, failure["retryable"]) == ("failure", False)
    assert "请设置 OPENAI_API_KEY" in failure["message"]


def test_limits_count_over_the_whole_conversation() -> None:
    spent = {"usage": {"inputTokens": 8, "outputTokens": 2}}
    with bridge_server() as url:
        [(kind, failure)] = events(post(url, body([{"text": "hi"}], maxTotalTokens=10, **spent)))
    assert (kind, failure["retryable"]) == ("failure", False)
    assert "maxTotalTokens" in failure["message"]


def test_what_is_a_fault_of_the_bridge_is_told_without_its_words(caplog: pytest.LogCaptureFixture) -> None:
    class Broken:
        def open(self, name: str, play: Play) -> Any:
            raise LookupError("internal words")

    with bridge_server(Broken()) as url:
        [(kind, failure)] = events(post(url, body([])))
    assert (kind, failure["retryable"]) == ("failure", True)
    assert "internal words" not in failure["message"]
    assert "internal words" in caplog.text


def test_a_model_that_is_slow_is_bridged_by_signs_of_life() -> None:
    with bridge_server(keep_alive=0.02) as url:
        answer = post(url, body([{"delayMs": 300}, {"text": "hi"}]))
    assert answer.content.count(b":keep-alive\n\n") >= 2
    assert [kind for kind, _ in events(answer)] == ["step", "thinking", "result"]


def test_a_client_that_leaves_stops_the_model() -> None:
    stopped = threading.Event()

    class Noticing(ModelsOf):
        def open(self, name: str, play: Play) -> Any:
            opened = super().open(name, play)
            closing = opened.model.__class__.__aexit__

            class Model(opened.model.__class__):  # type: ignore[name-defined, misc]
                async def __aexit__(self, *reason: Any) -> Any:
                    stopped.set()
                    return await closing(self, *reason)

            opened.model.__class__ = Model
            return opened

    with bridge_server(Noticing(ModelSettings())) as url, client(url) as made:
        with made.stream("POST", "/run", json=body([{"text": "a"}, {"delayMs": 3_600_000}])) as answer:
            next(answer.iter_bytes())
            assert not stopped.is_set()
        assert stopped.wait(10)


def test_the_key_of_a_model_is_never_told() -> None:
    with (
        openai_server(fails(400, "no such key: sk-very-secret")) as openai,
        bridge_server(openai_base_url=openai.base_url, openai_api_key="sk-very-secret") as url,
    ):
        answer = post(url, body(model="openai:m"))
        assert openai.keys == ["sk-very-secret"]
    assert "no such key: ***" in events(answer)[-1][1]["message"]
    assert b"sk-very-secret" not in answer.content
