"""Questions to people: what a run asks, and the answers, for every family of the API (contract §4)."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Response
from fastapi.concurrency import run_in_threadpool
from pydantic import AfterValidator, Field

from stepweave.api.access import Admin, AnsweredRun, CurrentRun, Reader, SeenRun
from stepweave.api.answers import answer
from stepweave.api.body import JsonObject, documented, read
from stepweave.api.context import Api, ApiContext
from stepweave.execution.run import Run
from stepweave.graph.shape import DataModel, refuse
from stepweave.ids import CLARIFY_ID
from stepweave.texts import Text

router = APIRouter(tags=["questions"])
platform = APIRouter(tags=["questions"])


def _is_clarify_id(text: str) -> str:
    if not CLARIFY_ID.fullmatch(text):
        raise refuse(Text("应为 clar- 加 12 位十六进制数字", "must be clar- and 12 hex digits"))
    return text


class AnswerBody(DataModel):
    """A person's answer."""

    clarify_id: Annotated[str, AfterValidator(_is_clarify_id)] = Field(description="The question's id.")
    answer: Any = Field(default=None, description="A string; where `multiple`, a list of strings too.")


def _answer(_: Reader, raw: JsonObject) -> AnswerBody:
    """A dependency, so that the form of the request is judged before the run is looked for."""
    return read(AnswerBody, raw)


Answered = Annotated[AnswerBody, Depends(_answer)]


def _answer_of_admin(_: Admin, raw: JsonObject) -> AnswerBody:
    return read(AnswerBody, raw)


AnsweredByAdmin = Annotated[AnswerBody, Depends(_answer_of_admin)]


@router.get("/runs/{runId}/state", summary="Status of a run, and what it asks")
def state(run: SeenRun, api: ApiContext) -> Response:
    """`currentPause` is the newest open question, or null; `pauses` are all of them, the newest first."""
    return answer(api.results.state(run))


@router.post("/runs/{runId}/resume", summary="Answer a question", openapi_extra=documented(AnswerBody))
async def resume(body: Answered, run: AnsweredRun, api: ApiContext) -> Response:
    """`accepted: false`: the answer is stored, waking the run failed and is tried again in the background."""
    return await run_in_threadpool(_resume, api, run, body)


@platform.get("/chat/runs/{runId}/state", summary="Status of a chat's run, and what it asks")
@platform.get("/workflows/runs/{runId}/state", summary="Status of a run, and what it asks")
def platform_state(_: Admin, run: CurrentRun, api: ApiContext) -> Response:
    """As in the external API."""
    return answer(api.results.state(run))


@platform.post(
    "/chat/runs/{runId}/resume", summary="Answer a question of a chat's run", openapi_extra=documented(AnswerBody)
)
@platform.post("/workflows/runs/{runId}/resume", summary="Answer a question", openapi_extra=documented(AnswerBody))
async def platform_resume(_: Admin, body: AnsweredByAdmin, run: CurrentRun, api: ApiContext) -> Response:
    """As in the external API."""
    return await run_in_threadpool(_resume, api, run, body)


def _resume(api: Api, run: Run, body: AnswerBody) -> Response:
    accepted = api.asks.answer(run, body.clarify_id, body.answer)
    api.streams.wake(run.run_id)
    return answer({"accepted": accepted, "runId": run.run_id, "clarifyId": body.clarify_id})
