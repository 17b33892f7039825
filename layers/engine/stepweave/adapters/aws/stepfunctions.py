"""`Chains` on Step Functions."""

import json
from typing import TYPE_CHECKING, Any

from botocore.exceptions import BotoCoreError, ClientError

from stepweave.errors import Unavailable

if TYPE_CHECKING:
    from mypy_boto3_stepfunctions import SFNClient

_NOTHING_WAITS = {"TaskDoesNotExist", "TaskTimedOut", "InvalidToken"}


class StepFunctionsChains:
    def __init__(self, client: "SFNClient", state_machine_arn: str) -> None:
        self._client = client
        self._machine = state_machine_arn

    def start(self, name: str, step: dict[str, Any]) -> None:
        try:
            self._client.start_execution(stateMachineArn=self._machine, name=name, input=json.dumps(step))
        except ClientError as error:
            if error.response["Error"]["Code"] != "ExecutionAlreadyExists":
                raise Unavailable(f"the chain {name} could not be started: {error}") from error
        except BotoCoreError as error:
            raise Unavailable(f"the chain {name} could not be started: {error}") from error

    def is_running(self, name: str) -> bool | None:
        try:
            return self._client.describe_execution(executionArn=self._arn(name))["status"] == "RUNNING"
        except ClientError as error:
            if error.response["Error"]["Code"] == "ExecutionDoesNotExist":
                return None
            raise Unavailable(f"the chain {name} could not be looked up: {error}") from error
        except BotoCoreError as error:
            raise Unavailable(f"the chain {name} could not be looked up: {error}") from error

    def wake(self, token: str, step: dict[str, Any]) -> bool:
        try:
            self._client.send_task_success(taskToken=token, output=json.dumps(step))
        except ClientError as error:
            if error.response["Error"]["Code"] in _NOTHING_WAITS:
                return False
            raise Unavailable(f"a waiting chain could not be woken: {error.response['Error']['Code']}") from error
        except BotoCoreError as error:
            raise Unavailable("a waiting chain could not be woken: Step Functions did not answer") from error
        return True

    def stop(self, name: str) -> None:
        try:
            self._client.stop_execution(executionArn=self._arn(name))
        except ClientError as error:
            if error.response["Error"]["Code"] != "ExecutionDoesNotExist":
                raise Unavailable(f"the chain {name} could not be stopped: {error}") from error

    def _arn(self, name: str) -> str:
        return self._machine.replace(":stateMachine:", ":execution:") + f":{name}"
