"""The first admin key of a deployed stack, made with a person's AWS credentials (contract §9, `keys create --bootstrap`)."""

from collections.abc import Mapping
from typing import Any

import boto3
from botocore.exceptions import BotoCoreError, ClientError

from stepweave.adapters.aws.dynamodb import DynamoItems
from stepweave.clock import SystemClock
from stepweave.services.keys import ApiKeys
from stepweave.store.keys import Keys
from stepweave.texts import Text
from stepweave_local.project import LocalStackError

TABLE_OUTPUT = "ApiKeysTable"


def create_admin_key(stack: str, name: str) -> Mapping[str, Any]:
    """The new key as the API would show it, with its secret. Raises `LocalStackError`."""
    try:
        stacks = boto3.client("cloudformation").describe_stacks(StackName=stack)["Stacks"]
        outputs = {each["OutputKey"]: each["OutputValue"] for each in stacks[0].get("Outputs", [])}
        if TABLE_OUTPUT not in outputs:
            raise LocalStackError(
                Text(
                    f"栈 {stack} 不是 stepweave 的栈（没有输出 {TABLE_OUTPUT}）：请用 --stack 指定。",
                    f"{stack} is not a stack of stepweave (it has no output {TABLE_OUTPUT}): name the right one with --stack.",
                )
            )
        items = DynamoItems(boto3.client("dynamodb"), {"apiKeys": outputs[TABLE_OUTPUT]})
        made = ApiKeys(Keys(items), SystemClock()).create(name, ["admin"], None)
    except (BotoCoreError, ClientError) as error:
        raise LocalStackError(
            Text(
                f"无法访问 AWS 上的栈 {stack}：{error}。请检查 AWS 凭证、区域和栈名。",
                f"The stack {stack} could not be reached: {error}. Check the AWS credentials, the region and the name.",
            )
        ) from error
    return {
        "keyId": made.key.key_id,
        "name": made.key.name,
        "scopes": list(made.key.scopes),
        "workflows": None,
        "key": made.secret,
        "callbackSecret": made.callback_secret,
    }
