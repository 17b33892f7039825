"""Creating runs over HTTP: once for each Idempotency-Key, and in one call with their stream (contract §4)."""

import hashlib
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Annotated, Any

from fastapi import Depends, Request, Response
from fastapi.concurrency import run_in_threadpool

from stepweave.api.access import Caller, OpenWorkflow
from stepweave.api.bodies import RunBody
from stepweave.api.body import read
from stepweave.api.context import Api
from stepweave.api.errors import language_of
from stepweave.api.parameters import IdempotencyKey
from stepweave.api.submission import NamedFile, Submission, Submitted, named
from stepweave.errors import RunAlreadyStarted, ValidationFailed
from stepweave.execution.run import Run
from stepweave.services.links import RunLinks
from stepweave.services.runs import NewRun
from stepweave.store.idempotency import Once
from stepweave.store.keys import ApiKey
from stepweave.store.workflows import Workflow
from stepweave.texts import Language, Text

_TOKEN = re.compile(r"[\x21-\x7e]{1,255}")


@dataclass(frozen=True, slots=True)
class RunRequest[B: RunBody]:
    """A client asks for a run: who, of which workflow, with what. `place` is where it asks: in a chat, the session."""

    caller: ApiKey
    workflow: Workflow
    body: B
    token: str | None
    language: Language
    files: tuple[NamedFile, ...]
    close: Callable[[], None]
    place: str | None = None


async def _asked(
    request: Request, caller: Caller, workflow: OpenWorkflow, submitted: Submitted, token: IdempotencyKey = None
) -> RunRequest[RunBody]:
    return await request_for(RunBody, request, caller, workflow, submitted, token)


Asked = Annotated[RunRequest[RunBody], Depends(_asked)]


async def request_for[B: RunBody](
    model: type[B],
    request: Request,
    caller: ApiKey,
    workflow: Workflow,
    submitted: Submission,
    token: str | None,
    place: str | None = None,
) -> RunRequest[B]:
    """What was submitted, read and judged. Raises `ValidationFailed`."""
    if token is not None and not _TOKEN.fullmatch(token):
        raise ValidationFailed(
            Text(
                "Idempotency-Key 应为 1 到 255 个可见的 ASCII 字符",
                "Idempotency-Key must be 1 to 255 visible ASCII characters",
            )
        )
    body = await run_in_threadpool(read, model, submitted.body)
    files = named(submitted.files, body.uploaded_paths)
    return RunRequest(caller, workflow, body, token, language_of(request), files, submitted.close, place)


def create(api: Api, asked: RunRequest[Any], also: Mapping[str, Any] = MappingProxyType({})) -> Run:
    """The run with its files, or the one that the same request made before. `also` are inputs that the client's own
    variables cannot replace."""
    body = asked.body
    inputs = {**body.all_variables, **also}
    try:
        callback = api.receivers.accept(body.callback_url, asked.caller) if body.callback_url is not None else None
        new = NewRun(inputs, asked.language, body.fail_strategy, body.ttl_hours, callback)
        return api.creating.create(asked.workflow, new, _once(asked), asked.files)
    finally:
        asked.close()


def start(api: Api, caller: ApiKey, run: Run) -> Run:
    """Raises `RateLimited` where the key has too many runs that have not ended."""
    api.at_once.take(caller.key_id, run.run_id)
    try:
        started = api.starting.start(run)
    except ValidationFailed:
        api.at_once.give_back(caller.key_id, run.run_id)
        raise
    api.streams.wake(run.run_id)
    return started


def start_if_new(api: Api, caller: ApiKey, run: Run) -> Run:
    """Of a repeated request, the run may have been started by the first."""
    if run.status != "CREATED":
        return run
    try:
        return start(api, caller, run)
    except RunAlreadyStarted:
        return api.runs.get(run.run_id)


async def start_and_stream(api: Api, caller: ApiKey, run: Run) -> Response:
    """Where the stream is cut, the client goes on at `Link`; posting again would be another run."""
    run = await run_in_threadpool(start_if_new, api, caller, run)
    links = RunLinks.of(run)
    headers = {"X-Run-Id": run.run_id, "Link": f'<{links.stream}>; rel="stream"'}
    return await api.streams.stream(run, 0, headers)


def _once(asked: RunRequest[Any]) -> Once | None:
    if asked.token is None:
        return None
    body = asked.body.model_dump(by_alias=True, exclude_unset=True)
    files = [[file.path, file.sent.sha256.hexdigest()] for file in asked.files]
    told = json.dumps([asked.place or asked.workflow.name, body, *files], sort_keys=True)
    return Once(asked.caller.key_id, asked.token, hashlib.sha256(told.encode()).hexdigest())
