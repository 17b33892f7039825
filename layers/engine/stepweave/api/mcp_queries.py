"""The context queries as tools of an MCP server (contract §6): the five that models inside a run have, for agents outside.

Who shows a context token asks as its visit does. Who shows an API key names the run, and sees all of it that has ended.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from stepweave import ids
from stepweave.agents.tools.context_arguments import (
    GET,
    LIST,
    META,
    OFFERS,
    OUTPUT,
    PATHS,
    GetArguments,
    MetaArguments,
    NoArguments,
    OutputArguments,
)
from stepweave.agents.tools.toolbox import ToolFailed, schema_of, take
from stepweave.errors import NotFound, RunNotFound
from stepweave.execution.run import Run
from stepweave.graph.topology import Graph
from stepweave.services.context_queries import ContextQueries
from stepweave.services.context_tokens import Grant
from stepweave.services.context_view import ContextView, RunView, VisitView
from stepweave.services.runs import RunService
from stepweave.store.keys import ApiKey
from stepweave.store.runs import Runs
from stepweave.store.workflows import Workflows
from stepweave.texts import Text

_RUN = {
    "type": "string",
    "pattern": ids.RUN_ID.pattern,
    "description": "The run's id; not needed with a context token.",
}
_VISIT = {"type": "string", "description": "The visit that the paths lead to; not needed with a context token."}

Asker = Grant | ApiKey


@dataclass(frozen=True, slots=True)
class McpQueries:
    queries: ContextQueries
    runs: RunService
    store: Runs
    workflows: Workflows

    def offers(self) -> list[tuple[str, str, dict[str, Any]]]:
        """Name, description and JSON schema of the arguments of each tool."""
        return [
            (name, offer.description, _with_run(name, schema_of(offer.arguments))) for name, offer in OFFERS.items()
        ]

    def call(self, asker: Asker, name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """What a query gives. Raises `ToolFailed` with words for the model, `Unavailable`."""
        given = dict(arguments)
        view = self._view(asker, given.pop("runId", None))
        try:
            return self._ask(view, name, given)
        except NotFound as error:
            raise ToolFailed(error.text) from error

    def _ask(self, view: ContextView, name: str, given: dict[str, Any]) -> dict[str, Any]:
        if name == PATHS:
            visit_uuid = given.pop("visitUuid", None) or (
                view.visit.visit_uuid if isinstance(view, VisitView) else None
            )
            take(NoArguments, given)
            if not isinstance(visit_uuid, str):
                raise ToolFailed(_NO_VISIT)
            return self.queries.path(view, visit_uuid)
        if name == OUTPUT:
            output = take(OutputArguments, given)
            return self.queries.output(view, output.node_id, output.field, output.iter_seq)
        if name == META:
            meta = take(MetaArguments, given)
            if meta.visit_uuid is not None:
                return self.queries.meta_of_visit(view, meta.visit_uuid, meta.kind)
            if meta.node_id is None:
                raise ToolFailed(_NO_NODE)
            return self.queries.meta(view, meta.node_id, meta.kind, meta.iter_seq)
        if name == LIST:
            take(NoArguments, given)
            return self.queries.fields(view)
        if name == GET:
            get = take(GetArguments, given)
            return self.queries.value(view, get.node_id, get.field, get.path, None)
        names = ", ".join(OFFERS)
        raise ToolFailed(Text(f"没有这个工具；可用的工具：{names}", f"there is no such tool; the tools are: {names}"))

    def _view(self, asker: Asker, run_id: Any) -> ContextView:
        if isinstance(asker, Grant):
            if run_id is not None and run_id != asker.run.run_id:
                raise ToolFailed(_FOREIGN)
            return VisitView(asker.run, self._graph(asker.run), asker.visit)
        run = self._run_of(asker, run_id)
        return RunView(run, self._graph(run), self.store.visits(run.run_id))

    def _run_of(self, key: ApiKey, run_id: Any) -> Run:
        """Of runs that the key may not see nobody learns whether they exist."""
        if not isinstance(run_id, str) or not ids.RUN_ID.fullmatch(run_id):
            raise ToolFailed(_NO_RUN_ID)
        try:
            run = self.runs.get(run_id)
        except RunNotFound as error:
            raise ToolFailed(_NO_RUN) from error
        if key.workflows is not None and run.workflow not in key.workflows:
            raise ToolFailed(_NO_RUN)
        return run

    def _graph(self, run: Run) -> Graph:
        return self.workflows.graph(run.workflow, run.version)


def _with_run(name: str, schema: dict[str, Any]) -> dict[str, Any]:
    added = {"runId": _RUN} | ({"visitUuid": _VISIT} if name == PATHS else {})
    return {**schema, "properties": added | schema.get("properties", {})}


_NO_VISIT = Text("请给出 visitUuid：路径通向哪次访问", "give a visitUuid: the visit that the paths lead to")
_NO_NODE = Text("请给出 nodeId 或 visitUuid", "give a nodeId or a visitUuid")
_NO_RUN_ID = Text("请给出 runId：8 位小写十六进制数字", "give a runId: 8 lower-case hex digits")
_NO_RUN = Text("运行不存在或已过期", "there is no such run, or it has expired")
_FOREIGN = Text("runId 与 token 不匹配", "the runId is not that of the token")
