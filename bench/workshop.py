"""The engine in this process over the emulator's tables: what it costs to decide and to store, with every request counted.

Chains are driven by hand, one step after the other; Lambda and Step Functions have no part in it.
"""

import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import botocore.session
from node_types import specs
from tables import BUCKET, create_bucket, create_tables, table_name

from stepweave.adapters.aws.connect import Connection
from stepweave.adapters.memory import MemoryChains
from stepweave.api.live import LiveStreams
from stepweave.api.streams import CONTRACT_PACE
from stepweave.execution.run import Run
from stepweave.execution.step import END, Step
from stepweave.runtime.aws import build_engine
from stepweave.runtime.engine import EVENTS_KEPT
from stepweave.services.definitions import Definitions
from stepweave.services.event_reading import EventReading
from stepweave.services.outputs import Outputs
from stepweave.services.runs import NewRun
from stepweave.settings import Settings
from stepweave.store.workflows import Workflow
from stepweave_local.deploy import CREDENTIALS
from stepweave_local.emulator import Emulator
from stepweave_local.project import REGION, Project

_LAMBDA_SECONDS = 900.0
_ACCOUNT = {
    "region_name": REGION,
    "aws_access_key_id": CREDENTIALS["AWS_ACCESS_KEY_ID"],
    "aws_secret_access_key": CREDENTIALS["AWS_SECRET_ACCESS_KEY"],
}


@dataclass(slots=True)
class Steps:
    """What the steps of one run took, in their order: wall and CPU seconds, requests to DynamoDB, and whose they were."""

    wall: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)
    requests: list[int] = field(default_factory=list)
    nodes: list[str] = field(default_factory=list)

    def requests_of_effects(self) -> int:
        """Without those of the run's first step, which begins at no node."""
        return sum(count for count, node_id in zip(self.requests, self.nodes, strict=True) if node_id)


class _ByHand(Connection):
    """The emulator's store and bucket, with chains that only remember what was started."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.by_hand = MemoryChains()

    def chains(self) -> Any:
        return self.by_hand


class Workshop:
    def __init__(self, endpoint_url: str) -> None:
        self.requests: Counter[str] = Counter()
        self._begun: Run | None = None
        session = botocore.session.Session()
        session.register("before-send.dynamodb", self._count)
        self._settings = settings = Settings(
            workflows_table=table_name("workflows"),
            runs_table=table_name("runs"),
            visits_table=table_name("visits"),
            events_table=table_name("events"),
            tokens_table=table_name("tokens"),
            data_bucket=BUCKET,
            state_machine_arn="none",
            callback_queue_url="none",
        )
        for service, create in (("dynamodb", create_tables), ("s3", create_bucket)):
            create(session.create_client(service, endpoint_url=endpoint_url, **_ACCOUNT))
        connection = _ByHand(settings, endpoint_url, botocore_session=session, **_ACCOUNT)
        self._chains = connection.by_hand
        self.engine = build_engine(settings, connection, specs=specs)
        self._definitions = Definitions(self.engine.workflows, specs, self.engine.ports.clock)

    def streams(self) -> LiveStreams:
        """The streams of the API, for readers of one event loop."""
        reading = EventReading(
            runs=self.engine.store,
            workflows=self.engine.workflows,
            log=self.engine.events,
            outputs=Outputs(self.engine.store, self.engine.memory),
            clock=self.engine.ports.clock,
            kept=EVENTS_KEPT,
            most=self._settings.events_max_per_run,
        )
        return LiveStreams(reading, CONTRACT_PACE)

    def save(self, definition: dict[str, Any]) -> Workflow:
        self._definitions.create(definition)
        return self.engine.runs.workflow(definition["name"])

    def begin(self, workflow: Workflow) -> str:
        """A run, created and not started: `drive` starts it, which is the first of its steps; gives its id."""
        self._begun = self.engine.runs.create(workflow, NewRun({"x": 1}, "en"))
        return self._begun.run_id

    def drive(self, until: str | None = None) -> Steps:
        """Does every step of the run that was begun, one after the other; stops before the one of the node `until`."""
        steps = Steps()
        with self._timed(steps, ""):
            self._start()
        while self._chains.running:
            chain, raw = next(iter(self._chains.running.items()))
            step = Step.from_json(raw)
            if step.node_id == until:
                break
            with self._timed(steps, step.node_id):
                following = self._do(chain, step)
            self._went_on(chain, following)
        return steps

    @contextmanager
    def _timed(self, steps: Steps, node_id: str) -> Iterator[None]:
        before = self.requests.total()
        cpu, wall = time.process_time(), time.perf_counter()
        yield
        steps.wall.append(time.perf_counter() - wall)
        steps.cpu.append(time.process_time() - cpu)
        steps.requests.append(self.requests.total() - before)
        steps.nodes.append(node_id)

    def _start(self) -> None:
        if self._begun is not None:
            self.engine.starting.start(self._begun)
            self._begun = None

    def drive_side_by_side(self) -> None:
        """Does the steps of all chains that there are side by side, as functions of their own would."""
        self._start()
        with ThreadPoolExecutor(32) as pool:
            while self._chains.running:
                waiting = list(self._chains.running.items())
                ends = pool.map(lambda entry: self._do(entry[0], Step.from_json(entry[1])), waiting)
                for (chain, _), following in zip(waiting, ends, strict=True):
                    self._went_on(chain, following)

    def succeeded(self, run_id: str) -> bool:
        return self.engine.runs.get(run_id).status == "SUCCESS"

    def _do(self, chain: str, step: Step) -> Step:
        following = self.engine.advance.step(step, chain, lambda: _LAMBDA_SECONDS)
        return replace(following, kind=following.then, then="") if following.kind == "wait" else following

    def _went_on(self, chain: str, following: Step) -> None:
        if following.kind == END:
            del self._chains.running[chain]
        else:
            self._chains.running[chain] = following.to_json()

    def _count(self, request: Any, **_: Any) -> None:
        target = request.headers["X-Amz-Target"]
        self.requests[(target.decode() if isinstance(target, bytes) else target).partition(".")[2]] += 1


@contextmanager
def open_workshop(data_dir: Path) -> Iterator[Workshop]:
    """Over an emulator of its own, with nothing in it; it ends with the block."""
    with Emulator(Project.here(), data_dir) as emulator:
        yield Workshop(emulator.endpoint_url)
