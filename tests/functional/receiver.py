"""A receiver of callbacks on loopback, as an integrator has one: it remembers what it was told."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any

from tests.builders.listening import on_loopback


@dataclass(frozen=True)
class Told:
    """One POST."""

    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def delivery(self) -> str:
        return self.headers["x-stepweave-delivery"]


@dataclass
class Receiver:
    """Answers with each of `statuses` in turn, with the last for ever; `location` goes along with every answer."""

    base_url: str
    statuses: list[int]
    location: str | None = None
    told: list[Told] = field(default_factory=list)
    news: threading.Condition = field(default_factory=threading.Condition)

    def take(self, told: Told) -> int:
        with self.news:
            self.told.append(told)
            self.news.notify_all()
            return self.statuses.pop(0) if len(self.statuses) > 1 else self.statuses[0]

    def wait(self, number: int, seconds: float) -> list[Told]:
        """What was told, once that is so many."""
        with self.news:
            assert self.news.wait_for(lambda: len(self.told) >= number, seconds), self.told
            return list(self.told)


@contextmanager
def receiver(*statuses: int, location: str | None = None) -> Iterator[Receiver]:
    with on_loopback(_Handler, lambda url: Receiver(url, list(statuses) or [200], location)) as server:
        yield server


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        server: Receiver = self.server.told  # type: ignore[attr-defined]
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        status = server.take(Told(self.path, {name.lower(): value for name, value in self.headers.items()}, body))
        self.send_response(status)
        if server.location is not None:
            self.send_header("Location", server.location)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def do_GET(self) -> None:
        """Whoever follows a redirect comes like this."""
        self.do_POST()

    def log_message(self, *_: Any) -> None:
        """Tests are quiet."""
