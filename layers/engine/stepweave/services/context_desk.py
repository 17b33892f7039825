"""`POST /internal/context/{path,output,meta}` (contract §6) without HTTP: what a request carries in, status and JSON out.

The same desk answers in the API and on loopback, inside the functions that run agents.
"""

import json
import logging
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, cast

from pydantic import BaseModel, Field

from stepweave.clock import Clock
from stepweave.errors import NotFound, Unavailable
from stepweave.graph import shape
from stepweave.graph.json_value import copy_json
from stepweave.graph.problem import cut
from stepweave.graph.shape import DataModel
from stepweave.services.context_meta import LogKind
from stepweave.services.context_queries import ContextQueries
from stepweave.services.context_tokens import ContextTokens, Grant
from stepweave.services.context_view import VisitView
from stepweave.services.rate_limits import Allowance, RequestLimit, too_many
from stepweave.store.workflows import Workflows
from stepweave.texts import Language, Text

PREFIX = "/internal/context/"
TOKEN_HEADER = "X-Context-Token"  # noqa: S105 - the header's name
MOST_BODY_BYTES = 8 * 1024

_JSON = re.compile(r"application/json\s*(;.*)?", re.IGNORECASE)
_MOST_CHARACTERS = 500

logger = logging.getLogger(__name__)


class PathBody(DataModel):
    """How the run came to the visit that asks."""

    run_id: str
    visit_uuid: str


class OutputBody(DataModel):
    """What a node gave: all of it, or one `field`; in its last visit, or in its `iterSeq`th."""

    run_id: str
    node_id: str
    field: str | None = Field(default=None, max_length=_MOST_CHARACTERS)
    iter_seq: int | None = Field(default=None, ge=1)


class MetaBody(DataModel):
    """How a node came to what it gave. Beside the kinds of the seed: `FIELDS`, what all nodes left, by names, and
    `VALUE`, one value by `field` and `path`, as a mapping reads it (contract §3)."""

    run_id: str
    visit_uuid: str | None = None
    node_id: str | None = None
    kind: Literal["THINKING", "TOOL_CALLS", "TODO", "ALL", "FIELDS", "VALUE"] = "ALL"
    iter_seq: int | None = Field(default=None, ge=1)
    field: str | None = Field(default=None, max_length=_MOST_CHARACTERS)
    path: str | None = Field(default=None, max_length=_MOST_CHARACTERS)


@dataclass(frozen=True, slots=True)
class Request:
    """`tokens` are all values of the token's header, `body` at most a byte more than may come."""

    route: str
    tokens: Sequence[str] = field(repr=False)
    content_type: str
    body: bytes
    language: Language = "zh"


@dataclass(frozen=True, slots=True)
class Answer:
    """`retry_after` is in seconds, where asking again later helps."""

    status: int
    message: Text
    data: Any = None
    retry_after: int | None = None

    def body(self, language: Language) -> dict[str, Any]:
        """`{code, message, data}`."""
        return {"code": self.status, "message": self.message.to(language), "data": self.data}


class ContextDesk:
    """`enabled` is the switch `hermes.context-query.enabled`."""

    def __init__(
        self, tokens: ContextTokens, queries: ContextQueries, workflows: Workflows, clock: Clock, *, enabled: bool
    ) -> None:
        self._tokens = tokens
        self._queries = queries
        self._workflows = workflows
        self._clock = clock
        self._enabled = enabled

    def answer(self, request: Request, *, own_only: bool = False, limit: RequestLimit | None = None) -> Answer:
        """Never raises. `own_only`: only tokens that this process has made are good. `limit` counts visits."""
        began = self._clock.monotonic()
        grant: Grant | None = None
        try:
            if not self._enabled:
                answer = _OFF
            elif request.route not in _ROUTES:
                answer = _NO_ROUTE
            else:
                grant = self._tokens.recognise(request.tokens, own_only=own_only)
                allowance = limit.admit(grant.visit.visit_uuid) if limit is not None and grant is not None else None
                if allowance is not None and not allowance.granted:
                    answer = _too_many(allowance)
                else:
                    answer = self._serve(request, grant) if grant is not None else _NO_TOKEN
        except NotFound as error:
            answer = Answer(404, error.text)
        except Unavailable as error:
            logger.warning("context: unavailable: %s", error)
            answer = _BUSY
        except Exception:
            logger.exception("context: a query failed")
            answer = _BROKEN
        told = {
            "route": request.route if request.route in _ROUTES else None,
            "status": answer.status,
            "run_id": grant.run.run_id if grant else None,
            "visit_uuid": grant.visit.visit_uuid if grant else None,
            "ms": round((self._clock.monotonic() - began) * 1000, 1),
        }
        logger.info("context %(route)s %(status)s", told, extra=told)
        return answer

    def _serve(self, request: Request, grant: Grant) -> Answer:
        if not _JSON.fullmatch(request.content_type.strip()):
            return _NO_JSON
        if len(request.body) > MOST_BODY_BYTES:
            return _TOO_LARGE
        model, query = _ROUTES[request.route]
        body, faults = _read(model, request.body)
        if body is None or faults:
            return Answer(400, Text.join([_sentence(fault) for fault in faults]) if faults else _NO_OBJECT)
        if body.run_id != grant.run.run_id:
            return _FOREIGN
        graph = self._workflows.graph(grant.run.workflow, grant.run.version)
        view = VisitView(grant.run, graph, grant.visit)
        data = query(self._queries, view, body)
        return Answer(200, _SUCCESS, data) if data is not None else _WHICH


def _path(queries: ContextQueries, view: VisitView, body: Any) -> dict[str, Any] | None:
    return queries.path(view, body.visit_uuid)


def _output(queries: ContextQueries, view: VisitView, body: Any) -> dict[str, Any] | None:
    return queries.output(view, body.node_id, body.field, body.iter_seq)


def _meta(queries: ContextQueries, view: VisitView, body: Any) -> dict[str, Any] | None:
    """None: neither a visit nor a node is named."""
    match body:
        case MetaBody(kind="FIELDS"):
            return queries.fields(view)
        case MetaBody(kind="VALUE", node_id=str(node_id)):
            return queries.value(view, node_id, body.field, body.path, body.iter_seq)
        case MetaBody(kind="VALUE"):
            return None
        case MetaBody(visit_uuid=str(visit_uuid)):
            return queries.meta_of_visit(view, visit_uuid, _log_kind(body))
        case MetaBody(node_id=str(node_id)):
            return queries.meta(view, node_id, _log_kind(body), body.iter_seq)
    return None


def _log_kind(body: MetaBody) -> LogKind:
    return cast("LogKind", body.kind)


Query = Callable[[ContextQueries, VisitView, Any], dict[str, Any] | None]

_ROUTES: dict[str, tuple[type[PathBody | OutputBody | MetaBody], Query]] = {
    "path": (PathBody, _path),
    "output": (OutputBody, _output),
    "meta": (MetaBody, _meta),
}


def _too_many(allowance: Allowance) -> Answer:
    return Answer(429, too_many(allowance).text, retry_after=allowance.reset)


def _read[M: BaseModel](model: type[M], raw: bytes) -> tuple[M | None, list[shape.Fault]]:
    """A body, or what is wrong with it; None without faults: it is no JSON object."""
    try:
        value = json.loads(raw)
    except (ValueError, RecursionError):
        return None, []
    copied, faults = copy_json(value)
    if not isinstance(copied, dict):
        return None, []
    return (None, faults) if faults else shape.read(model, copied)


def _sentence(fault: shape.Fault) -> Text:
    place = cut(shape.spell(fault.path))
    return Text(f"{place or '请求体'} {fault.text.zh}", f"{place or 'the body'} {fault.text.en}")


_SUCCESS = Text.same("success")
_OFF = Answer(503, Text("上下文查询功能已禁用", "context queries are switched off"))
_NO_ROUTE = Answer(404, Text("没有这个接口", "there is no such path in this API"))
_NO_TOKEN = Answer(
    401,
    Text("X-Context-Token 缺失、无效或已过期", "the X-Context-Token is missing, not valid, or has expired"),
)
_FOREIGN = Answer(403, Text("runId 与 token 不匹配", "the runId is not that of the token"))
_NO_JSON = Answer(400, Text("Content-Type 必须是 application/json", "the content type must be application/json"))
_TOO_LARGE = Answer(400, Text("请求体超过 8 KB", "the body is larger than 8 KB"))
_NO_OBJECT = Text("请求体不是有效的 JSON 对象", "the body is no valid JSON object")
_WHICH = Answer(400, Text("必须给出 nodeId 或 visitUuid", "a nodeId or a visitUuid is needed"))
_BUSY = Answer(500, Text("服务繁忙，请稍后重试", "the service is busy: try again in a moment"))
_BROKEN = Answer(500, Text("服务器内部错误", "internal error"))
