"""The HTTP API as an ASGI app, made from an engine (contract §4 and §5)."""

from dataclasses import replace
from datetime import timedelta
from functools import cache, partial
from typing import TYPE_CHECKING, Any

from fastapi import APIRouter, FastAPI
from pydantic import BaseModel, Field
from starlette.routing import BaseRoute, Route

from stepweave.api import (
    routes_asks,
    routes_chat,
    routes_context,
    routes_definitions,
    routes_events,
    routes_files,
    routes_history,
    routes_keys,
    routes_platform,
    routes_runs,
    routes_skills,
    routes_viewing,
    routes_workflows,
)
from stepweave.api.buffered import BufferedStreams
from stepweave.api.context import Api
from stepweave.api.description import describe
from stepweave.api.errors import handle_errors
from stepweave.api.live import LiveStreams
from stepweave.api.mcp import McpEndpoint
from stepweave.api.mcp_queries import McpQueries
from stepweave.api.middleware import Cors, Guard, RequestLog
from stepweave.api.streams import CONTRACT_PACE, Pace
from stepweave.api.viewer import Viewer
from stepweave.services.chats import ChatRules, ChatService
from stepweave.services.definitions import Definitions
from stepweave.services.drawing import Drawings
from stepweave.services.event_reading import EventReading
from stepweave.services.history import History
from stepweave.services.keys import ApiKeys
from stepweave.services.links import EXTERNAL
from stepweave.services.rate_limits import RequestLimit
from stepweave.services.receivers import Receivers
from stepweave.services.run_limits import RunLimit
from stepweave.services.run_lists import RunLists
from stepweave.services.viewing import Viewing
from stepweave.settings import Settings
from stepweave.store.chats import Chats
from stepweave.store.counters import Counters
from stepweave.store.keys import Keys
from stepweave.store.run_slots import RunSlots
from stepweave.store.view_tokens import ViewTokens

if TYPE_CHECKING:
    from stepweave.runtime.engine import Engine

_DESCRIPTION = """
Workflows of AI agents: create a run, start it, follow its events, ask for its result.

Every call carries `X-API-Key`. Every answer is `{code, message, data}`, with `code` `OK` or the error's, and has an
`X-Request-Id`; messages are Chinese, or English by `Accept-Language`. Streams are server-sent events; on their paths an
error is one `workflow_error` event with its `code`.
"""


class Answer(BaseModel):
    """The shape of every answer that is no stream."""

    code: str = Field(examples=["OK", "VALIDATION_FAILED"])
    message: str = Field(description="Empty on success.")
    data: Any = Field(description="null on an error, but `{problems}` with GRAPH_INVALID.")


_RESPONSES: dict[int | str, dict[str, Any]] = {
    200: {"model": Answer},
    "default": {"model": Answer, "description": "An error."},
}
_ROUTERS = {
    EXTERNAL: (
        routes_workflows.router,
        routes_runs.router,
        routes_files.router,
        routes_events.router,
        routes_asks.router,
        routes_viewing.router,
    ),
    "/api": (
        routes_platform.router,
        routes_history.router,
        routes_files.platform,
        routes_asks.platform,
        routes_definitions.router,
        routes_keys.router,
        routes_skills.router,
        routes_chat.router,
    ),
}
"""By the prefix of their paths."""


def create_app(engine: "Engine", settings: Settings, *, live: bool, pace: Pace = CONTRACT_PACE) -> FastAPI:
    """`live`: streams are held open; else every answer is bounded, for a gateway that buffers.

    A server that is asked to stop ends the live streams with `app.state.api.streams.close()`.
    """
    app = FastAPI(
        title="stepweave",
        description=_DESCRIPTION,
        docs_url="/api/docs",
        openapi_url="/api/openapi.json",
        redoc_url=None,
        redirect_slashes=False,
    )
    app.state.api = _services(engine, settings, live, pace)
    handle_errors(app)
    describe(app)
    app.add_middleware(Guard)
    app.add_middleware(Cors, origins=_origins(settings.cors_allow_origins))
    app.add_middleware(RequestLog, clock=engine.ports.clock)
    app.router.routes.extend(_routes())
    signed_address = None if live else partial(engine.ports.blobs.download_url, "ui", 1)
    app.router.routes.extend(Viewer(_origins(settings.embed_origins or ""), signed_address).routes())
    if settings.hermes_context_query_public or not settings.hermes_context_query_enabled:  # then it says so, by 503
        app.include_router(routes_context.router, responses=_RESPONSES)
    if settings.hermes_context_query_enabled:
        queries = McpQueries(engine.context_queries, engine.runs, engine.store, engine.workflows)
        app.router.routes.append(
            Route("/mcp", McpEndpoint(queries, app.state.api.keys, engine.context_tokens, app.state.api.requests))
        )
    return app


@cache
def _routes() -> list[BaseRoute]:
    """Made once a process, and shared by its apps: FastAPI looks long at what each route needs."""
    router = APIRouter()
    for prefix, routers in _ROUTERS.items():
        for each in routers:
            router.include_router(each, prefix=prefix, responses=_RESPONSES)
    return router.routes


def _services(engine: "Engine", settings: Settings, live: bool, pace: Pace) -> Api:
    clock = engine.ports.clock
    pace = replace(pace, longest=min(pace.longest, settings.stream_seconds))
    counters = Counters(engine.ports.items)
    reading = EventReading(
        runs=engine.store,
        workflows=engine.workflows,
        log=engine.events,
        outputs=engine.outputs,
        clock=clock,
        kept=timedelta(hours=settings.events_ttl_hours),
        most=settings.events_max_per_run,
    )
    return Api(
        blobs=engine.ports.blobs,
        workflows=engine.workflows,
        definitions=Definitions(engine.workflows, engine.specs, clock),
        runs=engine.runs,
        creating=engine.creating,
        starting=engine.starting,
        receivers=Receivers(private_hosts=settings.callback_private_hosts),
        files=engine.files,
        results=engine.results,
        history=History(engine.store, engine.workflows, engine.memory),
        chats=ChatService(Chats(engine.ports.items), engine.store, engine.results, clock, _chat_rules(settings)),
        asks=engine.asks,
        ending=engine.ending,
        redrive=engine.redrive,
        lists=RunLists(engine.store, clock, timedelta(days=settings.runs_ttl_days)),
        keys=ApiKeys(Keys(engine.ports.items), clock),
        requests=RequestLimit(counters, clock, settings.rate_limit_requests_per_minute),
        at_once=RunLimit(RunSlots(engine.ports.items), engine.store, clock, settings.rate_limit_concurrent_runs),
        queries=RequestLimit(counters, clock, settings.hermes_context_query_public_per_minute),
        viewing=Viewing(ViewTokens(engine.ports.items), clock),
        drawings=Drawings(engine.workflows),
        skills=engine.skills,
        context=engine.context_desk,
        streams=LiveStreams(reading, pace) if live else BufferedStreams(reading, engine.asks, pace),
        live=live,
    )


def _chat_rules(settings: Settings) -> ChatRules:
    return ChatRules(settings.chat_history_turns, settings.chat_history_bytes, timedelta(days=settings.runs_ttl_days))


def _origins(listed: str) -> list[str]:
    return [origin.strip().rstrip("/") for origin in listed.split(",") if origin.strip()]
