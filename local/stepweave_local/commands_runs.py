"""`stepweave runs`: what ran, what is running, and going on with it."""

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any

import typer
from rich.text import Text as Words

from stepweave.texts import Text
from stepweave_local.addresses import path
from stepweave_local.command_error import RUN_FAILED
from stepweave_local.commands_run import show_ending
from stepweave_local.events import Event
from stepweave_local.languages import words
from stepweave_local.options import command
from stepweave_local.outcome_view import outputs_left_out, outputs_view
from stepweave_local.progress import MARKS, seconds_text
from stepweave_local.run_list import find_run, newest_runs
from stepweave_local.session import Session
from stepweave_local.tables import facts, indented, one_line, stacked, table
from stepweave_local.watch import Detached, detached, watch
from stepweave_local.workflow_list import callable_workflows, find_workflow

_STYLES = {"SUCCESS": "green", "FAILED": "red", "RUNNING": "cyan"}
_ERROR = 60


class Status(StrEnum):
    CREATED = "CREATED"
    RUNNING = "RUNNING"
    SUCCESS = "SUCCESS"
    FAILED = "FAILED"


RunId = Annotated[str, typer.Argument(metavar="RUN_ID", help=words("运行编号，8 位十六进制", "The run's 8 hex digits"))]
OfWorkflow = Annotated[
    str | None,
    typer.Argument(metavar="WORKFLOW", help=words("只列出这个工作流的运行", "Only the runs of this workflow")),
]
OfStatus = Annotated[
    Status | None, typer.Option(case_sensitive=False, help=words("只列出这种状态的", "Only those of this status"))
]
Limit = Annotated[int, typer.Option(min=1, max=100, help=words("最多列出多少个", "How many at most"))]
After = Annotated[int, typer.Option(min=0, help=words("从这个事件编号之后开始", "Begin after this event id"))]


def add(app: typer.Typer) -> None:
    group = typer.Typer(no_args_is_help=True)
    app.add_typer(group, name="runs", help=words("查看、取消、恢复运行", "Look at runs, cancel or redrive them"))
    command(group, "list", words("列出运行，最新的在前", "List runs, newest first"))(list_all)
    command(group, "show", words("显示一个运行的结果", "Show what a run has come to"))(show)
    command(group, "watch", words("从头观看一个运行，直到结束", "Watch a run from its beginning to its end"))(watch_run)
    command(group, "cancel", words("取消运行", "Cancel a run"))(cancel)
    command(group, "redrive", words("让停滞的运行继续", "Make a run go on whose executions are gone"))(redrive)


def list_all(session: Session, workflow: OfWorkflow = None, status: OfStatus = None, limit: Limit = 20) -> None:
    client = session.client
    listed = [find_workflow(client, workflow)] if workflow is not None else callable_workflows(client)
    names = [str(one["name"]) for one in listed]
    runs = newest_runs(client, names, limit, status.value if status is not None else None)
    headings = [
        session.say(text)
        for text in (
            Text("运行", "run"),
            Text("状态", "status"),
            Text("工作流", "workflow"),
            Text("开始", "started"),
            Text("用时", "took"),
            Text("错误", "error"),
        )
    ]
    empty = session.say(Text("没有运行。", "There are no runs."))
    session.show({"items": runs}, lambda: table(headings, [_row(run) for run in runs], empty))


def show(session: Session, run_id: RunId) -> int:
    result = find_run(session.client, run_id)
    session.show(result, lambda: _result(session, result))
    return RUN_FAILED if result["status"] == "FAILED" else 0


def watch_run(session: Session, run_id: RunId, after: After = 0) -> int:
    """With `--json` every event is one line."""

    def print_event(event: Event) -> None:
        session.print_json({"id": event.id, "type": event.type, "data": event.data})

    try:
        ending = watch(session, run_id, after=after, each=print_event if session.as_json else None)
    except Detached:
        return detached(session, run_id)
    if session.as_json:
        return 0 if ending.event is None or ending.event.data.get("success") else RUN_FAILED
    if ending.event is None:
        session.note(Text(f"事件 {after} 之后没有更多事件。", f"There are no events after {after}."))
        return 0
    return show_ending(session, run_id, ending)


def cancel(session: Session, run_id: RunId) -> None:
    data = session.client.call("POST", path("api", "v1", "runs", run_id, "cancel"))
    text = Text(f"运行 {run_id} 已取消。", f"Run {run_id} is cancelled.")
    session.show(data or {"runId": run_id, "status": "FAILED"}, lambda: Words(session.say(text)))


def redrive(session: Session, run_id: RunId) -> None:
    data = session.client.call("POST", path("api", "runs", run_id, "redrive"), admin=True)
    text = Text(
        f"已请求恢复运行 {run_id}；查看：stepweave runs watch {run_id}",
        f"Run {run_id} is redriven; watch it: stepweave runs watch {run_id}",
    )
    session.show(data or {"runId": run_id}, lambda: Words(session.say(text)))


def _row(run: Mapping[str, Any]) -> list[str | Words]:
    status = str(run["status"])
    return [
        Words(str(run["runId"]), style="bold"),
        Words(status, style=_STYLES.get(status, "dim")),
        str(run.get("workflow") or run.get("workflowId") or ""),
        _moment(run.get("startedAt") or run.get("createdAt")),
        _took(run),
        Words(one_line(str(run.get("error") or ""), _ERROR), style="dim"),
    ]


def _result(session: Session, result: Mapping[str, Any]) -> Any:
    say = session.say
    status = str(result["status"])
    rows: list[tuple[str, str | Words]] = [
        (say(Text("运行", "run")), Words(str(result["runId"]), style="bold")),
        (say(Text("工作流", "workflow")), str(result["workflow"])),
        (say(Text("状态", "status")), Words(status, style=_STYLES.get(status, ""))),
        (say(Text("开始", "started")), _moment(result.get("startedAt"))),
        (say(Text("用时", "took")), _took(result)),
    ]
    if result.get("error"):
        rows.append((say(Text("错误", "error")), Words(str(result["error"]), style="red")))
    headings = [
        "",
        say(Text("节点", "node")),
        say(Text("类型", "type")),
        say(Text("用时", "took")),
        say(Text("错误", "error")),
    ]
    nodes = table(
        headings,
        [_node(node) for node in result.get("nodes") or ()],
        say(Text("还没有节点运行。", "No node has run yet.")),
    )
    views = [facts(rows), Words(""), nodes]
    if url := outputs_left_out(result):
        views += [Words(""), Words(f"{session.endpoint.url}{url}")]
    elif status == "SUCCESS":
        outputs = outputs_view(result.get("outputs"), say, formatted=session.out.is_terminal)
        views += [Words(""), Words(say(Text("输出", "outputs")), style="dim"), indented(outputs)]
    return stacked(*views)


def _node(node: Mapping[str, Any]) -> list[str | Words]:
    mark, style = MARKS.get(str(node["status"]), MARKS["RUNNING"])
    visits = len(node.get("visits") or ())
    name = f"{node.get('label') or node['nodeId']}{f' ×{visits}' if visits > 1 else ''}"
    return [
        Words(mark, style=style),
        name,
        Words(str(node.get("nodeType") or ""), style="dim"),
        Words(_took(node), style="dim"),
        Words(one_line(str(node.get("error") or ""), _ERROR), style="dim"),
    ]


def _took(thing: Mapping[str, Any]) -> str:
    """From start to end, both as ISO 8601 with a zone."""
    started, ended = thing.get("startedAt"), thing.get("completedAt")
    if not started or not ended:
        return ""
    return seconds_text((datetime.fromisoformat(ended) - datetime.fromisoformat(started)).total_seconds())


def _moment(moment: Any) -> str:
    """In the time of this machine."""
    return datetime.fromisoformat(moment).astimezone().strftime("%Y-%m-%d %H:%M:%S") if moment else ""
