"""The platform's API: chats, whose runs get what was said before (contract §4; key scope `admin`).

The runs of a chat are runs as any other: their stream, state and answers are those of routes_platform and routes_asks.
"""

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request, Response
from fastapi.concurrency import run_in_threadpool

from stepweave.api import starting
from stepweave.api.access import Admin, CurrentChat, known_workflow, open_workflow
from stepweave.api.answers import answer
from stepweave.api.bodies import ChatBody, SayBody
from stepweave.api.body import JsonObject, documented, read
from stepweave.api.context import Api, ApiContext
from stepweave.api.parameters import IdempotencyKey
from stepweave.api.submission import Submitted, documented_with_files
from stepweave.errors import StepweaveError
from stepweave.execution.run import Run
from stepweave.services.links import RunLinks
from stepweave.store.chats import ChatSession

router = APIRouter(tags=["chat"])

Said = starting.RunRequest[SayBody]


@router.post("/chat/sessions", summary="Open a chat session", openapi_extra=documented(ChatBody))
async def open_session(admin: Admin, raw: JsonObject, api: ApiContext) -> Response:
    """Everything that is said in a session is answered by runs of its workflow."""
    body = read(ChatBody, raw)
    return answer(_shown(await run_in_threadpool(_open, api, admin, body)))


@router.get("/chat/sessions/{sid}", summary="A chat session with what was said")
def show(
    _: Admin,
    session: CurrentChat,
    api: ApiContext,
    limit: Annotated[int, Query(ge=1, le=100, description="How many turns, the latest, are shown.")] = 50,
) -> Response:
    """`messages`, oldest first: what people said, and what runs answered, with the run's `status`; `content` of an
    answer is null until its run has ended. `hasMore`: there is more before them."""
    messages, has_more = api.chats.messages(session, limit)
    return answer(_shown(session) | {"messages": messages, "hasMore": has_more})


async def _said(
    request: Request,
    admin: Admin,
    session: CurrentChat,
    api: ApiContext,
    submitted: Submitted,
    token: IdempotencyKey = None,
) -> Said:
    workflow = await run_in_threadpool(lambda: open_workflow(known_workflow(session.workflow, admin, api)))
    return await starting.request_for(SayBody, request, admin, workflow, submitted, token, session.session_id)


@router.post(
    "/chat/sessions/{sid}/runs",
    summary="Say something: create and start a run",
    openapi_extra=documented_with_files(SayBody),
)
async def say(session: CurrentChat, said: Annotated[Said, Depends(_said)], api: ApiContext) -> Response:
    """The run gets `chat.message`, and `chat.history`: what was said and answered in the latest turns that had ended well
    by now. A turn does not wait for the one before. `async: false`: the answer is the run's stream of events."""
    run = await run_in_threadpool(_create_and_start, api, session, said)
    return (
        answer(_started(session, run)) if said.body.is_async else await starting.start_and_stream(api, said.caller, run)
    )


def _open(api: Api, admin: Admin, body: ChatBody) -> ChatSession:
    return api.chats.open(open_workflow(known_workflow(body.workflow, admin, api)).name, body.title)


def _create_and_start(api: Api, session: ChatSession, said: Said) -> Run:
    message = said.body.message
    run = starting.create(api, said, api.chats.inputs(session, message))
    api.chats.say(session, run, message)
    try:
        return starting.start_if_new(api, said.caller, run)
    except StepweaveError:
        api.chats.unsay(session, run, message)
        raise


def _shown(session: ChatSession) -> dict[str, Any]:
    return {
        "sessionId": session.session_id,
        "workflow": session.workflow,
        "title": session.title,
        "createdAt": session.created_at,
    }


def _started(session: ChatSession, run: Run) -> dict[str, Any]:
    here = f"/api/chat/runs/{run.run_id}"
    return {
        "runId": run.run_id,
        "sessionId": session.session_id,
        "workflowId": run.workflow_id,
        "status": run.status,
        "createdAt": run.created_at,
        "streamUrl": f"{here}/stream",
        "links": {
            "stream": f"{here}/stream",
            "state": f"{here}/state",
            "resume": f"{here}/resume",
            "result": RunLinks.of(run).result,
        },
    }
