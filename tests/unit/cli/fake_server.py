"""A small server that answers as the contract says (§4, §5), from what a test lays down; it keeps every request."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from tests.builders.listening import on_loopback

KEY, ADMIN_KEY = "key-for-runs", "key-for-admins"
RUN_ID = "1a2b3c4d"
CUT = "cut"
"""In a list of events: the connection breaks here, in the middle of the event that follows."""
PAUSE = "pause"
"""In a list of events: nothing more comes until a question is answered."""
END = "end"
"""In a list of events: the answer ends here as it should, as those of a gateway that buffers."""


@dataclass
class Request:
    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class FakeServer:
    url: str
    workflows: dict[str, dict[str, Any]] = field(default_factory=dict)
    script: list[Any] = field(default_factory=list)
    """Events without id, in order, with CUT, PAUSE and END between them."""
    answers: dict[tuple[str, str], tuple[int, Any]] = field(default_factory=dict)
    """What a method and path answer instead of the usual: status and body."""
    open_questions: list[str] = field(default_factory=list)
    goes_on_when_asked: bool = False
    """The run goes on as soon as somebody asks for its state, as if the answer came from elsewhere."""
    requests: list[Request] = field(default_factory=list)
    answered: threading.Event = field(default_factory=threading.Event)
    closing: threading.Event = field(default_factory=threading.Event)

    def called(self, method: str, path: str) -> list[Request]:
        return [request for request in self.requests if (request.method, request.path) == (method, path)]

    def knows(self, name: str, *inputs: dict[str, Any]) -> None:
        number = len(self.workflows) + 1
        self.workflows[name] = {"id": number, "name": name, "description": "", "inputs": list(inputs), "outputs": []}

    @property
    def environment(self) -> dict[str, str]:
        return {"STEPWEAVE_URL": self.url, "STEPWEAVE_API_KEY": KEY, "STEPWEAVE_ADMIN_KEY": ADMIN_KEY}


def running(node: str, kind: str = "llm", label: str = "") -> dict[str, Any]:
    return _status(node, "RUNNING", nodeType=kind, nodeLabel=label or node)


def done(node: str, **data: Any) -> dict[str, Any]:
    return _status(node, "SUCCESS", output={"status": 200, "message": "", "data": data}, error=None)


def failed(node: str, error: str) -> dict[str, Any]:
    return _status(node, "FAILED", output={"status": 400, "message": error, "data": None}, error=error)


def skipped(node: str) -> dict[str, Any]:
    return _status(node, "SKIPPED", nodeType="llm", nodeLabel=node, output=None, error=None)


def stream(node: str, kind: str, content: str, tool: str | None = None, data: Any = None) -> dict[str, Any]:
    told = {"type": "node_stream", "nodeId": node, "visitUuid": f"visit-{node}", "kind": kind, "content": content}
    return {**told, "toolName": tool} | ({} if data is None else {"data": data})


def asks(node: str, question: str, *values: str, **rest: Any) -> dict[str, Any]:
    options = [{"label": f"Option {value}", "value": value} for value in values]
    data = {"clarifyId": f"clar-{node}", "question": question, "options": options, "multiple": False, **rest}
    return stream(node, "clarify_request", json.dumps({"question": question}), data=data)


def complete(**data: Any) -> dict[str, Any]:
    output = {"status": 200, "message": "", "data": data}
    return {"type": "workflow_complete", "success": True, "output": output, "workingDirFiles": []}


def error(text: str, node: str | None = None) -> dict[str, Any]:
    return {"type": "workflow_error", "success": False, "error": text, "failedNodeId": node, "completedAt": None}


def _status(node: str, status: str, **rest: Any) -> dict[str, Any]:
    return {"type": "node_status", "nodeId": node, "visitUuid": f"visit-{node}", "status": status, **rest}


@contextmanager
def fake_server() -> Iterator[FakeServer]:
    """Serves on loopback while the context is open."""

    def release(server: FakeServer) -> None:
        server.closing.set()
        server.answered.set()

    with on_loopback(_Handler, FakeServer, release) as server:
        yield server


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def handle_one_request(self) -> None:
        try:
            super().handle_one_request()
        except ConnectionError:
            self.close_connection = True

    def do_GET(self) -> None:
        self._answer()

    def do_POST(self) -> None:
        self._answer()

    def do_PUT(self) -> None:
        self._answer()

    def do_DELETE(self) -> None:
        self._answer()

    def log_message(self, *_: Any) -> None:
        """A test reads `requests`."""

    @property
    def told(self) -> FakeServer:
        return self.server.told  # type: ignore[attr-defined, no-any-return]

    def _answer(self) -> None:
        address = urlsplit(self.path)
        path = unquote(address.path)
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        query = {name: values[0] for name, values in parse_qs(address.query).items()}
        request = Request(self.command, path, query, dict(self.headers), body)
        self.told.requests.append(request)
        if (self.command, path) in self.told.answers:
            status, told = self.told.answers[self.command, path]
            return self._send(status, told)
        key = self.headers.get("X-API-Key")
        if key not in (KEY, ADMIN_KEY) or (not path.startswith("/api/v1") and key != ADMIN_KEY):
            return self._refuse(401, "UNAUTHORIZED", "the API key is missing or wrong")
        if path.endswith("/stream"):
            return self._stream(int(self.headers.get("Last-Event-ID") or 0))
        return self._usual(request)

    def _usual(self, request: Request) -> None:
        match request.method, request.path.strip("/").split("/"):
            case "GET", ["api", "v1", "workflows"] | ["api", "workflows"]:
                items = list(self.told.workflows.values())
                page, size = int(request.query["page"]), int(request.query["size"])
                self._ok({"total": len(items), "items": items[(page - 1) * size : page * size]})
            case "PUT", ["api", "workflows", name] if name not in self.told.workflows:
                self._refuse(404, "WORKFLOW_NOT_FOUND", f"there is no workflow {name}")
            case "PUT" | "POST", ["api", "workflows", *_]:
                name = request.json["name"]
                self.told.workflows.setdefault(name, {"id": 1, "name": name, "inputs": [], "version": 0})
                self.told.workflows[name]["version"] = self.told.workflows[name].get("version", 0) + 1
                self._ok({"id": 1, "name": name, "version": self.told.workflows[name]["version"]})
            case "POST", ["api", "v1", "workflows", _, "runs"]:
                self._ok({"runId": RUN_ID, "workflowId": 1, "status": "CREATED", "links": {}})
            case "POST", ["api", "v1", "workflows", _, "runs", _, "start"]:
                self._ok({"runId": RUN_ID, "status": "RUNNING"})
            case "GET", ["api", "v1", "runs", _, "state"]:
                pauses = [{"clarifyId": question} for question in self.told.open_questions]
                current = pauses[0] if pauses else None
                self._ok({"runId": RUN_ID, "status": "RUNNING", "currentPause": current, "pauses": pauses})
                if self.told.goes_on_when_asked:
                    self.told.answered.set()
            case "POST", ["api", "v1", "runs", _, "resume"]:
                self.told.open_questions.remove(request.json["clarifyId"])
                self.told.answered.set()
                self._ok({"accepted": True, "runId": RUN_ID, "clarifyId": request.json["clarifyId"]})
            case _:
                self._refuse(404, "NOT_FOUND", "there is no such path in this API")

    def _stream(self, after: int) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        if self._events(after):
            self.wfile.write(b"0\r\n\r\n")
        else:
            self.close_connection = True

    def _events(self, after: int) -> bool:
        """Whether the answer comes to its end: a connection that breaks leaves the last chunk out."""
        ident, cut = 0, False
        for step in self.told.script:
            match step:
                case "cut":
                    cut = ident >= after
                case "end":
                    if ident > after:
                        return True
                case "pause":
                    if ident >= after and not self.told.closing.is_set():
                        self.told.answered.wait(60)
                case _:
                    ident += 1
                    if ident > after:
                        self._event(ident, step, cut)
                        if cut:
                            self.told.script.remove(CUT)
                            return False
        return True

    def _event(self, ident: int, event: dict[str, Any], cut: bool) -> None:
        data = json.dumps({"runId": RUN_ID, **event}, ensure_ascii=False)
        block = f"event: {event['type']}\nid: {ident}\ndata: {data}\n\n".encode()
        sent = block[: len(block) // 2] if cut else block
        self.wfile.write(b"%x\r\n%b\r\n" % (len(sent), sent))

    def _ok(self, data: Any) -> None:
        self._send(200, {"code": "OK", "message": "", "data": data})

    def _refuse(self, status: int, code: str, message: str) -> None:
        self._send(status, {"code": code, "message": message, "data": None})

    def _send(self, status: int, told: Any) -> None:
        content = told if isinstance(told, bytes) else json.dumps(told).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)
