"""Server-sent events as text (contract §5)."""

from collections.abc import Iterable

from fastapi import Response

from stepweave.services.event_text import EventText
from stepweave.services.wire import encode

MEDIA_TYPE = "text/event-stream"
HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
"""No proxy may keep a stream back or for later."""

KEEP_ALIVE = b":keep-alive\n\n"


def block(event: EventText) -> bytes:
    return b"event: %b\nid: %d\ndata: %b\n\n" % (event.type.encode(), event.id, event.data)


def blocks(events: Iterable[EventText]) -> bytes:
    return b"".join(map(block, events))


def gone(count: int) -> bytes:
    """The comment for a reader too far behind."""
    return b":%d events are not kept any more and were skipped\n\n" % count if count else b""


def retry(milliseconds: int) -> bytes:
    """How long an EventSource waits before it asks again."""
    return b"retry: %d\n\n" % milliseconds


def error_event(
    status: int, code: str, message: str, run_id: str | None, headers: dict[str, str] | None = None
) -> Response:
    """An error on a streaming endpoint: the HTTP status, and one event without an id, for it is not of the log."""
    data = {
        "runId": run_id,
        "type": "workflow_error",
        "success": False,
        "error": message,
        "code": code,
        "failedNodeId": None,
        "completedAt": None,
    }
    content = b"event: workflow_error\ndata: %b\n\n" % encode(data)
    return Response(content, status, HEADERS | (headers or {}), MEDIA_TYPE)
