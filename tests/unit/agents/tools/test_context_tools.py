"""The five tools that ask what came before: opened when first used, counted over the visit, closed with it."""

import asyncio
import time
from collections.abc import Iterator, Mapping
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest

from stepweave.agents.tools import context
from stepweave.agents.tools.context import MOST_CALLS, context_tools
from stepweave.agents.tools.context_arguments import OFFERS
from stepweave.agents.tools.context_client import ContextClient
from stepweave.agents.tools.toolbox import RESULT_CHARACTERS, Toolbox, ToolResult
from stepweave.agents.transcript import Transcript
from stepweave.execution.context_query import ContextQuery
from tests.unit.agents.work import RecordingWork

TOKEN = "0" * 48


@dataclass
class Router:
    """What is lent to the tools. `asked` are the routes and bodies, `open` how often it stands open, `opened` how often
    it has been."""

    data: Any = field(default_factory=dict)
    opening_takes: float = 0.0
    open: int = 0
    opened: int = 0
    asked: list[tuple[str, Mapping[str, Any]]] = field(default_factory=list)

    @contextmanager
    def lend(self) -> Iterator[ContextQuery]:
        time.sleep(self.opening_takes)
        self.open += 1
        self.opened += 1
        try:
            yield ContextQuery("http://127.0.0.1:1", TOKEN, "0000c0de", "v4")
        finally:
            self.open -= 1

    async def answer(self, route: str, body: Mapping[str, Any]) -> Any:
        self.asked.append((route, body))
        return self.data


@pytest.fixture
def router(monkeypatch: pytest.MonkeyPatch) -> Router:
    router = Router()
    monkeypatch.setattr(ContextClient, "ask", lambda _, route, body: router.answer(route, body))
    return router


def call(
    router: Router, *calls: tuple[str, Mapping[str, Any]], transcript: Transcript | None = None
) -> list[ToolResult]:
    told = transcript or Transcript(RecordingWork())

    async def calling() -> list[ToolResult]:
        results = []
        async with AsyncExitStack() as stack:
            box = Toolbox(context_tools(router.lend, "en", told, stack), "en")
            for name, arguments in calls:
                result = await box.call(name, arguments)
                told.result(name, arguments, result.content, success=result.success)
                results.append(result)
        return results

    return asyncio.run(calling())


def test_their_names_are_those_of_the_contract() -> None:
    assert list(OFFERS) == [
        "get_predecessor_paths",
        "get_node_output",
        "get_node_meta",
        "workflow_context_list",
        "workflow_context_get",
    ]
    assert "there may be more" in OFFERS["get_predecessor_paths"].description


def test_nothing_is_opened_before_something_is_asked(router: Router) -> None:
    call(router)
    assert router.opened == 0


def test_each_asks_its_route_and_all_share_one_opening(router: Router) -> None:
    results = call(
        router,
        ("get_predecessor_paths", {}),
        ("get_node_output", {"nodeId": "B", "field": "result"}),
        ("get_node_meta", {"node_id": "B", "kind": "TODO", "iter_seq": 2}),
        ("workflow_context_list", {}),
        ("workflow_context_get", {"nodeId": "B", "field": "data.a", "path": "b[0]"}),
    )
    assert all(result.success for result in results)
    assert router.asked == [
        ("path", {"visitUuid": "v4"}),
        ("output", {"nodeId": "B", "field": "result", "iterSeq": None}),
        ("meta", {"nodeId": "B", "visitUuid": None, "kind": "TODO", "iterSeq": 2}),
        ("meta", {"kind": "FIELDS"}),
        ("meta", {"kind": "VALUE", "nodeId": "B", "field": "data.a", "path": "b[0]"}),
    ]
    assert (router.opened, router.open) == (1, 0)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("get_node_output", {}),
        ("get_node_output", {"nodeId": 5}),
        ("get_node_output", {"nodeId": "B", "iterSeq": 0}),
        ("get_node_meta", {"nodeId": "B", "kind": "SECRETS"}),
        ("workflow_context_get", {"nodeId": "x" * 65}),
    ],
)
def test_arguments_that_do_not_fit_ask_nothing(router: Router, name: str, arguments: Mapping[str, Any]) -> None:
    [result] = call(router, (name, arguments))
    assert not result.success
    assert router.asked == []


def test_the_51st_call_is_refused(router: Router) -> None:
    results = call(router, *[("workflow_context_list", {})] * (MOST_CALLS + 1))
    assert [result.success for result in results] == [True] * 50 + [False]
    assert "50" in results[-1].content
    assert len(router.asked) == 50


def test_calls_of_an_earlier_invocation_count(router: Router) -> None:
    before = Transcript(RecordingWork())
    call(router, *[("get_predecessor_paths", {})] * 30, transcript=before)
    again = Transcript(RecordingWork(), told=before.to_json())
    results = call(router, *[("get_node_output", {"nodeId": "B"})] * 21, transcript=again)
    assert [result.success for result in results].count(True) == 20


def test_other_tools_do_not_count(router: Router) -> None:
    transcript = Transcript(RecordingWork())
    for _ in range(60):
        transcript.result("todo", {}, "done", success=True)
    [result] = call(router, ("workflow_context_list", {}), transcript=transcript)
    assert result.success


def test_what_is_too_much_for_a_model_is_cut_and_marked(router: Router) -> None:
    router.data = {"nodeId": "B", "data": {"a": "x" * 90_000, "b": "y" * 90_000}}
    [result] = call(router, ("get_node_output", {"nodeId": "B"}))
    assert result.content["truncated"] is True
    assert len(str(result.content)) < RESULT_CHARACTERS
    router.data = {"nodeId": "B", "data": "x" * 90_000}
    [whole] = call(router, ("get_node_output", {"nodeId": "B"}))
    assert whole.content == router.data


def test_an_opening_that_nobody_waits_for_any_more_is_closed_all_the_same(
    router: Router, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(context, "_CALL_SECONDS", 0.02)
    router.opening_takes = 0.2
    [result] = call(router, ("workflow_context_list", {}))
    assert not result.success
    assert (router.opened, router.open) == (1, 0)


def test_a_router_elsewhere_is_refused_by_every_tool(monkeypatch: pytest.MonkeyPatch) -> None:
    @contextmanager
    def elsewhere() -> Iterator[ContextQuery]:
        yield ContextQuery("http://example.com", TOKEN, "0000c0de", "v4")

    foreign = Router()
    monkeypatch.setattr(foreign, "lend", elsewhere)
    results = call(foreign, ("get_predecessor_paths", {}), ("get_node_output", {"nodeId": "B"}))
    assert [result.success for result in results] == [False, False]
    assert TOKEN not in str(results)
