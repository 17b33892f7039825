"""External API: the events of a run, streamed or by pages (contract §4 and §5)."""

from typing import Annotated

from fastapi import APIRouter, Query, Response

from stepweave.api.access import SeenRun, SeenWorkflowRun, Streaming
from stepweave.api.answers import answer_of_bytes
from stepweave.api.context import ApiContext
from stepweave.api.parameters import LastEventId
from stepweave.services.event_reading import Page
from stepweave.services.event_text import EventText
from stepweave.services.wire import ANSWER_BYTES, encode

router = APIRouter(tags=["events"])


@router.get("/workflows/{workflow}/runs/{runId}/stream", summary="Stream of a run's events", dependencies=[Streaming])
async def workflow_stream(run: SeenWorkflowRun, api: ApiContext, after: LastEventId) -> Response:
    """Server-sent events: everything after `Last-Event-ID`, and then what happens, until the run ends.

    Waits where the run has not started. 204 at the terminal event, so that an EventSource stops.
    """
    return await api.streams.stream(run, after, {})


@router.get("/runs/{runId}/stream", summary="Stream of a run's events", dependencies=[Streaming])
async def stream(run: SeenRun, api: ApiContext, after: LastEventId) -> Response:
    """The same as the stream below the workflow's path."""
    return await api.streams.stream(run, after, {})


@router.get("/runs/{runId}/events", summary="Events of a run, by pages")
async def events(
    run: SeenRun,
    api: ApiContext,
    after: Annotated[int, Query(ge=0, le=10**15, description="The id of the last event that was read.")] = 0,
    limit: Annotated[int, Query(ge=1, le=1000, description="Events a page.")] = 200,
    wait_seconds: Annotated[
        float, Query(alias="waitSeconds", ge=0, le=25, description="How long to wait where there is nothing yet.")
    ] = 0,
) -> Response:
    """`{events: [{id, type, data}], lastId, status, done}`. A page may be short of `limit`; go on after `lastId` until
    `done`."""
    page = await api.streams.page(run, after, limit=limit, most_bytes=_room(limit), seconds=wait_seconds)
    return answer_of_bytes(_page(page))


def _room(limit: int) -> int:
    return ANSWER_BYTES - 100 * limit


def _page(page: Page) -> bytes:
    """Put together from events that are encoded already."""
    rest = {"lastId": page.last, "status": page.status, "done": page.done} | ({"gone": page.gone} if page.gone else {})
    return b'{"events":[%b],%b' % (b",".join(map(_event, page.events)), encode(rest)[1:])


def _event(event: EventText) -> bytes:
    return b'{"id":%d,"type":"%b","data":%b}' % (event.id, event.type.encode(), event.data)
