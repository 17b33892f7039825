"""Who calls, and what a caller may see (contract §4: keys, view tokens, scopes, and what nobody may learn)."""

from typing import Annotated

from fastapi import Depends, Header, Path, Query, Request

from stepweave import ids
from stepweave.api.context import ApiContext
from stepweave.errors import RunNotFound, Unauthorized, ValidationFailed, WorkflowNotFound
from stepweave.execution.run import Run
from stepweave.graph.naming import NAME_LENGTH, is_node_id
from stepweave.graph.problem import quoted
from stepweave.services.rate_limits import RequestLimit, too_many
from stepweave.store.chats import ChatSession
from stepweave.store.keys import ApiKey
from stepweave.store.view_tokens import ViewToken
from stepweave.store.workflows import Workflow
from stepweave.texts import Text

_KEY = Text("API Key 缺失或无效", "the API key is missing or not valid: send it as X-API-Key")
_VIEW = Text("查看令牌（view token）无效或已过期", "the view token is not valid, or has expired: ask for another")
_SCOPE = Text("该 API Key 没有管理权限（scope admin）", "this API key is not of scope admin")

KeyHeader = Annotated[str | None, Header(alias="X-API-Key", description="An API key.")]


def _caller(request: Request, api: ApiContext, key: KeyHeader = None) -> ApiKey:
    found = api.keys.recognise(key) if key else None
    if found is None:
        raise Unauthorized(_KEY)
    admit(request, api.requests, found.key_id)
    return found


def admit(request: Request, limit: RequestLimit, key_id: str) -> None:
    """Whoever was recognised is told in the log, and counted. Raises `RateLimited`."""
    request.state.key_id = key_id
    allowance = limit.admit(key_id)
    request.state.allowance = allowance
    if allowance is not None and not allowance.granted:
        raise too_many(allowance)


Caller = Annotated[ApiKey, Depends(_caller)]


def _admin(caller: Caller) -> ApiKey:
    if "admin" not in caller.scopes:
        raise Unauthorized(_SCOPE)
    return caller


Admin = Annotated[ApiKey, Depends(_admin)]


def _reader(
    request: Request,
    api: ApiContext,
    key: KeyHeader = None,
    token: Annotated[
        str, Header(alias="X-View-Token", description="A view token of the run, in place of an API key.")
    ] = "",
    query: Annotated[str, Query(alias="viewToken", description="The same, where no header can be set.")] = "",
) -> ApiKey | ViewToken:
    """A key wins where both are shown: it may see no less."""
    secret = token or query
    if key is not None or not secret:
        return _caller(request, api, key)
    view = api.viewing.recognise(secret)
    if view is None:
        raise Unauthorized(_VIEW)
    admit(request, api.requests, view.key_id)
    return view


Reader = Annotated[ApiKey | ViewToken, Depends(_reader)]

WorkflowPath = Annotated[
    str, Path(alias="workflow", description="The workflow's name, or its numeric id.", examples=["research-report"])
]
RunPath = Annotated[str, Path(alias="runId", description="8 lower-case hex digits.", examples=["a3f9b2c1"])]
NodePath = Annotated[str, Path(alias="nodeId", description="The node's id in the workflow.", examples=["node-2"])]


def known_workflow(name: WorkflowPath, caller: Caller, api: ApiContext) -> Workflow:
    """A workflow that the caller may call; also a deleted one, whose runs stay readable."""
    if len(name) > NAME_LENGTH or not ids.WORKFLOW_NAME.fullmatch(name):
        raise ValidationFailed(
            Text(
                f"workflow {quoted(name)} 不是有效的工作流名称或编号",
                f"workflow {quoted(name)} is neither a workflow's name nor its number",
            )
        )
    workflow = api.workflows.find(name)
    bound = caller.workflows
    if bound is not None and (workflow.name if workflow is not None else name) not in bound:
        raise Unauthorized(
            Text(f"该 API Key 无权调用工作流 {quoted(name)}", f"this API key may not call workflow {quoted(name)}")
        )
    if workflow is None:
        raise WorkflowNotFound(Text(f"工作流 {quoted(name)} 不存在", f"there is no workflow {quoted(name)}"))
    return workflow


KnownWorkflow = Annotated[Workflow, Depends(known_workflow)]


def open_workflow(known: KnownWorkflow) -> Workflow:
    """Raises `WorkflowNotFound` for a deleted one."""
    if known.deleted:
        raise WorkflowNotFound(
            Text(f"工作流 {quoted(known.name)} 已删除", f"workflow {quoted(known.name)} has been deleted")
        )
    return known


OpenWorkflow = Annotated[Workflow, Depends(open_workflow)]


def run_of_caller(run_id: RunPath, caller: Caller, api: ApiContext) -> Run:
    """A run of a workflow that the caller may call; of others nobody learns whether they exist."""
    _check_run_id(run_id)
    run = api.runs.get(run_id)
    if caller.workflows is not None and run.workflow not in caller.workflows:
        raise _no_run(run_id)
    return run


CurrentRun = Annotated[Run, Depends(run_of_caller)]


def _run_of_workflow(workflow: KnownWorkflow, run: CurrentRun) -> Run:
    if run.workflow != workflow.name:
        raise _no_run(run.run_id)
    return run


WorkflowRun = Annotated[Run, Depends(_run_of_workflow)]


def _seen_run(run_id: RunPath, reader: Reader, api: ApiContext) -> Run:
    """As `CurrentRun`, for who has a key; and the one run of a view token."""
    if isinstance(reader, ApiKey):
        return run_of_caller(run_id, reader, api)
    _check_run_id(run_id)
    if run_id != reader.run_id:
        raise _no_run(run_id)
    return api.runs.get(run_id)


SeenRun = Annotated[Run, Depends(_seen_run)]


def _seen_run_of_workflow(name: WorkflowPath, run_id: RunPath, reader: Reader, api: ApiContext) -> Run:
    if isinstance(reader, ApiKey):
        return _run_of_workflow(known_workflow(name, reader, api), run_of_caller(run_id, reader, api))
    run = _seen_run(run_id, reader, api)
    if name not in (run.workflow, str(run.workflow_id)):
        raise _no_run(run_id)
    return run


SeenWorkflowRun = Annotated[Run, Depends(_seen_run_of_workflow)]


def _answered_run(run: SeenRun, reader: Reader) -> Run:
    if isinstance(reader, ViewToken) and not reader.may_answer:
        raise Unauthorized(
            Text(
                "该查看令牌只能查看，不能回答问题（resume）", "this view token may look at the run, not answer (resume)"
            )
        )
    return run


AnsweredRun = Annotated[Run, Depends(_answered_run)]
"""A run whose questions the caller may answer."""


def _check_run_id(run_id: str) -> None:
    if not ids.RUN_ID.fullmatch(run_id):
        raise ValidationFailed(
            Text(
                f"runId {quoted(run_id)} 应为 8 位小写十六进制数字",
                f"runId {quoted(run_id)} must be 8 lower-case hex digits",
            )
        )


def _node(node_id: NodePath) -> str:
    if not is_node_id(node_id):
        raise ValidationFailed(
            Text(f"nodeId {quoted(node_id)} 不是有效的节点 ID", f"nodeId {quoted(node_id)} is not a node's id")
        )
    return node_id


CurrentNode = Annotated[str, Depends(_node)]


def _key_id(
    key_id: Annotated[str, Path(alias="keyId", description="The key's id.", examples=["key-0123456789ab"])],
) -> str:
    if not ids.KEY_ID.fullmatch(key_id):
        raise ValidationFailed(
            Text(f"keyId {quoted(key_id)} 不是有效的密钥编号", f"keyId {quoted(key_id)} is not the id of a key")
        )
    return key_id


KeyId = Annotated[str, Depends(_key_id)]


def _chat(
    _: Admin,
    session_id: Annotated[str, Path(alias="sid", description="The session's id.", examples=["chat-0123456789ab"])],
    api: ApiContext,
) -> ChatSession:
    if not ids.CHAT_ID.fullmatch(session_id):
        raise ValidationFailed(
            Text(
                f"sid {quoted(session_id)} 不是有效的会话编号",
                f"sid {quoted(session_id)} is not the id of a chat session",
            )
        )
    return api.chats.find(session_id)


CurrentChat = Annotated[ChatSession, Depends(_chat)]


def _streams(request: Request) -> None:
    request.state.streams = True


Streaming = Depends(_streams)
"""First among a route's dependencies: from here on an error is told as an event (contract §5)."""


def _no_run(run_id: str) -> RunNotFound:
    return RunNotFound(Text(f"运行 {run_id} 不存在或已过期", f"there is no run {run_id}, or it has expired"))
