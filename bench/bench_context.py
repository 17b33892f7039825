"""Context queries beside the figures of the seed (contract §6): from memory and from DynamoDB, at the service and over HTTP."""

import http.client
import json
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from typing import Any
from urllib.parse import urlsplit

import workflows
from measuring import Contestant, Times, median_ms, percentile_ms, take_turns
from report import Column, Goal, Row, Section
from workshop import Workshop

from stepweave.execution.visit import Visit
from stepweave.runtime.loopback import serve
from stepweave.services.context_desk import PREFIX, TOKEN_HEADER, Answer, ContextDesk, Request
from stepweave.services.context_index import VisitIndex
from stepweave.services.context_queries import ContextQueries
from stepweave.services.memory import RunMemory

SIZES = (50, 200)
SEED_MS = {
    "memory": {"path": 5.0, "output": 3.0, "meta": 10.0},
    "DynamoDB": {"path": 50.0, "output": 30.0, "meta": 50.0},
}
SHARE = {"memory": 1 / 3, "DynamoDB": 1 / 2}
"""What ours may take of the seed's figure."""

LADDER_MS = 50.0
_CALLS_A_TURN = 10


def measure(workshop: Workshop, turns: int) -> Section:
    calls = turns * _CALLS_A_TURN
    rows: list[Row] = []
    goals: list[Goal] = []
    for size in SIZES:
        with _asking(workshop, workflows.looking_back(size).definition) as asker:
            told = _times(asker, calls)
        for query in asker.bodies:
            row = _row(f"{query}, {size} visits", query, told)
            rows.append(row)
            goals += [_goal(row, query, source, way) for source in SHARE for way in ("service", "http")]
        rows.append(
            {
                "what": f"token, {size} visits",
                "DynamoDB_service": percentile_ms(told["token DynamoDB_service"].wall, 99),
            }
        )
    with _asking(workshop, workflows.ladder().definition) as asker:
        [ladder] = take_turns(
            {"path": Contestant(lambda: asker.serve("path", asker.warm), asker.trust)}, calls
        ).values()
    rows.append({"what": "path, ladder", "memory_service": percentile_ms(ladder.wall, 99)})
    goals.append(Goal("path, ladder of 2^20 paths", float(rows[-1]["memory_service"]), LADDER_MS, " ms"))
    return Section(
        "context",
        "What a model asks of the visits before its own, p99 in ms",
        [
            Column("what", "", "text"),
            Column("memory_service", "memory, service"),
            Column("memory_http", "memory, HTTP"),
            Column("memory_seed", "seed, memory"),
            Column("DynamoDB_service", "DynamoDB, service"),
            Column("DynamoDB_http", "DynamoDB, HTTP"),
            Column("DynamoDB_seed", "seed, DB"),
        ],
        rows=rows,
        parts=[
            Column(f"{source}_{way}_{what}", f"{source}, {way}, {title}")
            for source in SHARE
            for way in ("service", "http")
            for what, title in (("median", "median"), ("cpu", "CPU p99"))
        ],
        goals=goals,
        notes=[
            (
                "The service is the whole way of a request without HTTP: token, JSON, query. Over HTTP it is the "
                "router on loopback, with a client in the same process that keeps its connection, as that of the tools does."
            ),
            (
                "From memory a token counts without a look at its visit, as it does for a second inside a function; `token` is "
                "that look. From DynamoDB nothing is remembered of the run or the token, as in any other process."
            ),
            "The seed's figures are for up to 50 visits. Where the processor is shared, CPU tells more than the clock.",
        ],
    )


class _Asker:
    """Stands in the last visit of a run that runs. `warm` remembers what it was asked; `cold` never does."""

    def __init__(self, workshop: Workshop, visit: Visit, token: str, asked: Visit) -> None:
        self._workshop = workshop
        self._token = token
        self.warm = _Desk(lambda: workshop.engine.context_desk, own_only=True)
        self.cold = _Desk(self._new_desk, own_only=False)
        run = {"runId": visit.run_id}
        self.bodies = {
            "path": json.dumps(run | {"visitUuid": visit.visit_uuid}).encode(),
            "output": json.dumps(run | {"nodeId": asked.node_id}).encode(),
            "meta": json.dumps(run | {"visitUuid": asked.visit_uuid, "kind": "ALL"}).encode(),
        }

    def serve(self, query: str, desk: "_Desk") -> None:
        answer = desk.answer(Request(query, [self._token], "application/json", self.bodies[query], "en"))
        assert json.dumps(answer.body("en"), ensure_ascii=False), "the answer is written as the router writes it"
        assert answer.status == 200, f"{query}: {answer.message}"

    def trust(self) -> None:
        """The token has been looked at within the last second."""
        self._workshop.engine.context_tokens.recognise([self._token], own_only=True)

    def look(self) -> None:
        assert self._workshop.engine.context_tokens.recognise([self._token]), "the visit runs"

    def send(self, query: str, connection: http.client.HTTPConnection) -> None:
        headers = {TOKEN_HEADER: self._token, "Content-Type": "application/json"}
        connection.request("POST", PREFIX + query, self.bodies[query], headers)
        response = connection.getresponse()
        answer = json.loads(response.read())
        assert response.status == 200, f"{query}: {answer['message']}"

    def _new_desk(self) -> ContextDesk:
        """What a process has that knows the workflow, and nothing of the run."""
        engine = self._workshop.engine
        clock, memory = engine.ports.clock, RunMemory(engine.store)
        queries = ContextQueries(engine.store, memory, VisitIndex(clock, memory), clock)
        return ContextDesk(engine.context_tokens, queries, engine.workflows, clock, enabled=True)


class _Desk(ContextDesk):
    """The desk that `desk` gives for each request, in the place of one desk."""

    def __init__(self, desk: Callable[[], ContextDesk], *, own_only: bool) -> None:
        self._desk = desk
        self._own_only = own_only

    def answer(self, request: Request, **_: Any) -> Answer:
        return self._desk().answer(request, own_only=self._own_only)


@contextmanager
def _asking(workshop: Workshop, definition: dict[str, Any]) -> Iterator[_Asker]:
    run_id = workshop.begin(workshop.save(definition))
    workshop.drive(until="ask")
    visits = {visit.node_id: visit for visit in workshop.engine.store.visits(run_id)}
    token = workshop.engine.context_tokens.issue(visits["ask"])
    try:
        yield _Asker(workshop, visits["ask"], token, visits.get("told", visits["ask"]))
    finally:
        workshop.drive()
    assert workshop.succeeded(run_id), "the run that was looked into ends well"


def _times(asker: _Asker, calls: int) -> dict[str, Times]:
    """By query, source and way."""
    with _connected(asker.warm) as warm, _connected(asker.cold) as cold:
        contestants: dict[str, Callable[[], object]] = {}
        for query in asker.bodies:
            for source, desk, connection in (("memory", asker.warm, warm), ("DynamoDB", asker.cold, cold)):
                contestants[f"{query} {source}_service"] = _call(asker.serve, query, desk)
                contestants[f"{query} {source}_http"] = _call(asker.send, query, connection)
        contestants["token DynamoDB_service"] = asker.look
        return take_turns({name: Contestant(run, asker.trust) for name, run in contestants.items()}, calls)


@contextmanager
def _connected(desk: ContextDesk) -> Iterator[http.client.HTTPConnection]:
    with serve(desk) as base_url, closing(http.client.HTTPConnection(urlsplit(base_url).netloc)) as connection:
        yield connection


def _call(work: Callable[[str, Any], None], query: str, target: Any) -> Callable[[], None]:
    return lambda: work(query, target)


def _row(what: str, query: str, told: dict[str, Times]) -> Row:
    row: Row = {"what": what} | {f"{source}_seed": figures[query] for source, figures in SEED_MS.items()}
    for source in SHARE:
        for way in ("service", "http"):
            times = told[f"{query} {source}_{way}"]
            row[f"{source}_{way}"] = percentile_ms(times.wall, 99)
            row[f"{source}_{way}_median"] = median_ms(times.wall)
            row[f"{source}_{way}_cpu"] = percentile_ms(times.cpu, 99)
    return row


def _goal(row: Row, query: str, source: str, way: str) -> Goal:
    words = f"{row['what']}, {source}, {'over HTTP' if way == 'http' else 'at the service'}, p99"
    limit = round(SEED_MS[source][query] * SHARE[source], 2)
    return Goal(words, float(row[f"{source}_{way}"]), limit, " ms")
