"""The local stack: the emulator with the template deployed to it."""

from collections.abc import Callable
from pathlib import Path
from typing import Self

from stepweave.texts import Text
from stepweave_local.build import build
from stepweave_local.deploy import CREDENTIALS, Outputs, deploy
from stepweave_local.emulator import Emulator
from stepweave_local.project import Project

TABLES = {
    "WORKFLOWS_TABLE": "WorkflowsTable",
    "RUNS_TABLE": "RunsTable",
    "VISITS_TABLE": "VisitsTable",
    "EVENTS_TABLE": "EventsTable",
    "TOKENS_TABLE": "TokensTable",
    "API_KEYS_TABLE": "ApiKeysTable",
    "CHATS_TABLE": "ChatsTable",
    "DATA_BUCKET": "DataBucket",
    "STATE_MACHINE_ARN": "StateMachineArn",
    "CALLBACK_QUEUE_URL": "CallbackQueueUrl",
}
"""Setting of the engine → output of the stack."""


class LocalStack:
    """`with LocalStack(Path(".stepweave")) as stack:` everything runs, deployed, until the block ends; state is kept.

    `tell` hears what is being done, for people who wait. Raises `LocalStackError`.
    """

    def __init__(
        self,
        data_dir: Path,
        *,
        project: Project | None = None,
        port: int | None = None,
        tell: Callable[[Text], None] = lambda _: None,
    ) -> None:
        self._project = project or Project.here()
        self._data = data_dir
        self._tell = tell
        self._emulator = Emulator(self._project, data_dir, port)
        self.outputs: Outputs = {}

    @property
    def endpoint_url(self) -> str:
        """Of every AWS service."""
        return self._emulator.endpoint_url

    @property
    def api_url(self) -> str:
        """Of the API through the emulator's gateway: buffered, as on AWS."""
        return f"{self.endpoint_url}/_aws/execute-api/{self.outputs['ApiId']}/$default"

    def environment(self) -> dict[str, str]:
        """The environment with which engine code in this process, or another one, works on this stack."""
        return {
            **CREDENTIALS,
            "AWS_ENDPOINT_URL": self.endpoint_url,
            **{setting: self.outputs[output] for setting, output in TABLES.items()},
        }

    def check(self) -> None:
        """Raises `LocalStackError` when the emulator has died."""
        self._emulator.check()

    def start(self) -> None:
        self._tell(Text("正在启动本地模拟器 …", "Starting the emulator …"))
        self._emulator.start()
        try:
            self._tell(Text("正在构建 …", "Building …"))
            made = build(self._project, self._data / "sam-build.log")
            self._tell(Text("正在部署 template.yaml …", "Deploying template.yaml …"))
            self.outputs, _ = deploy(self._project, self.endpoint_url, made, self._data / "sam-deploy.log")
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        self._emulator.stop()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
